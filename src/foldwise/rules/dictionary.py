"""The dictionary of a rule ensemble: rules, and which rows they select; linear terms."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from hashlib import blake2b
from operator import and_
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from foldwise.arrays import FloatArray
from foldwise.isle.data import CodedTable, TreeData
from foldwise.isle.grow import Growth, fitted_ensemble, grow_trees
from foldwise.isle.linear_terms import LinearTerms, linear_terms
from foldwise.rules.rule import Condition, Members, Rule
from foldwise.rules.trees import Cuts, TreeSplit, lightgbm_trees, read_splits, rules_of

# Up to this many numbers (512 MB) the matrix is dense, above it is sparse.
DENSE_NUMBERS = 2**26

Bits = NDArray[np.uint8]


def coverage(rules: Sequence[Rule], table: CodedTable) -> Bits:
    """Return which rows each rule selects.

    Each distinct condition is evaluated once, O(n_rows); a rule is an AND of packed bits.
    """
    packed: dict[Condition, Bits] = {}
    by_column = sorted({c for rule in rules for c in rule.conditions}, key=lambda c: c.feature)
    feature, column = -1, np.empty(0)
    for condition in by_column:
        if condition.feature != feature:
            feature, column = condition.feature, table.column(condition.feature)
        packed[condition] = np.packbits(condition.holds(column))
    out = np.empty((len(rules), -(-table.n_rows // 8)), dtype=np.uint8)
    for row, rule in zip(out, rules, strict=True):
        row[:] = reduce(and_, (packed[condition] for condition in rule.conditions))
    return out


def unpacked(bits: Bits, n_rows: int) -> NDArray[np.uint8]:
    """Return packed bits as a matrix of 0 and 1, shape (n_rules, n_rows)."""
    return np.unpackbits(bits, axis=1, count=n_rows)


def supports(bits: Bits, weight: FloatArray, block: int = 256) -> FloatArray:
    """Return the weighted share of rows each rule selects. Shapes: ``bits`` (n_rules, n_bytes)."""
    sums = [
        unpacked(bits[first : first + block], len(weight)) @ weight
        for first in range(0, len(bits), block)
    ]
    return np.concatenate([*sums, np.empty(0)]) / weight.sum()


def distinct(bits: Bits, n_rows: int, lengths: Iterable[int]) -> list[int]:
    """Return the positions of rules that say something new.

    Of rules that select the same rows, or exactly the other rows, the shortest is kept, the
    first of equally short ones. Rules that select all rows or none are dropped.

    Rules are compared by 128-bit digests of their bits, in O(n_rules · n_rows / 8).

    Shapes: ``bits`` (n_rules, n_bytes).
    """
    everything = np.packbits(np.ones(n_rows, dtype=bool))
    best: dict[bytes, tuple[int, int]] = {}
    for position, (row, length) in enumerate(zip(bits, lengths, strict=True)):
        # The first row decides which of a rule and its complement stands for both.
        canonical = row ^ everything if row[0] & 0x80 else row
        if not canonical.any():
            continue
        key = blake2b(canonical.tobytes(), digest_size=16).digest()
        best[key] = min(best.get(key, (length, position)), (length, position))
    return sorted(position for _, position in best.values())


@dataclass(frozen=True)
class TermDictionary:
    """Rules and linear terms to choose from."""

    rules: tuple[Rule, ...]  # no two select the same rows, or exactly each other's complement
    supports: FloatArray  # weighted share of the training rows each rule selects
    linear: LinearTerms  # follow the rules in the matrix

    def __len__(self) -> int:
        return len(self.rules) + len(self.linear)

    def matrix(self, table: CodedTable, bits: Bits | None = None) -> Any:
        """Return the value of every term for every row."""
        bits = coverage(self.rules, table) if bits is None else bits
        terms = self.linear.matrix(table)
        if table.n_rows * len(self) > DENSE_NUMBERS:
            return sparse_matrix(bits, terms)
        return np.hstack([unpacked(bits, table.n_rows).T, terms])


def sparse_matrix(bits: Bits, terms: FloatArray) -> Any:
    """Return rules and linear terms side by side as a CSR matrix.

    Shapes: ``bits`` (n_rules, n_bytes), ``terms`` (n_rows, n_linear).
    """
    n_rows, n_linear = terms.shape
    rows = [np.flatnonzero(unpacked(row[None], n_rows)[0]).astype(np.int32) for row in bits]
    rows += [np.arange(n_rows, dtype=np.int32)] * n_linear
    starts = np.concatenate([[0], np.cumsum([len(found) for found in rows])])
    values = np.ones(starts[-1])
    values[starts[len(bits)] :] = terms.T.ravel()
    indices = np.concatenate([*rows, np.empty(0, np.int32)])
    return sparse.csc_matrix((values, indices, starts), shape=(n_rows, len(rows))).tocsr()


def grow_dictionary(
    owner: str, data: TreeData, growth: Growth, tail: float | None, ensemble: Any = None
) -> tuple[TermDictionary, Bits]:
    """Return the rules of trees grown on some rows, and the linear terms of their columns."""
    table = data.table
    trees: list[TreeSplit | None] = []
    if ensemble is not None:
        model = fitted_ensemble(owner, ensemble, data)
        trees = read_splits(owner, model, Cuts(table))
    elif growth.leaves and table.can_be_split():
        trees = lightgbm_trees(grow_trees(data, growth), Cuts(table))
    return term_dictionary(data, tail, trees)


def term_dictionary(
    data: TreeData, tail: float | None, trees: Iterable[TreeSplit | None] = ()
) -> tuple[TermDictionary, Bits]:
    """Return the rules of trees, those of single levels, the linear terms; and the rules' bits."""
    table, weight = data.table, data.weight
    terms = linear_terms(table, weight, tail or 0.0)
    if tail is None:
        terms = terms[np.empty(0, dtype=np.intp)]
    number = np.isnan(terms.level)
    levels = zip(terms.features[~number].tolist(), terms.level[~number].tolist(), strict=True)
    single = [Rule((Members(feature, frozenset({int(code)})),)) for feature, code in levels]
    rules = list(dict.fromkeys([*single, *rules_of(trees)]))
    bits = coverage(rules, table)
    kept = distinct(bits, table.n_rows, map(len, rules))
    chosen = tuple(rules[k] for k in kept)
    lines = terms[np.flatnonzero(number)]
    return TermDictionary(chosen, supports(bits[kept], weight), lines), bits[kept]
