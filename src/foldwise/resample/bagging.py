"""What the bagging regressor and classifier share."""

from typing import Any, Self

import numpy as np
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.checks import check_number, check_whole, check_word, checked_groups, checked_weights
from foldwise.engine import progress
from foldwise.errors import NoScoreWarning, Plain, invalid_parameter, unsupported, warn
from foldwise.learners.one_learner import (
    LearnerInput,
    check_features,
    check_targets,
    input_for,
    learners_tags,
    require_weights,
)
from foldwise.resample.bag import (
    BagPlan,
    accuracy_with_error,
    fit_members,
    mean_answer,
    out_of_bag,
    r2_with_error,
)
from foldwise.resample.draws import ROW_SCHEMES, TARGET_SCHEMES, Draws
from foldwise.resample.variance import (
    BaggingVariance,
    VarianceCurve,
    infinitesimal_jackknife,
    subsample_factor,
)

POINTS_AT_ONCE = 5_000


class Bagging(BaseEstimator):
    """Draws, fits, and asks the learners.

    A subclass has a ``_default_learner``, a source of ``_new_targets``, and a ``_tally`` of what
    a member answers.
    """

    _schemes: tuple[str, ...] = ROW_SCHEMES

    def _prototype(self) -> Any:
        return self._default_learner() if self.estimator is None else self.estimator

    def _learner(self) -> Any:
        learner = clone(self._prototype())
        if self.split_features is not None:
            learner.set_params(max_features=self.split_features)
        return learner

    def _check_parameters(self, groups: Any) -> None:
        owner = type(self).__name__
        check_whole(owner, "n_estimators", self.n_estimators, 1, try_=100)
        check_word(owner, "sampling", self.sampling, self._schemes)
        check_number(owner, "max_features", self.max_features, above=0, most=1, try_=1.0)
        if isinstance(self.max_samples, float):
            check_number(owner, "max_samples", self.max_samples, above=0, most=1, try_=1.0)
        else:
            check_whole(owner, "max_samples", self.max_samples, 1, try_=100)
        learner = self._prototype()
        if self.split_features is not None and "max_features" not in learner.get_params():
            raise unsupported(
                owner,
                "estimator",
                must="be a tree with max_features to draw features at each split",
                got=Plain(type(learner).__name__),
                fix="Use max_features to draw them for each learner.",
            )
        if self.sampling == "bayesian":
            require_weights(owner, learner, "for sampling='bayesian'", "Use sampling='bootstrap'.")
        if self.sampling in TARGET_SCHEMES and (groups is not None or self.oob_score):
            raise invalid_parameter(
                owner,
                "sampling",
                must="draw rows for groups and for the out-of-bag score",
                got=self.sampling,
                fix="Use sampling='bootstrap'.",
            )
        if self.sampling == "bayesian" and self.oob_score:
            raise invalid_parameter(
                owner,
                "oob_score",
                must="be False for sampling='bayesian', which leaves no row out",
                got=True,
                fix="Use sampling='bootstrap'.",
            )

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the learners.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training features.
        y : array-like of shape (n_samples,)
            Training targets; of a classifier, training classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        groups : array-like of shape (n_samples,), optional
            Rows of one group are drawn together.

        Returns
        -------
        Self
            The fitted estimator.
        """
        owner = type(self).__name__
        self._check_parameters(groups)
        learner = self._learner()
        X = check_features(self, X, [learner], reset=True)
        y = check_targets(self, X, y, classes=isinstance(self, ClassifierMixin))
        if isinstance(self, ClassifierMixin):
            self.classes_, y = np.unique(y, return_inverse=True)
        weight = checked_weights(owner, sample_weight, len(y))
        table = input_for(X, [learner])
        rng = check_random_state(self.random_state)
        *seeds, last = (int(seed) for seed in rng.randint(2**31 - 1, size=self.n_estimators + 1))
        self.seeds_, targets = seeds, None
        if self.sampling in TARGET_SCHEMES:
            generator = learner if self.generator is None else self.generator
            targets = self._new_targets(generator, input_for(X, [generator]), y, weight, last)
        self.draws_ = self._draws(len(y), weight, groups)
        passed = None if self.draws_.probability is not None else weight
        if passed is not None:
            require_weights(
                owner,
                learner,
                f"when weights are given with sampling={self.sampling!r}",
                "Use sampling='bootstrap', which draws by weight.",
            )
        n_columns = max(1, int(self.max_features * self.n_features_in_))
        plan = BagPlan(learner, table, y, passed, self.draws_, n_columns, targets)
        with progress(owner, self.n_estimators, self.verbose) as told:
            self.members_ = fit_members(plan, self.seeds_, self.n_jobs, told)
        if self.oob_score:
            self._score_out_of_bag(table, y, weight)
        return self

    def _draws(self, n_samples: int, weight: FloatArray | None, groups: Any) -> Draws:
        group = checked_groups(type(self).__name__, groups, n_samples)
        n_units = n_samples if group is None else int(group.max()) + 1
        share = isinstance(self.max_samples, float)
        size = round(self.max_samples * n_units) if share else int(self.max_samples)
        if self.sampling == "subsample":
            size = min(size, n_units)
        by_weight = weight is not None and group is None and self.sampling == "bootstrap"
        probability = weight / weight.sum() if by_weight and weight is not None else None
        return Draws(self.sampling, n_units, max(1, size), group, probability)

    def _score_out_of_bag(self, table: LearnerInput, y: Array, weight: FloatArray | None) -> None:
        classes = isinstance(self, ClassifierMixin)
        width = len(self.classes_) if classes else 1
        said = out_of_bag(self.members_, self.seeds_, self.draws_, table, self._tally, width)
        weight = np.ones(len(said)) if weight is None else weight
        seen = np.flatnonzero(~np.isnan(said[:, 0]) & (weight > 0))
        if not len(seen):
            warn(
                f"{type(self).__name__}: every learner had every row, so oob_score_ is NaN. "
                "Use more learners or a smaller max_samples.",
                NoScoreWarning,
            )
        group = None if self.draws_.group is None else self.draws_.group[seen]
        if classes:
            self.oob_decision_function_ = said
            score = accuracy_with_error(y[seen], said[seen], weight[seen], group)
        else:
            self.oob_prediction_ = said[:, 0]
            score = r2_with_error(y[seen], said[seen, 0], weight[seen], group)
        self.oob_score_, self.oob_score_se_ = score

    @property
    def estimators_(self) -> list[Any]:
        """The fitted learners."""
        check_is_fitted(self)
        return [member.learner for member in self.members_]

    @property
    def estimators_features_(self) -> list[IntArray]:
        """The columns each learner reads."""
        check_is_fitted(self)
        every = np.arange(self.n_features_in_)
        return [every if m.columns is None else m.columns for m in self.members_]

    def _table(self, X: Any) -> LearnerInput:
        check_is_fitted(self)
        learner = self._learner()
        return input_for(check_features(self, X, [learner], reset=False), [learner])

    def _mean(self, X: Any) -> FloatArray:
        table = self._table(X)
        return mean_answer(self.members_, table, self._tally, self.n_jobs)

    def variance(self, X: Any) -> BaggingVariance:
        """Return how much a learner's prediction varies, between and within training sets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points to predict.

        Returns
        -------
        BaggingVariance
            ρσ² by the bias-corrected infinitesimal jackknife, (1−ρ)σ² from the learners; for
            each point, and each class of several.
        """
        table = self._table(X)
        if self.sampling not in ROW_SCHEMES or self._takes_all_rows():
            raise unsupported(
                type(self).__name__,
                "sampling",
                must="leave rows out or weight them to tell ρ",
                got=self.sampling,
                fix="Use sampling='bootstrap'.",
            )
        counts = np.array([self.draws_.units(seed) for seed in self.seeds_])
        factor = 1.0
        if self.sampling == "subsample":
            factor = subsample_factor(self.draws_.n_units, self.draws_.size)
        between, within = [], []
        for start in range(0, len(table), POINTS_AT_ONCE):
            stop = min(start + POINTS_AT_ONCE, len(table))
            answers = self._answers(table.rows(np.arange(start, stop)))
            flat = answers.reshape(len(answers), -1)
            between.append(infinitesimal_jackknife(counts, flat, factor))
            within.append(flat.var(axis=0, ddof=1 if len(flat) > 1 else 0))
        return BaggingVariance(np.concatenate(between), np.concatenate(within), len(self.members_))

    def _takes_all_rows(self) -> bool:
        return self.sampling == "subsample" and self.draws_.size >= self.draws_.n_units

    def _answers(self, table: LearnerInput) -> FloatArray:
        """Return what each learner says, shape (n_learners, n_samples[, n_classes])."""
        return np.array([self._tally(member, table) for member in self.members_])

    def variance_curve(self, X: Any, n_learners: Any = None) -> VarianceCurve:
        """Return ρσ² + (1−ρ)σ²/n, the variance of the bagged prediction against n.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points to average it over.
        n_learners : array-like of int, optional
            Where to evaluate it; 1 to ten times the learners there are by default.

        Returns
        -------
        VarianceCurve
            The curve; its ``enough()`` says when more learners no longer help.
        """
        at = None if n_learners is None else np.asarray(n_learners, dtype=int)
        return self.variance(X).curve(at)

    def _interval(self, X: Any, level: float) -> FloatArray:
        check_number(type(self).__name__, "level", level, above=0, below=1, try_=0.9)
        table = self._table(X)
        if self.sampling in TARGET_SCHEMES:
            spread = self._answers(table).std(axis=0, ddof=1)
        else:
            spread = np.sqrt(self.variance(X).of_mean)
        centre = mean_answer(self.members_, table, self._tally, self.n_jobs)
        reach = norm.ppf((1 + level) / 2) * spread.reshape(centre.shape)
        return np.stack([centre - reach, centre + reach], axis=-1)

    def __sklearn_tags__(self) -> Tags:
        return learners_tags(super().__sklearn_tags__(), [self._prototype()])
