"""Which rows each rule selects, one bit a row, and which rules say the same thing twice."""

from collections.abc import Iterable, Sequence
from functools import reduce
from hashlib import blake2b
from operator import and_

import numpy as np
from numpy.typing import NDArray

from foldwise.arrays import FloatArray
from foldwise.isle.table import CodedTable
from foldwise.rules.conditions import Condition
from foldwise.rules.rule import Rule

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
    """Return the weighted share of rows each rule selects.

    Shapes: ``bits`` (n_rules, n_bytes).
    """
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

    Examples
    --------
    >>> masks = np.array([[1, 0, 0], [0, 1, 1], [1, 1, 1], [0, 1, 0]], dtype=bool)
    >>> distinct(np.packbits(masks, axis=1), 3, [2, 1, 1, 1])
    [1, 3]
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
