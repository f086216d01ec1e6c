"""What the estimators of this room share: parameters, reading the data, predicting, naming."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from foldwise.arrays import Array, BoolArray, FloatArray
from foldwise.checks import (
    as_counts,
    check_number,
    check_two_classes,
    check_whole,
    checked_groups,
    without_weightless,
)
from foldwise.errors import Plain, invalid_data, invalid_parameter
from foldwise.folds import own_splits
from foldwise.folds.lattice import users_splits
from foldwise.paths.linear import Scored
from foldwise.subset.columns import Choice, choose_from
from foldwise.subset.moments import ScaledGram, Split, SubsetRows
from foldwise.subset.search import Searcher, largest_size


class Given(NamedTuple):
    """What a fit was given, without the rows of weight zero."""

    rows: SubsetRows
    groups: Any
    kept: BoolArray | None  # which rows these are of all that were given; None for all


@dataclass(eq=False, repr=False)
class LinearModel(Scored):
    """Linear predictions from ``coef_`` and ``intercept_``, and the room's parameters."""

    _: KW_ONLY
    max_size: int | None = None
    forced: Iterable[Any] | None = None
    time_limit: float | None = 600.0
    verbose: int = 0
    _instead: ClassVar[str]  # what to do where a search of all subsets would take too long

    def _checked(self, X: Any) -> Any:
        """Return rows to predict, dense or sparse."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False, accept_sparse="csr")

    def _linear(self, X: Any) -> FloatArray:
        return np.asarray(self._checked(X) @ self.coef_) + self.intercept_

    def _read(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> Given:
        """Return the rows that weigh something as dense arrays of float64."""
        owner = type(self).__name__
        X, y, weights, groups, kept = without_weightless(owner, X, y, sample_weight, groups)
        X, y = self._checked_rows(X, y)
        weights = np.ones(len(y)) if weights is None else as_counts(weights)
        return Given(SubsetRows(dense(X), y, weights), groups, kept)

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
        return self._linear(X)

    def _checked_rows(self, X: Any, y: Any) -> tuple[Any, FloatArray]:
        if _needs_nothing(X, y):
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            return X, y
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True, ensure_min_samples=2
        )
        return X, y.astype(np.float64)


class LinearClassifier(ClassifierMixin, LinearModel):
    """A classifier from the ``_probabilities`` (n_rows, n_classes) of its classes."""

    classes_: Array
    _several_classes: ClassVar[bool]  # whether there may be more than two

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._several_classes
        return tags

    def predict(self, X: Any) -> Array:
        """Predict the most probable class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted classes.
        """
        best = self._probabilities(X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Any) -> FloatArray:
        """Predict the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        return self._probabilities(X)

    def _checked_rows(self, X: Any, y: Any) -> tuple[Any, FloatArray]:
        """Return X, and y as the numbers of its classes."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        check_two_classes(type(self).__name__, self.classes_)
        if len(self.classes_) > 2 and not self._several_classes:
            owner, got = type(self).__name__, Plain(f"{len(self.classes_)} classes")
            said = "Only binary classification is supported. The type of the target is"
            fix = f"{said} {type_of_target(y)}."
            raise invalid_data(owner, "y", must="have two classes", got=got, fix=fix)
        return X, codes.astype(np.float64)


def _needs_nothing(X: Any, y: Any) -> bool:
    """Tell whether checks would find nothing to change: they take as long as a small search."""
    if not all(type(given) is np.ndarray and given.dtype == np.float64 for given in (X, y)):
        return False
    fits = X.ndim == 2 and y.shape == (len(X),) and len(X) > 1 and X.shape[1] > 0
    return fits and bool(np.isfinite(X).all() and np.isfinite(y).all())


def dense(X: Any) -> FloatArray:
    """Return X as an array: searches over subsets need few columns, so it fits."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def splits_of(owner: str, cv: Any, given: Given, *, classifier: bool = False) -> list[Split]:
    """Return the splits that ``cv`` makes of the rows that weigh something."""
    rows, groups = given.rows, checked_groups(owner, given.groups, len(given.rows.y))
    if cv is None or isinstance(cv, Integral):
        classes = rows.y.astype(np.intp) if classifier else None
        return own_splits(cv, len(rows.y), classes, groups, 0, 0, 0, owner)
    asked = (rows.X, rows.y, given.groups)
    pairs = users_splits(owner, cv, asked, given.kept, groups)
    # Own splitters may give masks, ours positions: both choose among the numbers of the rows.
    place = np.arange(len(rows.y))
    splits = [(place[train], place[test]) for train, test in pairs]
    if len(splits) < 2:
        raise invalid_parameter(owner, "cv", must="make at least 2 splits", got=cv, fix="Try 5.")
    if not all(len(part) for split in splits for part in split):
        must = "train and test every split on rows of positive weight"
        raise invalid_parameter(owner, "cv", must=must, got=cv, fix="Leave out splits without any.")
    return splits
