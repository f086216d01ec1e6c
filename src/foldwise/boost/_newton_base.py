"""What the Newton boosting regressor and classifier share."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from foldwise.arrays import FloatArray
from foldwise.boost._newton_fit import table_of


class NewtonBoosting(BaseEstimator):
    """What the regressor and the classifier share."""

    def _raw(self, X: Any) -> FloatArray:
        check_is_fitted(self, "model_")
        return self.model_.raw(table_of(self, X, reset=False), self.n_threads_)

    def _staged_raw(self, X: Any) -> Iterator[FloatArray]:
        check_is_fitted(self, "model_")
        return self.model_.staged_raw(table_of(self, X, reset=False), self.n_threads_)

    def staged_loss(self, X: Any, y: Any) -> FloatArray:
        """Return the mean loss on some rows after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Targets.

        Returns
        -------
        ndarray of shape (n_rounds,)
            Losses.
        """
        staged = self._staged_raw(X)
        y = np.asarray(y)
        if isinstance(self, ClassifierMixin):
            y = np.searchsorted(self.classes_, y)
        y = y.astype(float)
        return np.array([self.loss_.value(y, raw).mean() for raw in staged])

    @property
    def feature_importances_(self) -> FloatArray:
        """Total gain of each column's splits, summing to one."""
        check_is_fitted(self, "model_")
        gains = self.booster_.feature_importance("gain")
        return gains / (gains.sum() or 1.0)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
