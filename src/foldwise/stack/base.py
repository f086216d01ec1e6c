"""What the two stacking estimators share."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from foldwise.arrays import Array, FloatArray
from foldwise.checks import check_lengths, checked_groups, checked_weights
from foldwise.engine import Clock
from foldwise.errors import Plain, did_you_mean, invalid_parameter, listing, unsupported, warn
from foldwise.folds import Block
from foldwise.learners import PickColumns, TrainingData
from foldwise.scores.metric import Metric, as_metric
from foldwise.scores.response import Response
from foldwise.stack.again import AgainMixin, with_rows
from foldwise.stack.build import Deal
from foldwise.stack.diagram import diagram
from foldwise.stack.entries import Entry, as_layers, checked_layers
from foldwise.stack.fold_models import FoldModels
from foldwise.stack.inputs import (
    check_columns,
    checked_table,
    passed_columns,
)
from foldwise.stack.leaderboard import columns_of, honest_score, leaderboard, out_of_fold
from foldwise.stack.out_of_fold import OutOfFoldMixin
from foldwise.stack.parameters import NamedLearnersMixin
from foldwise.stack.reader import Problem
from foldwise.stack.recipe import Recipe, build_deals, prefit_deal
from foldwise.stack.running import RunMixin
from foldwise.stack.stackers import Candidate, candidates_from
from foldwise.stack.transforming import LearnersOutMixin

CHOICES = {
    "predict_with": ("auto", "folds", "refit", "pairs"),
    "hold_out": ("auto", "node", "mean"),
    "on_error": ("drop", "raise"),
}


class BaseStacking(LearnersOutMixin, OutOfFoldMixin, AgainMixin, RunMixin, NamedLearnersMixin):
    """Fits learners over a fold lattice and a stacker on top; judges what is deployed."""

    _classifies: bool

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        stack_method: str = "auto",
        passthrough: Any = False,
        predict_with: str = "auto",
        hold_out: str = "auto",
        tune: Any = None,
        scoring: Any = None,
        n_repeats: int = 1,
        n_jobs: int | None = None,
        random_state: Any = None,
        on_error: str = "drop",
        run_dir: Any = None,
        time_budget: float | None = None,
        executor: Any = None,
        callback: Any = None,
        on_interrupt: str = "raise",
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.stack_method = stack_method
        self.passthrough = passthrough
        self.predict_with = predict_with
        self.hold_out = hold_out
        self.tune = tune
        self.scoring = scoring
        self.n_repeats = n_repeats
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.on_error = on_error
        self.run_dir = run_dir
        self.time_budget = time_budget
        self.executor = executor
        self.callback = callback
        self.on_interrupt = on_interrupt
        self.verbose = verbose

    @abstractmethod
    def _read_target(self, y: Any) -> tuple[Array, Array | None]:
        """Return targets and None, or class codes and classes."""

    @property
    def _owner(self) -> str:
        return type(self).__name__

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **fit_params: Any
    ) -> Self:
        """Fit the learners, the stacker, and judge the stack.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or, for regression, (n_samples, n_targets)
            Targets.
        sample_weight : array-like of shape (n_samples,) or None
            Weights; they reach every learner, through Pipelines too, and the stacker.
        groups : array-like of shape (n_samples,) or None
            Rows of a group stay in one fold.
        **fit_params : dict
            Refused: set what a learner needs on the learner.

        Returns
        -------
        Self
            The fitted stack.
        """
        if fit_params:
            raise invalid_parameter(
                self._owner,
                "fit",
                must="be called with X, y, sample_weight and groups only",
                got=listing(fit_params),
                fix="Passing more, as scikit-learn's stack does, is only supported if "
                "enable_metadata_routing=True there; set it on the learner here.",
            )
        before = dict(vars(self))
        try:
            return self._heard(type(self)._fit, X, y, sample_weight, groups)
        except BaseException:
            self.__dict__ = before
            raise

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Self:
        clock = self._clock()
        with threadpool_limits(1, user_api="blas"):
            problem, layers, metric = self._prepare(X, y, sample_weight, groups)
            candidates = self._candidates(metric, problem)
            recipe = self._recipe(self._seed_for(problem), clock)
            if isinstance(self.cv, str) and self.cv == "prefit":
                deals, run = [prefit_deal(recipe, problem, layers, candidates, metric)], None
            else:
                deals, run = build_deals(recipe, problem, layers, candidates, metric)
            self._set_run(run)
            self._index = X.index if isinstance(X, pd.DataFrame) else None
            return self._settle(deals, metric, recipe.seed)

    def _recipe(self, seed: int, clock: Clock) -> Recipe:
        return Recipe(
            owner=self._owner,
            cv=self.cv,
            predict_with=self.predict_with,
            hold_out=self.hold_out,
            tune=self.tune,
            n_repeats=self.n_repeats,
            on_error=self.on_error,
            seed=seed,
            options=self._run_options(),
            clock=clock,
        )

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> tuple[Problem, list[list[Entry]], Metric]:
        """Check everything before anything is fitted."""
        owner = self._owner
        self._check_choices()
        self._run_options()
        X = checked_table(owner, X, fewest=2)
        validate_data(self, X, skip_check_array=True)
        if y is None:
            raise ValueError(
                f"{owner}: requires y to be passed, but the target y is None. Give the target."
            )
        n_rows = X.shape[0]
        check_lengths(owner, n_rows, y=y)
        weight = checked_weights(owner, sample_weight, n_rows)
        codes = unit = checked_groups(owner, groups, n_rows)
        target, labels = self._read_target(y)
        layers = checked_layers(
            owner,
            self.estimators,
            classify=self._classifies,
            stack_method=self.stack_method,
            weighted=weight is not None,
            reserved=self._get_param_names(),
        )
        layers[0] = [self._on_columns(entry, X) for entry in layers[0]]
        n_classes = None if labels is None else len(labels)
        data = TrainingData(X, target, weight, n_classes, codes)
        passed = passed_columns(owner, self.passthrough, X, self._learners())
        problem = Problem(data, labels, passed, unit, (y, groups))
        metric = as_metric(
            self.scoring,
            owner=owner,
            classify=self._classifies,
            has_probabilities=self._gives_probabilities(),
        )
        return problem, layers, metric

    def _on_columns(self, entry: Entry, X: Any) -> Entry:
        if entry.columns is None:
            return entry
        check_columns(self._owner, entry.name, entry.columns, X)
        picked = Pipeline([("columns", PickColumns(entry.columns)), ("learner", entry.learner)])
        return replace(entry, learner=picked)

    def _check_choices(self) -> None:
        for name, known in CHOICES.items():
            value = getattr(self, name)
            if value not in known:
                raise invalid_parameter(
                    self._owner,
                    name,
                    must=f"be one of {', '.join(map(repr, known))}",
                    got=value,
                    fix=did_you_mean(value, known),
                )
        if not isinstance(self.n_repeats, int | np.integer) or self.n_repeats < 1:
            raise invalid_parameter(
                self._owner,
                "n_repeats",
                must="be an int of at least 1",
                got=self.n_repeats,
                fix="Use 1, the default.",
            )

    def _gives_probabilities(self) -> bool:
        """Tell whether every stacker that may be chosen gives probabilities."""
        wanted = self.final_estimator
        items = wanted if isinstance(wanted, list) else [wanted]
        models = [item[0] if isinstance(item, tuple) and item else item for item in items]
        return all(m is None or isinstance(m, str) or hasattr(m, "predict_proba") for m in models)

    def _candidates(self, metric: Metric, problem: Problem) -> tuple[Candidate, ...]:
        return candidates_from(
            self.final_estimator,
            owner=self._owner,
            metric=metric,
            labels=problem.labels,
            weighted=problem.data.sample_weight is not None,
            linear=problem.passes_numbers_only,
            passes=problem.passthrough is not None,
        )

    def _settle(self, deals: list[Deal], metric: Metric, seed: int) -> Self:
        """Set everything that is read after a fit; the training rows are only referred to."""
        problem = deals[0].top.problem
        self._conformity = [self._conformity_of(deal) for deal in deals]
        self.leaderboard_ = leaderboard(deals, metric)
        self.score_, self.score_se_ = honest_score([d.verdict for d in deals], metric)
        self.fold_scores_ = np.concatenate(
            [
                metric.fold_scores(d.verdict.response, d.verdict.target)
                for d in deals
                if d.verdict.response is not None and d.verdict.target is not None
            ]
            or [np.empty(0)]
        )
        self.unjudged_folds_ = deals[0].reading.unjudged
        self._columns = columns_of(deals[0])
        frames = [out_of_fold(deal, self._index, self._columns) for deal in deals]
        self.oof_ = frames[0] if len(frames) == 1 else sum(frames) / len(frames)
        self.n_fits_ = sum(r.table.n_fits.total() for d in deals for r in d.readers)
        self.failures_ = {
            name: reason
            for d in deals
            for r in d.readers
            for name, reason in r.table.failures.items()
        }
        self._metric, self._seed, self._X = metric, seed, problem.data.X
        self.deals_ = [with_rows(deal, None) for deal in deals]
        first = self.deals_[0]
        self.stacker_ = self.final_estimator_ = first.verdict.stacker
        self.stack_method_ = [entry.method for entry in first.top.entries]
        self._name_models()
        return self

    def _name_models(self) -> None:
        by_name = {
            entry.name: FoldModels.of(reader, entry, self.deals_[0].reading.deployed)
            for reader in self.deals_[0].readers
            for entry in reader.entries
        }
        self.estimators_ = list(by_name.values())
        self.named_estimators_ = Bunch(**by_name)
        for entry in [e for layer in as_layers(self.estimators) for e in layer]:
            if isinstance(entry[1], str) and entry[1] == "drop":
                self.named_estimators_[entry[0]] = "drop"

    def _conformity_of(self, deal: Deal) -> list[FloatArray]:
        """Return, for each judged fold, how far off its hold-out stack was on its rows, sorted."""
        each = []
        for judgement, judged in zip(deal.reading.judgements, deal.verdict.folds, strict=True):
            block = Block(judgement.test.rows, judgement.fresh)
            response = judged.respond(deal.top.features((block,)))
            y = deal.top.problem.data.y[block.rows]
            each.append(np.sort(self._misfit(response, y)))
        return each

    @abstractmethod
    def _misfit(self, response: Response, y: Array) -> FloatArray:
        """Return how badly each row was predicted."""

    def _check_judged(self, method: str) -> None:
        if not self.deals_[0].reading.judgements:
            raise unsupported(
                self._owner,
                "cv",
                must=f"give an honest score for {method}",
                got=self.cv,
                fix="Fit with cv=5.",
            )

    def _warn_if_not_exchangeable(self, method: str) -> None:
        deal = self.deals_[0]
        what = "with groups" if deal.top.problem.unit is not None else "forward in time"
        if deal.reading.in_order or deal.top.problem.unit is not None:
            warn(
                f"{self._owner}: {method} has no guarantee {what}, where rows are not "
                "exchangeable. Check its coverage on later or other data."
            )

    def _predict_by_stacker(self, X: Any, **parameters: Any) -> Any:
        """Return what the stacker's own predict says with further arguments."""
        if len(self.deals_) > 1:
            raise unsupported(
                self._owner,
                "predict",
                must="have no further arguments with n_repeats > 1",
                got=Plain(", ".join(sorted(parameters))),
                fix="Use n_repeats=1.",
            )
        deal = self.deals_[0]
        features = deal.fresh(self._new_rows(X), deal.reading.deployed)
        return self.stacker_.predict(features.matrix, **parameters)

    def _new_rows(self, X: Any) -> Any:
        check_is_fitted(self, "deals_")
        X = checked_table(self._owner, X)
        validate_data(self, X, skip_check_array=True, reset=False)
        return X

    def _respond(self, X: Any, **parameters: Any) -> Response:
        """Return the deployed response to new rows, the mean over repeats."""
        X = self._new_rows(X)
        each = [
            d.verdict.respond(d.fresh(X, d.reading.deployed, d.verdict.stacker), **parameters)
            for d in self.deals_
        ]
        if len(each) == 1:
            return each[0]
        kinds = {response.kind for response in each}
        own = all(r.own_labels is not None for r in each) or kinds == {"label"} or len(kinds) > 1
        labels = None
        if own:
            votes = np.mean([np.eye(len(self.classes_))[r.labels] for r in each], axis=0)
            labels = votes.argmax(axis=1)
        if len(kinds) > 1:
            return Response("label", votes.argmax(axis=1).astype(np.float64)[:, None])
        return Response(each[0].kind, np.mean([r.values for r in each], axis=0), labels)

    def _sk_visual_block_(self) -> Any:
        return diagram(self.estimators, self.final_estimator)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Only the first layer sees X.
        first = [entry[1] for entry in next(iter(as_layers(self.estimators)), []) if len(entry) > 1]
        learners = [m for m in first if hasattr(m, "fit") and not isinstance(m, type)]
        inputs = [get_tags(learner).input_tags for learner in learners]
        # A learner that cannot take missing values is dropped, so one that can is enough.
        enough = any if self.on_error == "drop" else all
        tags.input_tags.allow_nan = enough(t.allow_nan for t in inputs)
        tags.input_tags.sparse = enough(t.sparse for t in inputs)
        return tags
