"""What the two unattended stacks share."""

import time
from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from foldwise.arrays import Array, IntArray
from foldwise.auto.bounded import bounded, plan_in_time, tuned_rounds
from foldwise.auto.in_time import TimedFit, fit_in_time
from foldwise.auto.inputs import AutoInputs, splitter_for, times_of
from foldwise.auto.metric_names import scorer_of
from foldwise.auto.plan import (
    RING_ROWS,
    SHORT_SECONDS,
    SHORT_TRIAL_SHARE,
    TRIAL_SHARE,
    FitPlan,
    is_small,
    planned,
)
from foldwise.auto.portfolio import Contender, portfolio
from foldwise.auto.portfolio.encodings import built, table_encoder
from foldwise.auto.portfolio.member import TableProfile, profile_of
from foldwise.auto.presets import PRESETS, Preset
from foldwise.auto.tables.frames import as_frame, factorised, named_alike
from foldwise.auto.tables.kinds import Kinds, kinds_of
from foldwise.auto.tables.problem import TableProblem
from foldwise.checks import (
    check_lengths,
    check_number,
    check_word,
    checked_groups,
    without_weightless,
)
from foldwise.engine import RunOptions, RunSummary, check_options, fingerprint
from foldwise.errors import Plain, invalid_data, listing, warn
from foldwise.learners import TrainingData
from foldwise.stack.estimator import MOST_SEEDS
from foldwise.stack.parameters import LIVE, without_live
from foldwise.stack.results.notebook import fitted_html

READ_FROM_STACK = (
    "score_", "score_se_", "score_interval_", "score_uncorrected_", "score_correction_",
    "score_note_", "p_stack_better_", "fold_scores_", "leaderboard_", "failures_", "n_fits_",
    "stacker_", "used_", "unjudged_folds_", "run_", "partial_",
)  # fmt: skip
LEAST_SECONDS = 0.5
CONSTANT = "constant"


@dataclass(eq=False, repr=False)
class AutoParameters(BaseEstimator):
    """The parameters of an unattended stack."""

    preset: str = "balanced"
    _: KW_ONLY
    time_budget: float | None = None
    metric: Any = None
    interpretable: bool = False
    time_column: Any = None
    predict_seconds: float | None = None
    kinds: Mapping[str, str] | None = None
    n_jobs: int | None = None
    random_state: Any = None
    run_dir: Any = None
    executor: Any = None
    callback: Any = None
    on_interrupt: str = "raise"
    verbose: int = 0


