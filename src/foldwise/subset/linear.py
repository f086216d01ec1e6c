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

from foldwise.arrays import Array, FloatArray
from foldwise.checks import check_number, check_two_classes, check_whole, checked_weights
from foldwise.errors import FoldsWarning, Plain, invalid_data, invalid_parameter, warn
from foldwise.subset.columns import Choice, choose_from
from foldwise.subset.moments import ScaledGram, Split, WeightedRows
from foldwise.subset.search import Searcher, largest_size


class LinearModel(BaseEstimator):
    """Linear predictions from ``coef_`` and ``intercept_``, and the room's parameters."""

    coef_: FloatArray
    intercept_: float
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

    def _checked(self, X: Any) -> Any:
        """Return rows to predict, dense or sparse."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False, accept_sparse="csr")

    def _linear_predictor(self, X: Any) -> FloatArray:
        return np.asarray(self._checked(X) @ self.coef_) + self.intercept_

    def _weights(self, sample_weight: Any, n_rows: int) -> FloatArray:
        """Return the weights of the rows, 1 where none are given."""
        weights = checked_weights(type(self).__name__, sample_weight, n_rows)
        return np.ones(n_rows) if weights is None else weights

    def _names(self) -> Array:
        """Return the names of the columns, or their positions where they have none."""
        return np.asarray(getattr(self, "feature_names_in_", np.arange(self.n_features_in_)))

    def _searcher(self) -> Searcher:
        owner = type(self).__name__
        if self.time_limit not in (None, np.inf):
            check_number(owner, "time_limit", self.time_limit, above=0, fix="None is no limit.")
        return Searcher(owner, self.verbose, self.time_limit, self._instead)

    def _choice(self, moments: ScaledGram | None = None, at_most: int = 0) -> Choice:
        """Return what to choose from.

        Without ``max_size`` up to all columns, or, given moments, up to a size that has about
        ``at_most`` subsets where the columns are dependent.
        """
        owner, names = type(self).__name__, getattr(self, "feature_names_in_", None)
        columns = self.n_features_in_, names, self.forced, self.column_groups
        choice = choose_from(owner, *columns, intercept=self.fit_intercept)
        check_whole(owner, "max_size", self.max_size, 1, none=True)
        if self.max_size is not None:
            return replace(choice, max_size=min(int(self.max_size), choice.max_size))
        if moments is None:
            return choice
        return replace(choice, max_size=largest_size(moments, choice, at_most))


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

    def _read(self, X: Any, y: Any, sample_weight: Any) -> WeightedRows:
        """Return the rows as dense arrays of float64."""
        if _needs_nothing(X, y):
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            return WeightedRows(X, y, self._weights(sample_weight, len(X)))
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True, ensure_min_samples=2
        )
        weights = self._weights(sample_weight, X.shape[0])
        return WeightedRows(dense(X), y.astype(np.float64), weights)


class BinaryClassifier(ClassifierMixin, LinearModel):
    """A classifier for two classes; ``_probability`` is what it thinks of the second."""

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

    def _read(self, X: Any, y: Any, sample_weight: Any) -> WeightedRows:
        """Return the rows as dense arrays, y as 0 and 1."""
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
        weights = self._weights(sample_weight, X.shape[0])
        return WeightedRows(dense(X), codes.astype(np.float64), weights)


def _needs_nothing(X: Any, y: Any) -> bool:
    """Tell whether checks would find nothing to change: they take as long as a small search."""
    if not all(type(given) is np.ndarray and given.dtype == np.float64 for given in (X, y)):
        return False
    fits = X.ndim == 2 and y.shape == (len(X),) and len(X) > 1 and X.shape[1] > 0
    return fits and bool(np.isfinite(X).all() and np.isfinite(y).all())


def dense(X: Any) -> FloatArray:
    """Return X as an array: searches over subsets need few columns, so it fits."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def splits_of(
    owner: str, cv: Any, rows: WeightedRows, groups: Any, *, classifier: bool = False
) -> list[Split]:
    """Return the splits that ``cv`` makes.

    An int that asks a classifier for more folds than its rarer class has rows gets fewer, and a
    warning.
    """
    if classifier and isinstance(cv, int):
        fewest = max(2, int(np.unique(rows.y, return_counts=True)[1].min()))
        if fewest < cv:
            warn(
                f"{owner}: {fewest} folds instead of {cv}, since the rarer class has too few "
                "rows. Lower cv.",
                FoldsWarning,
            )
            cv = fewest
    splitter = check_cv(cv, rows.y, classifier=classifier)
    splits = list(splitter.split(rows.X, rows.y, groups))
    if len(splits) < 2:
        raise invalid_parameter(owner, "cv", must="make at least 2 splits", got=cv, fix="Try 5.")
    # Own splitters may give masks, ours positions: both choose among the numbers of the rows.
    numbers = np.arange(len(rows.y))
    return [(numbers[train], numbers[test]) for train, test in splits]
