"""What bagging of numbers and of classes share: the draws, the fits, the answers, the variance."""

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.checks import (
    check_jobs,
    check_number,
    check_whole,
    check_word,
    checked_groups,
    without_weightless,
)
from foldwise.engine import progress
from foldwise.errors import NoScoreWarning, Plain, invalid_parameter, unsupported, warn
from foldwise.learners.one_learner import (
    LearnerInput,
    check_features,
    check_targets,
    input_for,
    learners_tags,
    require_task,
    require_weights,
)
from foldwise.resample import bag
from foldwise.resample.draws import (
    ROW_SCHEMES,
    TARGET_SCHEMES,
    Draws,
    NewTargets,
    new_classes,
    new_numbers,
)
from foldwise.resample.variance import (
    BaggingVariance,
    VarianceCurve,
    between_to_within,
    infinitesimal_jackknife,
    subsample_factor,
)

POINTS_AT_ONCE = 5_000
POINTS_KEPT = 200  # training rows that tell how much predictions vary


@dataclass(eq=False, repr=False)
class Bagging(BaseEstimator):
    """Draws, fits, and asks the learners.

    A subclass has a ``_default_learner`` and a ``_tally`` of what a member answers.
    """

    estimator: Any = None
    n_estimators: int = 100
    _: KW_ONLY
    sampling: str = "bootstrap"
    max_samples: float | int = 1.0
    max_features: float | int = 1.0
    split_features: Any = None
    generator: Any = None
    oob_score: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
    _schemes: ClassVar[tuple[str, ...]]
    _default_learner: ClassVar[type]

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
        check_jobs(owner, self.n_jobs)
        check_word(owner, "sampling", self.sampling, self._schemes)
        for name in ["max_samples", "max_features", "split_features"]:
            value = getattr(self, name)
            if name == "split_features" and value in (None, "sqrt", "log2"):
                continue
            if isinstance(value, Integral):
                check_whole(owner, name, value, 1, try_=1)
            else:
                check_number(owner, name, value, above=0, most=1, try_=1.0)
        learner = self._prototype()
        classes = isinstance(self, ClassifierMixin)
        require_task(owner, "estimator", learner, classes=classes)
        if self.generator is not None:
            require_task(owner, "generator", self.generator, classes=classes)
        if self.split_features is not None and "max_features" not in learner.get_params():
            must = "be a tree with max_features to draw features at each split"
            got = Plain(type(learner).__name__)
            fix = "Use max_features to draw them for each learner."
            raise unsupported(owner, "estimator", must=must, got=got, fix=fix)
        if self.sampling == "bayesian":
            require_weights(owner, learner, "for sampling='bayesian'", "Use sampling='bootstrap'.")
        if self.sampling in TARGET_SCHEMES and (groups is not None or self.oob_score):
            must = "draw rows for groups and for the out-of-bag score"
            fix = "Use sampling='bootstrap'."
            raise invalid_parameter(owner, "sampling", must=must, got=self.sampling, fix=fix)
        if self.sampling == "bayesian" and self.oob_score:
            must = "be False for sampling='bayesian', which leaves no row out"
            fix = "Use sampling='bootstrap'."
            raise invalid_parameter(owner, "oob_score", must=must, got=True, fix=fix)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the learners.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training features.
        y : array-like of shape (n_samples,)
            Training targets; of a classifier, training classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows. Those of weight zero are left out before anything else.
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
        X, y, weight, groups, kept = without_weightless(owner, X, y, sample_weight, groups)
        X = check_features(self, X, [learner], reset=True)
        y = check_targets(self, X, y, classes=isinstance(self, ClassifierMixin))
        if isinstance(self, ClassifierMixin):
            self.classes_, y = np.unique(y, return_inverse=True)
        table = input_for(X, [learner])
        rng = check_random_state(self.random_state)
        *self.seeds_, last = rng.randint(2**31 - 1, size=self.n_estimators + 1).tolist()
        self.draws_ = self._draws(len(y), weight, groups)
        passed = None if self.draws_.probability is not None else weight
        if passed is not None:
            why = f"when weights are given with sampling={self.sampling!r}"
            fix = "Use sampling='bootstrap', which draws by weight."
            require_weights(owner, learner, why, fix)
        targets = self._new_targets(X, learner, y, weight, last)
        plan = bag.BagPlan(learner, table, y, passed, self.draws_, self._n_columns(), targets)
        with progress(owner, self.n_estimators, self.verbose) as told:
            self.members_ = bag.fit_members(plan, self.seeds_, self.n_jobs, told)
        # What the learners say at some training rows is kept, not the rows: they are not ours.
        points = np.unique(np.linspace(0, len(y) - 1, POINTS_KEPT).astype(np.intp))
        self.points_ = points, self._answers(table.rows(points))
        if self.oob_score:
            said = self._score_out_of_bag(table, y, weight)
            if kept is not None:
                everywhere = np.full((np.size(sample_weight), *said.shape[1:]), np.nan)
                everywhere[kept] = said
                said = everywhere
            name = "decision_function" if isinstance(self, ClassifierMixin) else "prediction"
            setattr(self, f"oob_{name}_", said)
        return self

    def _n_columns(self) -> int:
        n_features = self.n_features_in_
        if not isinstance(self.max_features, Integral):
            return max(1, int(self.max_features * n_features))
        if self.max_features > n_features:
            owner, got = type(self).__name__, self.max_features
            must = f"be at most the number of columns, {n_features}"
            fix = "Use 1.0 for all of them."
            raise invalid_parameter(owner, "max_features", must=must, got=got, fix=fix)
        return int(self.max_features)

    def _new_targets(
        self, X: Any, learner: Any, y: Array, weight: FloatArray | None, seed: int
    ) -> NewTargets | None:
        if self.sampling not in TARGET_SCHEMES:
            return None
        generator = learner if self.generator is None else self.generator
        table = input_for(X, [generator])
        if isinstance(self, ClassifierMixin):
            return new_classes(generator, table, y, weight, seed)
        return new_numbers(self.sampling, generator, table, y, weight, self.noise, seed)

    def _draws(self, n_samples: int, weight: FloatArray | None, groups: Any) -> Draws:
        group = checked_groups(type(self).__name__, groups, n_samples)
        n_units = n_samples if group is None else int(group.max()) + 1
        number = isinstance(self.max_samples, Integral)
        size = int(self.max_samples) if number else round(self.max_samples * n_units)
        if self.sampling == "subsample":
            size = min(size, n_units)
        by_weight = weight is not None and group is None and self.sampling == "bootstrap"
        probability = weight / weight.sum() if by_weight and weight is not None else None
        return Draws(self.sampling, n_units, max(1, size), group, probability)

    def _score_out_of_bag(
        self, table: LearnerInput, y: Array, weight: FloatArray | None
    ) -> FloatArray:
        """Set the out-of-bag score; return the predictions it is of."""
        classes = isinstance(self, ClassifierMixin)
        width = len(self.classes_) if classes else 1
        said = bag.out_of_bag(self.members_, self.seeds_, self.draws_, table, self._tally, width)
        weight = np.ones(len(said)) if weight is None else weight
        seen = np.flatnonzero(~np.isnan(said[:, 0]))
        if not len(seen):
            warn(
                f"{type(self).__name__}: every learner had every row, so oob_score_ is NaN. "
                "Use more learners or a smaller max_samples.",
                NoScoreWarning,
            )
        group = None if self.draws_.group is None else self.draws_.group[seen]
        said = said if classes else said[:, 0]
        judge = bag.accuracy_with_error if classes else bag.r2_with_error
        score = judge(y[seen], said[seen], weight[seen], group)
        self.oob_score_, self.oob_score_se_ = score
        return said

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

    @property
    def feature_importances_(self) -> FloatArray:
        """The mean of the learners' feature importances; 0 for columns a learner does not read."""
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        for learner, columns in zip(self.estimators_, self.estimators_features_, strict=True):
            total[columns] += learner.feature_importances_
        return total / (total.sum() or 1.0)

    def _table(self, X: Any) -> LearnerInput:
        check_is_fitted(self)
        learner = self._learner()
        return input_for(check_features(self, X, [learner], reset=False), [learner])

    def _mean(self, X: Any) -> FloatArray:
        table = self._table(X)
        return bag.mean_answer(self.members_, table, self._tally, self.n_jobs)

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
        counts, factor = self._counts()
        between, within = [], []
        for start in range(0, len(table), POINTS_AT_ONCE):
            stop = min(start + POINTS_AT_ONCE, len(table))
            answers = self._answers(table.rows(np.arange(start, stop)))
            flat = answers.reshape(len(answers), -1)
            between.append(infinitesimal_jackknife(counts, flat, factor))
            within.append(flat.var(axis=0, ddof=1 if len(flat) > 1 else 0))
        return BaggingVariance(np.concatenate(between), np.concatenate(within), len(self.members_))

    def _counts(self) -> tuple[FloatArray, float]:
        """Return how often each learner has each unit, and the factor of draws of that kind."""
        draws, subsample = self.draws_, self.sampling == "subsample"
        if self.sampling not in ROW_SCHEMES or (subsample and draws.size >= draws.n_units):
            got = self.sampling
            must, fix = "leave rows out or weight them to tell ρ", "Use sampling='bootstrap'."
            raise unsupported(type(self).__name__, "sampling", must=must, got=got, fix=fix)
        counts = np.array([draws.units(seed) for seed in self.seeds_])
        return counts, subsample_factor(draws.n_units, draws.size) if subsample else 1.0

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
        share = 1.0 if self.sampling in TARGET_SCHEMES else self._share_of_mean()
        spread = np.sqrt(share * self._answers(table).var(axis=0, ddof=1))
        centre = bag.mean_answer(self.members_, table, self._tally, self.n_jobs)
        reach = norm.ppf((1 + level) / 2) * spread
        return np.stack([centre - reach, centre + reach], axis=-1)

    def _share_of_mean(self) -> float:
        """Return the variance of the mean of the learners over theirs within the fit."""
        counts, factor = self._counts()
        rows, answers = self.points_
        units = rows if self.draws_.group is None else self.draws_.group[rows]
        answers = answers.reshape(len(answers), len(rows), -1)
        ratio, error = between_to_within(counts, answers, units, factor)
        if np.isnan(ratio):
            must, got = "be large enough to tell how the predictions vary", self.n_estimators
            fix = "Use at least as many learners as rows."
            raise unsupported(type(self).__name__, "n_estimators", must=must, got=got, fix=fix)
        return ratio + error + 1 / len(counts)

    def __sklearn_tags__(self) -> Tags:
        return learners_tags(super().__sklearn_tags__(), [self._prototype()])
