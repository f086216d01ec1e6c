"""Decision stumps for many weightings of the same rows, from columns sorted once.

Growing a stump costs scikit-learn's tree one sort of every column; boosting asks for the same
sorts in every round. Here they are done once, and a round costs one pass over the sorted rows.
"""

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


class SortedColumns:
    """Rows sorted by each column, ready to be split for any weights."""

    def __init__(self, X: Array, codes: IntArray, n_classes: int) -> None:
        self.n_classes = n_classes
        self.codes = codes
        self.orders = [np.argsort(column, kind="stable") for column in X.T]
        self.values = [column[order] for column, order in zip(X.T, self.orders, strict=True)]
        self.cuts = [np.flatnonzero(np.diff(values) > SAME_VALUE) for values in self.values]

    def best_stump(self, weight: FloatArray, learner: DecisionTreeClassifier) -> Any:
        """Return the learner fitted as the split of lowest Gini impurity; None if there is none."""
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
                ends, sides = values[cuts[at] : cuts[at] + 2], [left[:, at], right[:, at]]
                best, found = merit[at], (column, ends, np.maximum(sides, 0.0))
        return None if found is None else _stump(learner, len(self.values), *found)


def _purity(sides: FloatArray) -> FloatArray:
    """Return Σ_c w_c² / Σ_c w_c of each candidate, 0 where there is no weight."""
    total = sides.sum(axis=0)
    squares = np.einsum("cs,cs->s", sides, sides)
    return np.divide(squares, total, out=np.zeros_like(total), where=total > 0)


def _stump(learner: Any, n_features: int, column: int, ends: FloatArray, sides: FloatArray) -> Any:
    """Return the fitted scikit-learn tree of a split.

    ``ends``: The values on both sides of the cut; ``sides`` (2, n_classes): weights of the classes.
    """
    n_classes = sides.shape[1]
    X = np.zeros((n_classes, n_features), dtype=np.float32)
    X[:, column] = ends[1]
    X[0, column] = ends[0]
    learner.fit(X, np.arange(n_classes), check_input=False)
    nodes = np.array([sides[0] + sides[1], *sides])
    masses = np.maximum(nodes.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    learner.tree_.value[:, 0, :] = nodes / masses
    learner.tree_.impurity[:] = 1 - np.sum((nodes / masses) ** 2, axis=1)
    learner.tree_.weighted_n_node_samples[:] = masses[:, 0]
    return learner
