"""What all boosting estimators share, and what those of a loss share."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from foldwise._sklearn import n_samples
from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.boost.early_stopping import Model, SetApart, inner_splits, stop_early
from foldwise.checks import (
    as_counts,
    check_lengths,
    check_number,
    check_two_classes,
    check_whole,
    check_word,
    checked_groups,
    without_weightless,
)
from foldwise.engine import progress
from foldwise.errors import Plain, invalid_data, invalid_parameter, listing
from foldwise.learners.one_learner import (
    LearnerInput,
    WeightedRows,
    check_features,
    check_targets,
    input_for,
    learners_tags,
)
from foldwise.learners.prepare import take_rows
from foldwise.learners.watched import Part
from foldwise.losses import Loss
from foldwise.losses.classes import class_loss
from foldwise.losses.loss import check_loss
from foldwise.losses.numbers import regression_loss

# Boosts rows while it watches others, for so many rounds, and says which it has reached.
Boost = Callable[[WeightedRows, Any, int, Callable[[int], None]], Model]


@dataclass(eq=False, repr=False)
class Booster(BaseEstimator):
    """Rounds, early stopping and the walk of ``fit``; a subclass boosts in ``_boost``."""

    _: KW_ONLY
    early_stopping: bool = False
    validation: Any = 0.1
    n_iter_no_change: int = 10
    refit: str | None = "scaled"
    random_state: Any = None
    verbose: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Boost.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training features; NaN is missing for Newton boosted trees, and wherever all learners
            take it so.
        y : array-like of shape (n_samples,)
            Training targets; of a classifier, training classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows. Those of weight zero are left out before anything else. Whole
            numbers count rows; the unit of others means nothing.
        groups : array-like of shape (n_samples,), optional
            Rows of one group stay together when rows are set apart.

        Returns
        -------
        Self
            The fitted estimator.
        """
        self._fit(X, y, sample_weight, groups)
        return self

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, watched: Sequence[Part] = ()
    ) -> None:
        """Boost; if there are ``watched`` rows, until the loss stops falling on each part."""
        owner = type(self).__name__
        self._check_parameters(sample_weight is not None)
        X, y, given, groups, kept = without_weightless(owner, X, y, sample_weight, groups)
        table = self._table(X, reset=True)
        y = self._numbers(table, y)
        if checked_groups(owner, groups, len(y)) is not None:
            groups = np.ravel(groups)  # a splitter of the user's may know them by name
        of = {"classes": isinstance(self, ClassifierMixin), "groups": groups, "kept": kept}
        apart = partial(inner_splits, owner, self.validation, y, **of)
        weight = np.ones(len(y)) if given is None else as_counts(given)
        rows = WeightedRows(table, y, weight, given is not None)
        self._boost(rows, [self._watched(*part) for part in watched] or apart)

    def _watched(self, X: Any, y: Any, weight: Any) -> WeightedRows:
        """Return rows to watch; classes that boosting did not meet cannot be."""
        if isinstance(self, ClassifierMixin):
            met = np.flatnonzero(np.isin(y, self.classes_))
            X, y = take_rows(X, met), self._codes(y[met])
            weight = None if weight is None else weight[met]
        given = weight is not None
        return WeightedRows(self._table(X), y, weight if given else np.ones(len(y)), given)

    def _learners(self) -> list[Any]:
        """Return the learners that the rounds are made of; none if they are LightGBM's trees."""
        return []

    def _check_parameters(self, weighted: bool) -> None:
        owner = type(self).__name__
        check_whole(owner, "n_estimators", self.n_estimators, 1, try_=100)
        check_number(owner, "learning_rate", self.learning_rate, above=0, try_=0.1)
        check_whole(owner, "n_iter_no_change", self.n_iter_no_change, 1)
        if self.refit is not None:
            check_word(owner, "refit", self.refit, ["scaled", "same"])
        elif self.early_stopping and not isinstance(self.validation, float):
            must = "be 'scaled' or 'same' unless validation is a share"
            got = Plain(f"None with validation={self.validation!r}")
            raise invalid_parameter(owner, "refit", must=must, got=got, fix="Use refit='scaled'.")

    def _table(self, X: Any, *, reset: bool = False) -> LearnerInput:
        learners = self._learners()
        return input_for(check_features(self, X, learners, reset=reset), learners)

    def _numbers(self, table: LearnerInput, y: Any) -> Array:
        """Return the targets; of a classifier, the codes of its classes."""
        if not isinstance(self, ClassifierMixin):
            return check_targets(self, table, y, classes=False)
        labels = check_targets(self, table, y, classes=True)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        check_two_classes(type(self).__name__, self.classes_)
        return codes

    def _codes(self, y: Any) -> IntArray:
        """Return the positions of some labels in ``classes_``."""
        labels = np.asarray(y)
        unseen = np.setdiff1d(labels, self.classes_)
        if len(unseen):
            got = listing(unseen.tolist())
            must, fix = "hold classes seen in fit", "Leave such rows out."
            raise invalid_data(type(self).__name__, "y", must=must, got=got, fix=fix)
        return np.searchsorted(self.classes_, labels)

    def _run(
        self, boost: Boost[Model], rows: WeightedRows, apart: SetApart, split_seed: int
    ) -> Model:
        """Return the boosted model, its rounds found on rows set apart if asked for."""
        owner, n_samples = type(self).__name__, len(rows)
        with progress(owner, self.n_estimators, self.verbose, "rounds") as told:

            def run(inside: IntArray, outside: IntArray | None, rounds: int) -> Model:
                part = rows if len(inside) == n_samples else self._part(rows, inside)
                watch = None if outside is None else rows.part(outside)
                return boost(part, watch, rounds, told.reach)

            if isinstance(apart, list):
                return boost(rows, apart, self.n_estimators, told.reach)
            if not self.early_stopping:
                return run(np.arange(n_samples), None, self.n_estimators)
            return stop_early(run, apart(seed=split_seed), n_samples, self.n_estimators, self.refit)

    def _part(self, rows: WeightedRows, inside: IntArray) -> WeightedRows:
        return rows.part(inside)

    def __sklearn_tags__(self) -> Tags:
        return learners_tags(super().__sklearn_tags__(), self._learners())


