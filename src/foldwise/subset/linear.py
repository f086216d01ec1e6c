"""What the linear estimators of this room share: reading the data, predicting, naming."""

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import check_cv
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.errors import (
    FoldsWarning,
    Plain,
    did_you_mean,
    invalid_data,
    invalid_parameter,
    warn,
)
from foldwise.subset.moments import Split
from foldwise.subset.search import Run


class LinearModel(BaseEstimator):
    """Linear predictions from ``coef_`` and ``intercept_``, and the room's parameters."""

    coef_: FloatArray
    intercept_: float
    n_features_in_: int
    max_size: int | None
    time_limit: float | None
    verbose: int
    _instead: ClassVar[str]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _linear_predictor(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr")
        return np.asarray(X @ self.coef_) + self.intercept_

    def _names(self) -> Array:
        """Return the names of the columns, or their positions where they have none."""
        return np.asarray(getattr(self, "feature_names_in_", np.arange(self.n_features_in_)))

    def _run(self) -> Run:
        if self.time_limit is not None and not self.time_limit > 0:
            raise invalid_parameter(
                type(self).__name__,
                "time_limit",
                must="be a positive number of seconds, or None",
                got=self.time_limit,
                fix="Try 600, the default.",
            )
        return Run(type(self).__name__, self.verbose, self.time_limit, self._instead)

    def _check_word(self, name: str, words: list[str]) -> None:
        value = getattr(self, name)
        if value not in words:
            raise invalid_parameter(
                type(self).__name__,
                name,
                must="be a word it knows",
                got=value,
                fix=did_you_mean(value, words),
            )

    def _checked_max_size(self, n_free: int, otherwise: int) -> int:
        """Return the largest number of columns, forced ones not counted."""
        max_size = self.max_size
        if max_size is None:
            return otherwise
        if not isinstance(max_size, int | np.integer) or max_size < 1:
            raise invalid_parameter(
                type(self).__name__,
                "max_size",
                must="be a whole number of at least 1, or None",
                got=max_size,
                fix="None lets the data decide.",
            )
        return min(int(max_size), n_free)


class LinearRegressor(RegressorMixin, LinearModel):
    """A regressor that predicts linearly."""

    def predict(self, X: Any) -> FloatArray:
        """Predict the target.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.
        """
        return self._linear_predictor(X)

    def _read(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return X, y and the weights as dense arrays of float64."""
        if _needs_nothing(X, y):
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            return X, y, read_weights(self, sample_weight, X)
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True, ensure_min_samples=2
        )
        return dense(X), y.astype(np.float64), read_weights(self, sample_weight, X)


def _needs_nothing(X: Any, y: Any) -> bool:
    """Tell whether checks would find nothing to change: they take as long as a small search."""
    if not all(type(given) is np.ndarray and given.dtype == np.float64 for given in (X, y)):
        return False
    fits = X.ndim == 2 and y.shape == (len(X),) and len(X) > 1 and X.shape[1] > 0
    return fits and bool(np.isfinite(X).all() and np.isfinite(y).all())


def dense(X: Any) -> FloatArray:
    """Return X as an array: searches over subsets need few columns, so it fits."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def read_weights(estimator: Any, sample_weight: Any, X: Any) -> FloatArray:
    """Return the weights of the rows, 1 where none are given."""
    if sample_weight is None:
        return np.ones(X.shape[0])
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    wrong = None
    if weights.shape != (X.shape[0],):
        wrong = f"be one number for each of the {X.shape[0]} rows", Plain(f"shape {weights.shape}")
    elif weights.min() < 0:
        wrong = "not be negative", Plain(f"{weights.min():g}")
    elif not weights.sum() > 0:
        wrong = "not be all zero", Plain("zeros only")
    if wrong is not None:
        must, got = wrong
        owner, fix = type(estimator).__name__, "Leave it out to weigh all rows alike."
        raise invalid_data(owner, "sample_weight", must=must, got=got, fix=fix)
    return np.asarray(weights)


def deal(
    owner: str, cv: Any, X: FloatArray, y: Array, groups: Any, *, classifier: bool = False
) -> list[Split]:
    """Return the splits that ``cv`` makes.

    An int that asks a classifier for more folds than its rarer class has rows gets fewer, and a
    warning.
    """
    if classifier and isinstance(cv, int):
        fewest = max(2, int(np.unique(y, return_counts=True)[1].min()))
        if fewest < cv:
            warn(
                f"{owner}: {fewest} folds instead of {cv}, since the rarer class has too few "
                "rows. Lower cv.",
                FoldsWarning,
            )
            cv = fewest
    splits = list(check_cv(cv, y, classifier=classifier).split(X, y, groups))
    if len(splits) < 2:
        raise invalid_parameter(owner, "cv", must="make at least 2 splits", got=cv, fix="Try 5.")
    return [(as_positions(train), as_positions(test)) for train, test in splits]


def as_positions(rows: Any) -> IntArray:
    """Return rows given as positions or as a mask as positions."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.intp)
