"""Decision stumps for many weightings of the same rows, from columns sorted once.

Growing a stump costs scikit-learn's tree one sort of every column; boosting asks for the same
sorts in every round. Here they are done once, and a round costs one pass over the sorted rows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from foldwise.arrays import Array, FloatArray, IntArray

SAME_VALUE = 1e-7  # scikit-learn's trees do not split between values closer than this


def is_plain_stump(learner: Any) -> bool:
    """Return whether the learner is scikit-learn's tree of depth one with nothing else set."""
    if type(learner) is not DecisionTreeClassifier:
        return False
    plain = DecisionTreeClassifier(max_depth=1, random_state=learner.random_state)
    return learner.get_params() == plain.get_params()


@dataclass(frozen=True)
class StumpSplit:
    """A split of rows in two by a column."""

    column: int  # the column
    low: float  # its values on both sides of the cut
    high: float  # its values on both sides of the cut
    left: FloatArray  # weights of the classes on both sides
    right: FloatArray  # weights of the classes on both sides


class SortedColumns:
    """Rows sorted by each column, ready to be split for any weights."""

    def __init__(self, X: Array, codes: IntArray, n_classes: int) -> None:
        self.n_classes = n_classes
        self.codes = codes
        self.orders = [np.argsort(column, kind="stable") for column in X.T]
        self.values = [column[order] for column, order in zip(X.T, self.orders, strict=True)]
        self.cuts = [np.flatnonzero(np.diff(values) > SAME_VALUE) for values in self.values]

    def best_split(self, weight: FloatArray) -> StumpSplit | None:
        """Return the split with the lowest weighted Gini impurity, None if there is none."""
        shares = [np.where(self.codes == k, weight, 0.0) for k in range(self.n_classes)]
        totals = np.array([share.sum() for share in shares])
        best, found = -np.inf, None
        columns = zip(self.orders, self.values, self.cuts, strict=True)
        for column, (order, values, cuts) in enumerate(columns):
            if not len(cuts):
                continue
            left = np.array([np.cumsum(share[order])[cuts] for share in shares])
            right = totals[:, None] - left
            merit = _purity(left) + _purity(right)
            at = int(np.argmax(merit))
            if merit[at] > best:
                low, high = values[cuts[at] : cuts[at] + 2].tolist()
                sides = left[:, at], np.maximum(right[:, at], 0.0)
                best, found = merit[at], StumpSplit(column, low, high, *sides)
        return found


def _purity(sides: FloatArray) -> FloatArray:
    """Return Σ_c w_c² / Σ_c w_c of each candidate, 0 where there is no weight."""
    total = sides.sum(axis=0)
    squares = np.einsum("cs,cs->s", sides, sides)
    return np.divide(squares, total, out=np.zeros_like(total), where=total > 0)


def stump_of(split: StumpSplit, learner: DecisionTreeClassifier, n_features: int) -> Any:
    """Return the fitted scikit-learn tree of a split."""
    n_classes = len(split.left)
    X = np.zeros((n_classes, n_features), dtype=np.float32)
    X[:, split.column] = split.high
    X[0, split.column] = split.low
    learner.fit(X, np.arange(n_classes), check_input=False)
    sides = np.array([split.left + split.right, split.left, split.right])
    masses = np.maximum(sides.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    learner.tree_.value[:, 0, :] = sides / masses
    learner.tree_.impurity[:] = 1 - np.sum((sides / masses) ** 2, axis=1)
    learner.tree_.weighted_n_node_samples[:] = masses[:, 0]
    return learner
