"""What the estimators of this room share: parameters, reading the data, predicting, naming."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import check_cv
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.checks import check_number, check_two_classes, check_whole, checked_weights
from foldwise.errors import FoldsWarning, Plain, invalid_data, invalid_parameter, warn
from foldwise.subset.columns import Choice, choose_from
from foldwise.subset.moments import Split
from foldwise.subset.search import Searcher


class LinearModel(BaseEstimator):
    """Linear predictions from ``coef_`` and ``intercept_``, and the room's parameters."""

    coef_: FloatArray
    intercept_: float
    complete_: bool
    n_features_in_: int
    max_size: int | None
    forced: Iterable[Any] | None
    time_limit: float | None
    verbose: int
    # Estimators without these parameters have no groups, and an intercept in every model.
    column_groups: Iterable[Iterable[Any]] | None = None
    fit_intercept: bool = True
    _instead: ClassVar[str]  # what to do where a search of all subsets would take too long

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _dense(self, X: Any) -> FloatArray:
        """Return checked rows to predict, as an array."""
        check_is_fitted(self)
        return dense(validate_data(self, X, reset=False, accept_sparse="csr"))

    def _linear_predictor(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr")
        return np.asarray(X @ self.coef_) + self.intercept_

    def _names(self) -> Array:
        """Return the names of the columns, or their positions where they have none."""
        return np.asarray(getattr(self, "feature_names_in_", np.arange(self.n_features_in_)))

    def _searcher(self) -> Searcher:
        owner = type(self).__name__
        if self.time_limit not in (None, np.inf):
            check_number(owner, "time_limit", self.time_limit, above=0, fix="None is no limit.")
        return Searcher(owner, self.verbose, self.time_limit, self._instead)

    def _choice(self) -> Choice:
        """Return what there is to choose from, of any size."""
        names = getattr(self, "feature_names_in_", None)
        owner, n_columns, intercept = type(self).__name__, self.n_features_in_, self.fit_intercept
        return choose_from(
            owner, n_columns, names, self.forced, self.column_groups, intercept=intercept
        )

    def _sized(self, choice: Choice, otherwise: int) -> Choice:
        """Return the choice up to the size asked for, or ``otherwise`` where none is."""
        check_whole(type(self).__name__, "max_size", self.max_size, 1, none=True)
        if self.max_size is None:
            return replace(choice, max_size=otherwise)
        return replace(choice, max_size=min(int(self.max_size), choice.max_size))


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
        check_two_classes(type(self).__name__, self.classes_)
        if len(self.classes_) > 2:
            raise invalid_data(
                type(self).__name__,
                "y",
                must="have two classes",
                got=Plain(f"{len(self.classes_)} classes"),
                fix="Only binary classification is supported. The type of the target is "
                f"{type_of_target(y)}.",
            )
        return dense(X), codes.astype(np.float64), read_weights(self, sample_weight, X)


def _needs_nothing(X: Any, y: Any) -> bool:
    """Tell whether checks would find nothing to change: they take as long as a small search."""
    if not all(type(given) is np.ndarray and given.dtype == np.float64 for given in (X, y)):
        return False
    fits = X.ndim == 2 and y.shape == (len(X),) and len(X) > 1 and X.shape[1] > 0
    return fits and bool(np.isfinite(X).all() and np.isfinite(y).all())


def dense(X: Any) -> FloatArray:
    """Return X as an array: searches over subsets need few columns, so it fits."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def read_weights(estimator: LinearModel, sample_weight: Any, X: Any) -> FloatArray:
    """Return the weights of the rows, 1 where none are given."""
    weights = checked_weights(type(estimator).__name__, sample_weight, X.shape[0])
    return np.ones(X.shape[0]) if weights is None else weights


def splits_of(
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
