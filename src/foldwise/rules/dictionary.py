"""The dictionary of a rule ensemble: rules and linear terms, and their values as a matrix."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from foldwise.arrays import Array, FloatArray
from foldwise.isle.ensembles import fitted_ensemble
from foldwise.isle.grow import Growth, grow_trees
from foldwise.isle.table import CodedTable
from foldwise.rules.coverage import Bits, coverage, distinct, supports, unpacked
from foldwise.rules.cuts import Cuts
from foldwise.rules.linear_terms import LinearTerms, linear_terms
from foldwise.rules.rule import Rule
from foldwise.rules.trees import TreeSplit, lightgbm_trees, read_splits, rules_of

DENSE_NUMBERS = 2**26
"""Up to this many numbers (512 MB) the matrix is dense, above it is sparse."""


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
        terms = self.linear.values(table)
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
    table: CodedTable,
    y: Array,
    weight: FloatArray,
    growth: Growth,
    linear_tail: float | None,
    ensemble: Any = None,
) -> tuple[TermDictionary, Bits]:
    """Return the rules of trees grown on a table, and its linear terms."""
    trees: list[TreeSplit | None] = []
    if ensemble is not None:
        model = fitted_ensemble("RuleFit", ensemble, table, y, weight, growth.loss)
        trees = read_splits("RuleFit", model, Cuts(table))
    elif growth.leaves and table.can_be_split():
        trees = lightgbm_trees(grow_trees(table, y, weight, growth), Cuts(table).move)
    rules = list(dict.fromkeys(rules_of(trees)))
    bits = coverage(rules, table)
    kept = distinct(bits, table.n_rows, map(len, rules))
    terms = linear_terms(table, weight, linear_tail or 0.0)
    if linear_tail is None:
        terms = terms[np.empty(0, dtype=np.intp)]
    chosen = tuple(rules[k] for k in kept)
    return TermDictionary(chosen, supports(bits[kept], weight), terms), bits[kept]