@dataclass(eq=False, repr=False)
class LossBooster(Booster):
    """A booster of a raw prediction F under a loss.

    A subclass says which (``_loss``) and sets ``model_`` in ``_boost_loss``.
    """

    _: KW_ONLY
    n_estimators: int = 100
    learning_rate: float = 0.1
    subsample: float = 1.0
    max_features: float = 1.0

    def _check_parameters(self, weighted: bool) -> None:
        super()._check_parameters(weighted)
        for name in ["subsample", "max_features"]:
            share = getattr(self, name)
            check_number(type(self).__name__, name, share, above=0, most=1, try_=1.0)

    def _boost(self, rows: WeightedRows, apart: SetApart) -> None:
        owner, loss, y = type(self).__name__, self._loss(), rows.y.astype(float)
        loss.check_targets(owner, y)
        start = np.asarray(loss.constant(y, rows.weight), dtype=float)
        start = np.tile(start, (len(y),) + (1,) * start.ndim)
        check_loss(owner, loss, y, start)
        rng = check_random_state(self.random_state)
        seed, split_seed = (int(number) for number in rng.randint(2**31 - 1, size=2))
        self.loss_ = loss.adapted(y, start, rows.weight)
        self._boost_loss(loss, replace(rows, y=y), apart, seed, split_seed)

    def _raw(self, X: Any) -> FloatArray:
        check_is_fitted(self, "model_")
        return self.model_.raw(self._table(X))

    def _staged_raw(self, X: Any) -> Iterator[FloatArray]:
        check_is_fitted(self, "model_")
        return self.model_.staged_raw(self._table(X))

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
        check_lengths(type(self).__name__, n_samples(X), y=y)
        if isinstance(self, ClassifierMixin):
            y = self._codes(y)
        y = np.asarray(y, dtype=float)
        return np.array([self.loss_.value(y, raw).mean() for raw in staged])


@dataclass(eq=False, repr=False)
class BoostedRegressor(RegressorMixin, LossBooster):
    """Numbers from the raw prediction of a booster."""

    _: KW_ONLY
    quantile: float = 0.9
    power: float = 1.5

    def _check_parameters(self, weighted: bool) -> None:
        owner = type(self).__name__
        super()._check_parameters(weighted)
        check_number(owner, "quantile", self.quantile, above=0, below=1, try_=0.9)
        check_number(owner, "power", self.power, least=1, below=2, try_=1.5)
        self._loss()

    def _loss(self) -> Loss:
        return regression_loss(type(self).__name__, self.loss, self.quantile, self.power)

    def predict(self, X: Any) -> FloatArray:
        """Return the predictions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.
        """
        raw = self._raw(X)
        return self.loss_.inverse_link(raw)

    def staged_predict(self, X: Any) -> Iterator[FloatArray]:
        """Yield :meth:`predict` after each round."""
        return (self.loss_.inverse_link(raw) for raw in self._staged_raw(X))


class BoostedClassifier(ClassifierMixin, LossBooster):
    """Classes and their probabilities from the raw prediction of a booster."""

    def _loss(self) -> Loss:
        return class_loss(type(self).__name__, self.loss, len(self.classes_))

    def decision_function(self, X: Any) -> FloatArray:
        """Return the raw prediction F.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            F.
        """
        raw = self._raw(X)
        return raw[:, 1] - raw[:, 0] if raw.shape[1:] == (2,) else raw

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        return self._probabilities(self._raw(X))

    def predict(self, X: Any) -> Array:
        """Return the likeliest class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """Yield :meth:`predict_proba` after each round."""
        return (self._probabilities(raw) for raw in self._staged_raw(X))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield :meth:`predict` after each round."""
        return (self.classes_[p.argmax(axis=1)] for p in self.staged_predict_proba(X))

    def _probabilities(self, raw: FloatArray) -> FloatArray:
        answer = self.loss_.inverse_link(raw)
        return answer if answer.ndim == 2 else np.column_stack([1 - answer, answer])