class BaseAutoStack(AutoParameters):
    """Finds column kinds, builds a portfolio of learners, fits the honest stack on top."""

    stack_: Any
    run_: RunSummary
    # Which of the rows given the stack was fitted on, in its order; None for all, as they are.
    _places: IntArray | None = None
    _stackers: tuple[str, ...]
    _stack_class: type

    @abstractmethod
    def _read_target(self, y: Any) -> tuple[Array, Array, int | None]:
        """Return targets or class codes, the target as given, and the number of classes."""

    @property
    def _owner(self) -> str:
        return type(self).__name__

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Find what the columns are, fit the portfolio and the stack, and judge it.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            pandas, polars or NumPy; numbers, categories, text, booleans, dates, missing cells.
        y : array-like of shape (n_samples,)
            The target.
        sample_weight : array-like of shape (n_samples,) or None
            Weights of the rows; learners that cannot take weights are left out.
        groups : array-like of shape (n_samples,) or None
            Rows of a group stay in one fold.

        Returns
        -------
        Self
            The fitted stack.
        """
        return self._fit_or_restore(X, y, sample_weight, groups)

    def _fit_or_restore(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, kinds: Kinds | None = None
    ) -> Self:
        """Fit; where that fails, leave the estimator as it was."""
        before, start = dict(vars(self)), time.perf_counter()
        try:
            return self._fit(X, y, sample_weight, groups, kinds, start)
        except BaseException:
            self.__dict__ = before
            raise

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, kinds: Kinds | None, start: float
    ) -> Self:
        preset = self._checked_preset()
        rows = self._check_rows(X, y, sample_weight, groups)
        data = rows.data
        scoring = scorer_of(self.metric, owner=self._owner, n_classes=data.n_classes)
        # Sorted in time, rows may look different: a column that counts them does so no more.
        self.kinds_ = self._checked_kinds(data.X, kinds if rows.places is None else None)
        data = replace(data, X=factorised(data.X))
        profile = self._profile(data, preset)
        seed = self._seed(data)
        members = portfolio(profile, preset.tier, interpretable=self.interpretable)
        members = tuple(member for member in members if member.least_seconds <= profile.seconds)
        learners, broken = built(members, profile, self.kinds_)
        plan = self._plan(members, learners, data, preset, start, seed, profile)
        learners |= {name: bounded(learners[name], *b) for name, b in plan.bounds.items()}
        rows = self._drawn(replace(rows, data=data), plan, seed)
        data = rows.data
        profile = self._profile(data, preset)
        ordered = self.time_column is not None
        # What time is left over goes to more deals of the folds.
        repeats = preset.n_repeats if self.time_budget is None else "auto"
        repeats = repeats if plan.folds > 1 and not ordered else 1

        def fit(members: dict[str, Any], *, thorough: bool, first: Any, **changed: Any) -> Any:
            on_top = self._on_top(replace(preset, thorough=thorough and preset.thorough))
            settings = {**self._running(), **on_top, **changed}
            settings["n_repeats"] = repeats if thorough else 1
            settings["tune"] = tuned_rounds(members) or None
            encoder = self._encoder(profile) if thorough and preset.thorough else None
            if first is not None:
                first._encoder = encoder
                return first._grown(list(members.items()), **settings)
            cv = splitter_for(plan.folds, profile, rows, ordered=ordered, seed=seed)
            dealt = {"cv": cv, "scoring": scoring, "random_state": seed, "partners": plan.partners}
            stack = self._stack_class(estimators=list(members.items()), **dealt, **settings)
            stack._called, stack._expected, stack._encoder = self._owner, plan.expected, encoder
            return stack.fit(data.X, rows.given, data.sample_weight, data.groups)

        if self.time_budget is None:
            known = {name: learners[name] for name in plan.names}
            self.stack_ = fit(known, thorough=True, first=None)
            return self._settle(plan, rows, broken)
        learners[CONSTANT] = DummyRegressor() if profile.regression else DummyClassifier()
        self.stack_, reason = fit_in_time(self._timed(fit, learners, start), plan, CONSTANT)
        return self._settle(plan, rows, broken, reason)

    def _encoder(self, profile: TableProfile) -> Any:
        """Return what makes numbers of rows for boosting that goes on from the stacker, if it may.

        Not forward in time, where few rows are judged, nor where a person is to read the model.
        """
        if self.time_column is not None or self.interpretable:
            return None
        return table_encoder("codes", self.kinds_, regression=profile.regression)

    def _drawn(self, rows: AutoInputs, plan: FitPlan, seed: int) -> AutoInputs:
        """Return the rows that there is time for."""
        if plan.n_rows is not None:
            warn(
                f"{self._owner}: time_budget={self.time_budget:g} suffices for {plan.n_rows:,} of "
                f"{len(rows.given):,} rows, drawn at random. Fit again with more time for all."
            )
            rows = rows.drawn(plan.n_rows, seed)
        self._places = rows.places
        self.drawn_ = None if plan.n_rows is None else np.sort(np.asarray(rows.places))
        return rows

    def _profile(self, data: TrainingData, preset: Preset) -> TableProfile:
        weighted, seconds = data.sample_weight is not None, self.time_budget or np.inf
        known: dict[str, Any] = {"n_classes": data.n_classes, "size": preset.size}
        return profile_of(self.kinds_, data.y, weighted=weighted, seconds=seconds, **known)

    def _checked_preset(self) -> Preset:
        """Return the preset, after checking what needs no data."""
        check_word(self._owner, "preset", self.preset, PRESETS)
        check_options(self._owner, RunOptions(time_budget=self.time_budget, **self._running()))
        if self.predict_seconds is not None:
            check_number(self._owner, "predict_seconds", self.predict_seconds, above=0, try_=0.1)
        return PRESETS[self.preset]

    def _timed(self, fit: Any, learners: dict[str, Any], start: float) -> TimedFit:
        return TimedFit(
            self._owner,
            fit,
            learners,
            left=partial(self._seconds_left, start),
            there=self._elsewhere(),
            keep=self.on_interrupt == "keep",
        )

    def _running(self) -> dict[str, Any]:
        names = ("n_jobs", "run_dir", "executor", "callback", "on_interrupt", "verbose")
        return {name: getattr(self, name) for name in names}

    def _check_rows(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> AutoInputs:
        owner = self._owner
        frame = as_frame(X, owner)
        self.read_as_ = dict(frame.attrs.get("read_as", {}))
        validate_data(self, X, skip_check_array=True)
        if y is None:
            raise ValueError(
                f"{owner}: requires y to be passed, but the target y is None. Give the target."
            )
        check_lengths(owner, len(frame), y=y)
        index = frame.index
        frame, y, weight, groups, kept = without_weightless(owner, frame, y, sample_weight, groups)
        n_rows = len(frame)
        if n_rows < 2:
            raise invalid_data(
                owner,
                "X",
                must="have at least two rows",
                got=Plain(f"n_samples = {n_rows}"),
                fix="Give more rows.",
            )
        codes = checked_groups(owner, groups, n_rows)
        target, given, n_classes = self._read_target(y)
        data = TrainingData(frame, target, weight, n_classes, codes)
        rows = AutoInputs(data, given, index, None if kept is None else np.flatnonzero(kept))
        if self.time_column is None:
            return rows
        return rows.sorted(owner, times_of(owner, frame, self.time_column))

    def _checked_kinds(self, frame: pd.DataFrame, known: Kinds | None) -> Kinds:
        kinds = known or kinds_of(frame, self.kinds, self._owner)
        if len(kinds.dropped) == len(kinds):
            raise invalid_data(
                self._owner,
                "X",
                must="hold a column that is neither constant nor an identifier",
                got=listing(kinds.dropped),
                fix="Give columns that say something about the target.",
            )
        return kinds

    def _seed(self, data: TrainingData) -> int:
        """Return a seed; a run that is to be continued draws it from the data."""
        if self.run_dir is not None and self.random_state is None:
            return int(fingerprint(data)[:8], 16) % MOST_SEEDS
        return int(check_random_state(self.random_state).randint(MOST_SEEDS))

    def _plan(
        self,
        members: tuple[Contender, ...],
        learners: dict[str, Any],
        data: TrainingData,
        preset: Preset,
        start: float,
        seed: int,
        profile: TableProfile,
    ) -> FitPlan:
        """Return what to fit; with a time budget, after a trial of each member."""
        # The log-loss of more classes would be judged too high by means of few models.
        plain = self.time_column is None and (profile.n_classes or 1) <= 2
        ring = plain and profile.n_rows >= RING_ROWS
        if self.time_budget is None:
            return FitPlan(tuple(learners), preset.folds, {}, ring=ring)
        # What takes seconds to load is not tried: it has what time the others leave.
        untried = [m for m in members if m.least_seconds and m.name in learners]
        first, last = ([m.name for m in untried if m.early is early] for early in (True, False))
        tested = {n: own for n, own in learners.items() if n not in (*first, *last)}
        # An executor of the user's own is there already.
        ours = self._elsewhere()["executor"] == "processes"
        small, names = is_small(profile), tuple(tested)
        short = ours and self.time_budget < SHORT_SECONDS
        limit = (SHORT_TRIAL_SHARE if short else TRIAL_SHARE) * self.time_budget
        folds, workers = preset.folds_in_time, 0 if short else effective_n_jobs(self.n_jobs)
        powers = {member.name: member.power for member in members}

        def made() -> FitPlan:
            plan = plan_in_time(
                tested, powers, data,
                trying=limit, left=partial(self._seconds_left, start), workers=workers,
                folds=folds, repeats=preset.n_repeats, seed=seed, small=small,
                modest=is_small(profile, modest=True), ring=ring,
            )  # fmt: skip
            return replace(plan, names=(*first, *plan.names, *last)) if workers else plan

        if self.run_dir is None:
            return made()
        key = fingerprint((data, names, folds, seed, self.time_column, self.time_budget))
        return planned(self.run_dir, key, made)

    def _seconds_left(self, start: float) -> float:
        assert self.time_budget is not None
        return max(self.time_budget - (time.perf_counter() - start), LEAST_SECONDS)

    def _elsewhere(self) -> dict[str, Any]:
        """Return where fits that may be slow take place: where they can be ended or forgotten."""
        if self.executor in (None, "processes"):
            return {"executor": "processes", "n_jobs": effective_n_jobs(self.n_jobs)}
        return {"executor": self.executor, "n_jobs": self.n_jobs}

    def _on_top(self, preset: Preset) -> dict[str, Any]:
        if self.interpretable:
            # One model of all rows, not a mean of several, is what a person can read.
            return {"final_estimator": "best", "predict_with": "refit"}
        top = list(self._stackers) if preset.thorough else self._stackers[0]
        return {"final_estimator": top, "predict_seconds": self.predict_seconds}

    def _settle(
        self, plan: FitPlan, rows: AutoInputs, broken: dict[str, str], reason: str = ""
    ) -> Self:
        for name in READ_FROM_STACK:
            setattr(self, name, getattr(self.stack_, name))
        fitted = [name for name, _ in self.stack_.estimators]
        if reason:
            self.run_, self.partial_ = replace(self.run_, partial=True, reason=reason), True
        self.oof_ = self.stack_.oof_
        if rows.places is not None:
            # As the rows were given: NaN for those of weight zero, none of those not drawn.
            self.oof_ = self.oof_.set_axis(rows.places).reindex(
                np.arange(len(rows.index)) if self.drawn_ is None else self.drawn_
            )
            self.oof_.index = rows.index[self.oof_.index]
        self.members_ = [name for name in fitted if name not in self.failures_]
        unfinished = {n: f"{reason}: not finished" for n in plan.names if n not in fitted}
        self.skipped_ = {**plan.skipped, **unfinished, **broken}
        if self.interpretable:
            weights = self.stack_.stacker_.weights_
            self.model_ = self.stack_.named_estimators_[self.used_[int(weights.argmax())]]
        return self

    def compact(
        self, *, prune: float = 0.1, predict_seconds: float | None = None, X: Any = None
    ) -> Self:
        """Return a new model of the learners that are worth keeping; none is fitted again.

        Parameters
        ----------
        prune : float, default=0.1
            Standard errors of the score that leaving learners out may cost.
        predict_seconds : float or None
            As in the constructor; :meth:`frontier` tells what each second buys.
        X : data frame or array-like, optional
            The training rows, needed only if seconds are limited and the model was pickled or
            loaded since it was fitted.

        Returns
        -------
        Self
            A fitted model with its own honest score that holds only what its predictions need;
            this one is not changed.
        """
        check_is_fitted(self, "stack_")
        new, rows = copy(self), self._training_rows(X)
        new.predict_seconds = predict_seconds
        new.stack_ = self.stack_.compact(prune=prune, predict_seconds=predict_seconds, X=rows)
        for name in READ_FROM_STACK:
            setattr(new, name, getattr(new.stack_, name))
        return new

    def frontier(self, X: Any = None) -> pd.DataFrame:
        """Return what ever smaller stacks lose, and what they save, as the stack's own does.

        Parameters
        ----------
        X : data frame or array-like, optional
            The training rows, needed only if the model was pickled or loaded since.

        Returns
        -------
        DataFrame
            One row a stack; see :meth:`StackingRegressor.frontier`.
        """
        check_is_fitted(self, "stack_")
        return self.stack_.frontier(self._training_rows(X))

    def _training_rows(self, X: Any) -> pd.DataFrame | None:
        if X is None or self._places is None:
            return None if X is None else self._new_rows(X)
        return self._new_rows(X).iloc[self._places]

    def _new_rows(self, X: Any) -> pd.DataFrame:
        check_is_fitted(self, "stack_")
        frame = as_frame(X, self._owner)
        validate_data(self, X, skip_check_array=True, reset=False)
        frame = named_alike(frame, X, self)
        there, here = self.read_as_.get("decimal"), frame.attrs.get("read_as", {}).get("decimal")
        if there and here and there != here:
            must = f"be read with decimal mark {there!r}, as the training table was"
            fix = "Use read_table(path, like=model.read_as_)."
            raise invalid_data(self._owner, "X", must=must, got=here, fix=fix)
        return factorised(frame)

    def _levels(self, by: Any) -> Any:
        """Return what intervals and sets are to hold by itself, labels in the stack's order."""
        if isinstance(by, tuple) and len(by) == 2 and self._places is not None:
            return np.asarray(by[0])[self._places], by[1]
        return by

    def predict(self, X: Any) -> Array:
        """Predict targets, or classes.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions: numbers, or classes.
        """
        rows = self._new_rows(X)
        return np.asarray(self.stack_.predict(rows))

    def __sklearn_clone__(self) -> Self:
        bare = copy(self)
        for name in LIVE:
            setattr(bare, name, None)
        new = super(BaseAutoStack, bare).__sklearn_clone__()
        for name in LIVE:
            setattr(new, name, getattr(self, name))
        return new

    def _html_repr(self) -> str:
        return fitted_html(self) + str(super()._html_repr())

    def __getstate__(self) -> dict[str, Any]:
        return without_live(super().__getstate__())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = False
        return tags


def fit_problem(model: BaseAutoStack, problem: TableProblem) -> BaseAutoStack:
    """Fit an unattended stack to a table taken apart before; its kinds are not found again."""
    return model._fit_or_restore(
        problem.X, problem.y, problem.sample_weight, problem.groups, problem.kinds
    )
