"""Reading targets of two classes, and listing subsets for logistic regression."""

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import validate_data

from foldwise.arrays import Array, BoolArray, FloatArray
from foldwise.errors import Plain, invalid_data
from foldwise.subset.columns import Choice
from foldwise.subset.linear import LinearModel, dense, read_weights
from foldwise.subset.moments import Moments, bordered


class BinaryClassifier(ClassifierMixin, LinearModel):
    """A classifier for two classes that knows the probability of the second."""

    classes_: Array

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def predict(self, X: Any) -> Array:
        """Predict the more probable class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted classes.
        """
        second = self._probability(X) > 0.5
        return self.classes_[second.astype(np.intp)]

    def predict_proba(self, X: Any) -> FloatArray:
        """Predict the probabilities of both classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities, in the order of ``classes_``.
        """
        second = self._probability(X)
        return np.column_stack([1 - second, second])

    def _probability(self, X: Any) -> FloatArray:
        raise NotImplementedError

    def _read(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return X, y as 0 and 1, and the weights, as dense arrays."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        owner = type(self).__name__
        if len(self.classes_) > 2:
            raise invalid_data(
                owner,
                "y",
                must="have two classes",
                got=Plain(f"{len(self.classes_)} classes"),
                fix="Only binary classification is supported. The type of the target is "
                f"{type_of_target(y)}.",
            )
        if len(self.classes_) < 2:
            raise invalid_data(
                owner,
                "y",
                must="have two classes",
                got=Plain(f"one class, {self.classes_.tolist()[0]!r}"),
                fix="Add rows of another class.",
            )
        return dense(X), codes.astype(np.float64), read_weights(self, sample_weight, X)


def scaled_columns(X: FloatArray, weights: FloatArray) -> tuple[FloatArray, Moments]:
    """Return the columns (1, X) centred and scaled, and how to undo it."""
    columns, centre, scale = bordered(X, np.zeros(len(X)), weights, centred=True)
    return columns[:, :-1], Moments(np.empty((0, 0)), centre, scale)


def list_subsets(choice: Choice, max_size: int) -> BoolArray:
    """Return all subsets of units with at most ``max_size`` columns, the smallest first."""
    n_units, widths = len(choice.units), np.array(choice.widths, dtype=np.intp)
    blocks = []
    for size in range(min(max_size, n_units) + 1):
        chosen = np.array(list(combinations(range(n_units), size)), dtype=np.intp)
        block = np.zeros((len(chosen), n_units), dtype=bool)
        np.put_along_axis(block, chosen.reshape(len(chosen), size), True, axis=1)
        blocks.append(block)
    kept = np.concatenate(blocks)
    sizes = kept @ widths
    order = np.argsort(sizes, kind="stable")
    return kept[order[sizes[order] <= max_size]]


def with_forced(choice: Choice, kept: BoolArray, n_columns: int) -> BoolArray:
    """Return which of the columns (1, x_1, ..., x_p) are in each subset of units."""
    intercept = np.full((len(kept), 1), 0 in choice.forced)
    return np.column_stack([intercept, choice.support(kept, n_columns)])
