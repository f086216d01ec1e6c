"""What the two unattended stacks share."""

import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import (
    GroupShuffleSplit,
    ShuffleSplit,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from foldwise.auto.budget import HELD_OUT, TRIAL_SHARE, Plan, plan_for, trial_seconds
from foldwise.auto.encodings import encoded
from foldwise.auto.facts import Facts, facts_of
from foldwise.auto.metric_names import scorer_of
from foldwise.auto.portfolio import Member, Settings, portfolio
from foldwise.auto.presets import PRESETS, Preset
from foldwise.auto.tables import Kinds, column_kinds
from foldwise.auto.tables.frames import as_frame
from foldwise.auto.timeline import order_in_time
from foldwise.errors import did_you_mean, invalid_parameter
from foldwise.learners import TrainingData
from foldwise.stack.running import MOST_SEEDS
from foldwise.stack.inputs import checked_groups, checked_lengths, checked_weights

READ_FROM_STACK = (
    "score_", "score_se_", "fold_scores_", "leaderboard_", "failures_", "n_fits_", "stacker_",
    "unjudged_folds_",
)  # fmt: skip


@dataclass(frozen=True)
class _Rows:
    """The checked rows of a fit, in the order they are dealt."""

    frame: pd.DataFrame
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    groups: Any
    order: NDArray[np.intp] | None


class BaseAutoStack(BaseEstimator):
    """Finds column kinds, builds a portfolio of learners, fits the honest stack on top."""

    stack_: Any

    def __init__(
        self,
        preset: str = "balanced",
        *,
        time_budget: float | None = None,
        metric: Any = None,
        interpretable: bool = False,
        time_column: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.preset = preset
        self.time_budget = time_budget
        self.metric = metric
        self.interpretable = interpretable
        self.time_column = time_column
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @abstractmethod
    def _read_target(self, y: Any) -> tuple[NDArray[Any], int | None]:
        """Return targets as the stack takes them, and the number of classes."""

    @abstractmethod
    def _new_stack(self, **parameters: Any) -> Any:
        """Return the stack on top, unfitted."""

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
        start = time.perf_counter()
        preset = self._check_parameters()
        rows, n_classes = self._check_rows(X, y, sample_weight, groups)
        self.kinds_ = column_kinds(rows.frame)
        facts = facts_of(self.kinds_, rows.y, n_classes=n_classes, weighted=rows.weight is not None)
        seed = int(check_random_state(self.random_state).randint(MOST_SEEDS))
        members = portfolio(facts, preset.tier, interpretable=self.interpretable)
        learners = self._learners(members, Settings(facts, preset.size), self.kinds_)
        plan = self._plan(members, learners, rows, facts, preset, start, seed)
        stack = self._new_stack(
            estimators=[(name, learners[name]) for name in plan.names],
            cv=self._cv(plan.folds, facts, rows, seed),
            scoring=scorer_of(self.metric, owner=self._owner, n_classes=n_classes),
            n_repeats=preset.n_repeats if plan.folds > 1 and self.time_column is None else 1,
            n_jobs=self.n_jobs,
            random_state=seed,
            verbose=self.verbose,
            **self._readable(),
        )
        self.stack_ = stack.fit(rows.frame, rows.y, rows.weight, rows.groups)
        return self._settle(plan, rows)

    def _check_parameters(self) -> Preset:
        owner = self._owner
        if self.preset not in PRESETS:
            raise invalid_parameter(
                owner,
                "preset",
                must=f"be one of {', '.join(map(repr, PRESETS))}",
                got=self.preset,
                fix=did_you_mean(self.preset, PRESETS),
            )
        budget = self.time_budget
        if budget is not None and (
            not isinstance(budget, int | float | np.number) or not 0 < budget < np.inf
        ):
            raise invalid_parameter(
                owner,
                "time_budget",
                must="be a positive number of seconds or None",
                got=budget,
                fix="Try 60.",
            )
        return PRESETS[self.preset]

    def _check_rows(
        self, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> tuple[_Rows, int | None]:
        owner = self._owner
        frame = as_frame(X, owner)
        validate_data(self, X, skip_check_array=True)
        if y is None:
            raise ValueError(
                f"{owner}: requires y to be passed, but the target y is None. Give the target."
            )
        n_rows = len(frame)
        checked_lengths(owner, n_rows, y=y)
        weight = checked_weights(owner, sample_weight, n_rows)
        checked_groups(owner, groups, n_rows)
        target, n_classes = self._read_target(y)
        groups = None if groups is None else np.asarray(groups)
        if self.time_column is None:
            return _Rows(frame, target, weight, groups, None), n_classes
        order = order_in_time(owner, frame, self.time_column)
        return _Rows(
            frame.iloc[order],
            target[order],
            None if weight is None else weight[order],
            None if groups is None else groups[order],
            order,
        ), n_classes

    def _learners(
        self, members: tuple[Member, ...], settings: Settings, kinds: Kinds
    ) -> dict[str, Any]:
        regression = settings.facts.regression
        return {
            member.name: encoded(
                member.build(settings), member.encoding, kinds, regression=regression
            )
            for member in members
        }

    def _plan(
        self,
        members: tuple[Member, ...],
        learners: dict[str, Any],
        rows: _Rows,
        facts: Facts,
        preset: Preset,
        start: float,
        seed: int,
    ) -> Plan:
        names = tuple(learners)
        if self.time_budget is None:
            return Plan(names, preset.folds[0], {})
        data = TrainingData(rows.frame, self._codes(rows.y), rows.weight, facts.n_classes)
        seconds = trial_seconds(
            learners,
            dict.fromkeys(names, "predict" if facts.regression else "predict_proba"),
            {member.name: member.power for member in members},
            data,
            limit=TRIAL_SHARE * self.time_budget,
            seed=seed,
        )
        left = max(self.time_budget - (time.perf_counter() - start), 0.0)
        return plan_for(
            names,
            seconds,
            budget=left / preset.n_repeats,
            workers=effective_n_jobs(self.n_jobs),
            folds=preset.folds,
        )

    def _codes(self, y: NDArray[Any]) -> NDArray[Any]:
        return y

    def _cv(self, folds: int, facts: Facts, rows: _Rows, seed: int) -> Any:
        if self.time_column is not None:
            return TimeSeriesSplit(max(min(folds, 5), 2))
        if folds > 1:
            return folds
        if rows.groups is not None:
            return GroupShuffleSplit(1, test_size=HELD_OUT, random_state=seed)
        kind = ShuffleSplit if facts.regression else StratifiedShuffleSplit
        return kind(1, test_size=HELD_OUT, random_state=seed)

    def _readable(self) -> dict[str, Any]:
        if not self.interpretable:
            return {}
        # One model of all rows, not a mean of several, is what a person can read.
        return {"final_estimator": "best", "predict_with": "refit"}

    def _settle(self, plan: Plan, rows: _Rows) -> Self:
        for name in READ_FROM_STACK:
            setattr(self, name, getattr(self.stack_, name))
        oof = self.stack_.oof_
        if rows.order is not None:
            oof = oof.iloc[np.argsort(rows.order)]
        self.oof_ = oof
        self.members_ = list(plan.names)
        self.skipped_ = dict(plan.skipped)
        return self

    def _new_rows(self, X: Any) -> pd.DataFrame:
        check_is_fitted(self, "stack_")
        frame = as_frame(X, self._owner)
        validate_data(self, X, skip_check_array=True, reset=False)
        return frame

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = False
        return tags
