"""The estimator that both stacks are: parameters, fit, and what is asked of a fitted stack."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from sklearn.base import TransformerMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from foldwise import checks
from foldwise._sklearn import feature_names_in, n_samples, take
from foldwise.arrays import Array
from foldwise.diagnose import OutOfFoldTable
from foldwise.engine import Clock, RunOptions, RunSummary, check_options, fingerprint
from foldwise.engine.executor import one_thread
from foldwise.errors import Plain, invalid_parameter, listing, unsupported, warn
from foldwise.folds import without_rows
from foldwise.learners import PickColumns, TrainingData
from foldwise.learners.prepare import cloned_within
from foldwise.scores.metric import Metric, Response, as_metric, mean_response
from foldwise.stack.bands import rows_needed, too_few_groups
from foldwise.stack.callbacks import CallbackSupportMixin, callbacks_around, with_tasks
from foldwise.stack.fit import FittedStack, StackOptions, fit_stacks, judged_stack
from foldwise.stack.judge.judge import Contest
from foldwise.stack.parameters import StackParameters
from foldwise.stack.prefit import prefit_stack
from foldwise.stack.problem import (
    Entry,
    StackProblem,
    as_layers,
    check_columns,
    checked_layers,
    checked_table,
    checked_values,
    passed_columns,
)
from foldwise.stack.results.fold_models import FoldModels
from foldwise.stack.results.frontier import frontier
from foldwise.stack.results.leaderboard import columns_of, judged_results, out_of_fold
from foldwise.stack.results.out_of_fold import out_of_fold_table
from foldwise.stack.stackers.candidates import Candidate, candidates_from
from foldwise.stack.table.read import beside

CHOICES = {
    "predict_with": ("auto", "folds", "refit", "pairs"),
    "hold_out": ("auto", "node", "mean"),
    "on_error": ("drop", "raise"),
    "score_se": ("learners", "nested"),
}
KEEP: Any = "keep what it is"
# The parameters that say how learners were fitted: no other top changes them.
OF_FITS = (
    "cv", "passthrough", "stack_method", "predict_with", "hold_out", "tune", "n_repeats",
    "on_error", "score_se", "partners", "random_state",
)  # fmt: skip
MOST_SEEDS = np.iinfo(np.int32).max


class BaseStacking(CallbackSupportMixin, TransformerMixin, StackParameters):
    """Fits learners over a fold lattice and a stacker on top; judges what is deployed."""

    _classifies: bool
    _expected: Any = None  # seconds for each row that learners will take, where that is known
    _encoder: Any = None  # makes numbers of rows, if boosting is to go on from the stacker
    _of_fits: Mapping[str, Any] = MappingProxyType({})  # those parameters as they were in fit
    deals_: list[FittedStack]

    def _read_target(self, y: Any) -> tuple[Array, Array | None]:
        """Return targets and None; a classifier returns class codes and classes."""
        return checked_values(self._owner, y), None

    @property
    def _metric(self) -> Metric:
        return self.deals_[0].metric

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
            Weights; they reach every learner, through Pipelines too, and the stacker. Whole
            numbers count rows; for a stacker that is named the unit of others means nothing.
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
            must = "be called with X, y, sample_weight and groups only"
            fix = (
                "Passing more, as scikit-learn's stack does, is only supported if "
                "enable_metadata_routing=True there; set it on the learner here."
            )
            raise invalid_parameter(self._owner, "fit", must=must, got=listing(fit_params), fix=fix)
        before, clock = dict(vars(self)), Clock(self.time_budget)
        heard = callbacks_around(self) if getattr(self, "_skl_callbacks", []) else nullcontext()
        try:
            with heard, one_thread("blas"):
                options = self._options()
                problem = self._problem(X, y, sample_weight, groups)
                layers = self._layers(problem)
                contest = self._contest(problem)
                cv = (
                    self.cv
                    if problem.kept is None
                    else without_rows(self._owner, self.cv, problem.kept)
                )
                options = replace(options, seed=self._new_seed(problem.data), cv=cv)
                run = RunSummary()
                if isinstance(self.cv, str) and self.cv == "prefit":
                    stacks = [prefit_stack(problem, layers, contest, options)]
                else:
                    stacks, run = fit_stacks(problem, layers, contest, options, clock)
                return self._settle(stacks, run, X.index if isinstance(X, pd.DataFrame) else None)
        except BaseException:
            self.__dict__ = before
            raise

    def _options(self) -> StackOptions:
        """Return the parameters that say how a stack is made, checked."""
        for name, words in CHOICES.items():
            checks.check_word(self._owner, name, getattr(self, name), words)
        run = RunOptions(
            **self._parameters("n_jobs", "executor", "run_dir", "time_budget", "on_interrupt"),
            callback=with_tasks(self) if getattr(self, "_skl_callbacks", []) else self.callback,
            verbose=int(self.verbose),
            expected=self._expected or {},
        )
        check_options(self._owner, run)
        how = ("cv", "predict_with", "hold_out", "tune", "n_repeats", "on_error", "score_se")
        told = self._parameters(*how, "partners")
        # What another estimator put together is not the user's to mend.
        return StackOptions(self._owner, run, **told, quiet=bool(self._called))

    def _parameters(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}

    def _problem(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> StackProblem:
        """Return the data, checked before anything is fitted."""
        owner = self._owner
        X = checked_table(owner, X, fewest=2)
        validate_data(self, X, skip_check_array=True)
        if y is None:
            raise ValueError(
                f"{owner}: requires y to be passed, but the target y is None. Give the target."
            )
        checks.check_lengths(owner, X.shape[0], y=y)
        X, y, weight, groups, kept = checks.without_weightless(owner, X, y, sample_weight, groups)
        codes = checks.checked_groups(owner, groups, X.shape[0])
        target, labels = self._read_target(y)
        data = TrainingData(X, target, weight, None if labels is None else len(labels), codes)
        passed = passed_columns(owner, self.passthrough, X, self._learners())
        return StackProblem(data, labels, passed, (y, groups), kept).encoded(self._encoder)

    def _layers(self, problem: StackProblem) -> list[list[Entry]]:
        """Return the learners, checked, each of the lowest layer with the columns it sees."""
        layers = checked_layers(
            self._owner,
            self.estimators,
            classify=self._classifies,
            stack_method=self.stack_method,
            weighted=problem.data.sample_weight is not None,
            reserved=self._get_param_names(),
        )
        for place, entry in enumerate(layers[0]):
            if entry.columns is not None:
                check_columns(self._owner, entry.name, entry.columns, problem.data.X)
                steps = [("columns", PickColumns(entry.columns)), ("learner", entry.learner)]
                layers[0][place] = replace(entry, learner=Pipeline(steps))
        return layers

    def _contest(self, problem: StackProblem) -> Contest:
        """Return what may stand on top, and by what it is chosen."""
        metric = as_metric(
            self.scoring,
            owner=self._owner,
            classify=self._classifies,
            has_probabilities=self._gives_probabilities(),
        )
        further = 0 if self._encoder is None else effective_n_jobs(self.n_jobs)
        return Contest(self._candidates(metric, problem), metric, (), None, self._thrift(), further)

    def _candidates(self, metric: Metric, problem: StackProblem) -> tuple[Candidate, ...]:
        return candidates_from(self.final_estimator, problem, metric, self._owner)

    def _new_seed(self, data: TrainingData) -> int:
        """Return a seed; a run that is to be continued draws it from the data."""
        if self.run_dir is not None and self.random_state is None:
            return int(fingerprint(data)[:8], 16) % MOST_SEEDS
        return int(check_random_state(self.random_state).randint(MOST_SEEDS))

    def _settle(self, stacks: list[FittedStack], run: RunSummary, index: Any) -> Self:
        """Set everything that is read after a fit; the training rows are only referred to."""
        first = stacks[0]
        if not isinstance(self.cv, str):
            own = self._parameters(*set(OF_FITS).intersection(self.get_params(deep=False)))
            self._of_fits = own | {"estimators": cloned_within(self.estimators)}
        self.run_, self.partial_ = run, run.partial
        for name, value in vars(judged_results(stacks)).items():
            setattr(self, f"{name}_", value)
        self.unjudged_folds_ = first.reading.unjudged
        self.oof_ = out_of_fold(stacks, index, first.problem.kept)
        tables = [layer.table for stack in stacks for layer in stack.layers]
        self.n_fits_ = sum(table.n_fits.total() for table in tables)
        # Targets of one fold may have made it fail: then they had a say in how others are judged.
        rests = "; left out of all folds, and the score rests on that"
        self.failures_ = {
            name: reason + rests * reason.startswith("without fold")
            for table in tables
            for name, reason in table.failures.items()
        }
        self._X = first.problem.data.X
        self.deals_ = [stack.with_rows(None) for stack in stacks]
        self.__dict__.pop("named_estimators_", None)
        self.stacker_ = self.final_estimator_ = first.verdict.stacker
        self.used_ = list(first.verdict.names)
        answering = first.top.answering(first.reading.deployed)
        self.stack_method_ = [entry.method for entry in answering]
        return self

    @cached_property
    def named_estimators_(self) -> Bunch:
        """The learners that were fitted, by name; "drop" for those left out."""
        check_is_fitted(self, "deals_")
        first = self.deals_[0]
        refs = first.reading.deployed
        answering = [(layer, entry) for layer in first.layers for entry in layer.answering(refs)]
        by_name = {entry.name: FoldModels.of(layer, entry, refs) for layer, entry in answering}
        dropped = {n: m for n, m in self._learners().items() if isinstance(m, str) and m == "drop"}
        # One that was fitted may have been dropped since.
        return Bunch(**(dropped | by_name))

    @property
    def estimators_(self) -> list[Any]:
        """The learners that were fitted."""
        return [model for model in self.named_estimators_.values() if not isinstance(model, str)]

    # What can be made of a fitted stack without fitting its learners again.

    def restack(self, final_estimator: Any = KEEP, *, scoring: Any = KEEP, X: Any = None) -> Self:
        """Return a new stack with another top; no learner is fitted again.

        Parameters
        ----------
        final_estimator : object
            As in the constructor; left out, it stays.
        scoring : object
            As in the constructor; left out, it stays.
        X : array or frame, optional
            The training rows, needed only for a stack that passes columns through and was
            pickled since it was fitted.

        Returns
        -------
        Self
            A fitted stack; this one is not changed.

        Notes
        -----
        Learners tuned by ``tune`` keep the parameters they were given by the old scoring.
        """
        return self._restacked(X, final_estimator=final_estimator, scoring=scoring)

    def _restacked(self, X: Any, compact: bool = False, **changes: Any) -> Self:
        check_is_fitted(self, "deals_")
        new = self._copy(**changes)
        if changes.get("final_estimator", KEEP) is not KEEP:
            new._encoder = None
        further = new._encoder is not None and self.deals_[0].problem.encoder is not None
        stacks = self._with_training_rows(X, further or new.predict_seconds is not None)
        contest, run = new._contest(stacks[0].problem), self.run_
        with one_thread("blas"):
            stacks = [
                judged_stack(s.lattice, s.layers, s.reading, contest, s.judge.seed) for s in stacks
            ]
            if compact:
                stacks = [stack.without_idle_models() for stack in stacks]
            summary = RunSummary(partial=self.partial_, reason=run.reason)
            return new._settle(stacks, summary, self.oof_.index)

    def compact(
        self, *, prune: float = 0.1, predict_seconds: float | None = None, X: Any = None
    ) -> Self:
        """Return a new stack of the learners that are worth keeping; none is fitted again.

        Parameters
        ----------
        prune : float, default=0.1
            As in the constructor.
        predict_seconds : float or None
            As in the constructor; :meth:`frontier` tells what each second buys.
        X : array or frame, optional
            The training rows, needed only if seconds are limited, or columns passed through,
            and the stack was pickled since it was fitted.

        Returns
        -------
        Self
            A fitted stack with its own honest score; this one is not changed. It holds only the
            models that its predictions, intervals and sets need.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.linear_model import Ridge
        >>> from sklearn.neighbors import KNeighborsRegressor
        >>> from foldwise import StackingRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> learners = [("ridge", Ridge(0.1)), ("knn", KNeighborsRegressor(1))]
        >>> StackingRegressor(learners, random_state=0).fit(X, y).compact().used_
        ['ridge']
        """
        return self._restacked(X, True, prune=prune, predict_seconds=predict_seconds)

    def frontier(self, X: Any = None) -> pd.DataFrame:
        """Return what ever smaller stacks lose, and what they save; nothing is fitted again.

        Parameters
        ----------
        X : array or frame, optional
            The training rows, needed only if the stack was pickled since it was fitted.

        Returns
        -------
        DataFrame
            One row a stack, from all learners to one: ``learners``, the metric with its ``se``,
            ``difference`` to the first row and ``difference_se`` (paired), ``predict_seconds``
            for 1,000 rows, ``megabytes`` of the models that predict, ``names``.

        Notes
        -----
        A row is the honest score of ``compact(prune=0, predict_seconds=...)`` with the seconds
        of the row: for each judged fold the learners are told from the other folds alone, so
        that they need not be the ones named, which are deployed. Every row takes the time of a
        :meth:`restack`.
        """
        check_is_fitted(self, "deals_")
        self._check_judged("frontier")
        with one_thread("blas"):
            return frontier([stack.with_rows(self._training_rows(X)) for stack in self.deals_])

    def add(self, name: str, estimator: Any, *, X: Any = None) -> Self:
        """Return a new stack with one learner more in its last layer; only that one is fitted.

        Parameters
        ----------
        name : str
            Its name.
        estimator : estimator
            The learner.
        X : array or frame, optional
            The training rows, needed only if the stack was pickled since it was fitted.

        Returns
        -------
        Self
            A fitted stack; this one is not changed.
        """
        check_is_fitted(self, "deals_")
        if isinstance(self.cv, str):
            must = "not be 'prefit' for add"
            raise invalid_parameter(self._owner, "cv", must=must, got=self.cv, fix="Fit anew.")
        layers = as_layers(self._of_fits.get("estimators", self.estimators))
        layers[-1] = [*layers[-1], (name, estimator)]
        return self._grown(layers if len(layers) > 1 else layers[0], X)

    def _grown(self, estimators: Any, X: Any = None, **changes: Any) -> Self:
        """Return a new stack of more learners; only these are fitted, on the deals there are.

        With ``n_repeats`` among the changes, all are fitted on what deals are missing.
        """
        new = self._copy(estimators=estimators, **changes)
        old, clock = self.deals_[0], Clock(new.time_budget)
        data = replace(old.problem.data, X=self._training_rows(X))
        problem, failed = replace(old.problem, data=data).encoded(new._encoder), self.failures_
        entries = [[e for e in layer if e.name not in failed] for layer in new._layers(problem)]
        with one_thread("blas"):
            repeats = changes.get("n_repeats", len(self.deals_))
            tune = {n: g for n, g in (new.tune or {}).items() if n not in failed} or None
            options = replace(new._options(), seed=old.judge.seed, n_repeats=repeats, tune=tune)
            top = new._contest(problem)
            stacks, run = fit_stacks(problem, entries, top, options, clock, self.deals_)
            run = replace(run, partial=run.partial or self.partial_)
            new._settle(stacks, run, self.oof_.index)
        new.failures_ = {**failed, **new.failures_}
        return new

    def _copy(self, **changes: Any) -> Self:
        """Return an unfitted clone with changed parameters that knows the same columns.

        What was set since the fit counts for what is done anew, not for the learners' fits.
        """
        new = clone(self)
        changes = {**self._of_fits, **{k: v for k, v in changes.items() if v is not KEEP}}
        new.set_params(**changes)
        kept = (
            "n_features_in_", "feature_names_in_", "classes_", "_called", "_expected", "_encoder",
        )  # fmt: skip
        vars(new).update({name: value for name, value in vars(self).items() if name in kept})
        return new

    def _training_rows(self, X: Any) -> Any:
        X = X if X is not None else self._X
        if X is None:
            must = "be given after unpickling, since training rows are not pickled"
            fix = "Give the rows the stack was fitted on."
            raise invalid_parameter(self._owner, "X", must=must, got=None, fix=fix)
        kept, n_rows = self.deals_[0].problem.kept, self.deals_[0].lattice.n_rows
        if kept is not None and n_samples(X) == len(kept):
            X = take(X, np.flatnonzero(kept))
        checks.check_lengths(self._owner, n_rows, X=X)
        return self._same_columns(X)

    def _with_training_rows(self, X: Any, needed: bool = False) -> list[FittedStack]:
        """Return the fitted stacks with the rows they were fitted on, if they pass columns on."""
        passes = self.deals_[0].problem.passthrough is not None
        needed = needed or passes or self._metric.reads_rows
        X = self._training_rows(X) if needed or X is not None else self._X
        return [stack.with_rows(X) for stack in self.deals_]

    def out_of_fold_table(self, X: Any = None) -> OutOfFoldTable:
        """Return what :mod:`foldwise.diagnose` looks at.

        Parameters
        ----------
        X : array or frame, optional
            The training rows, needed only for a stack that passes columns through and was
            pickled since it was fitted.

        Returns
        -------
        OutOfFoldTable
            Hold-out predictions of the last layer's learners, the very ones the honest score
            and the leaderboard are made from, on the rows that every repeat judges.
        """
        check_is_fitted(self, "deals_")
        self._check_judged("out_of_fold_table")
        return out_of_fold_table(self._with_training_rows(X))

    def transform(self, X: Any) -> Any:
        """Return the learners' predictions of new rows, as the deployed stack reads them.

        Out-of-fold predictions of the training rows are in ``oof_``.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            Probabilities for classes; the columns passed through come last.
        """
        X = self._new_rows(X)
        features = [stack.fresh(X, stack.reading.deployed) for stack in self.deals_]
        values = np.mean([np.hstack(f.outputs) for f in features], axis=0)
        names = list(self.get_feature_names_out())[: values.shape[1]]
        if features[0].extra is not None and hasattr(X, "columns") and not hasattr(X, "iloc"):
            passed = self._passed_names(list(X.columns))
            own = {name: values[:, i] for i, name in enumerate(names)}
            return type(X)({**own, **{name: X[name] for name in passed}})
        return beside(values, names, features[0].extra)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns that transform gives, as scikit-learn's stacks do.

        Parameters
        ----------
        input_features : array-like of str or None
            Names of the features, where the stack was fitted on an array.

        Returns
        -------
        ndarray of str
            The class name and the learner's, numbered if it has several columns; then the
            columns passed through.
        """
        check_is_fitted(self, "deals_")
        features = feature_names_in(self, input_features)
        own = []
        every = columns_of(self.deals_[0])
        for name in [entry.name for entry in self.deals_[0].top.entries]:
            columns = [c for c in every if c == name or c.startswith(name + "__")]
            numbers = [""] if len(columns) == 1 else range(len(columns))
            own += [f"{self._owner.lower()}_{name}{number}" for number in numbers]
        return np.asarray([*own, *self._passed_names(features)], dtype=object)

    def _passed_names(self, names: Any) -> list[str]:
        passed = self.deals_[0].problem.passthrough
        if passed is None:
            return []
        if isinstance(passed, slice):
            return list(names)
        return [c if isinstance(c, str) else names[c] for c in passed]

    def _check_judged(self, method: str) -> None:
        if not self.deals_[0].reading.judgements:
            must = f"give an honest score for {method}"
            raise unsupported(self._owner, "cv", must=must, got=self.cv, fix="Fit with cv=5.")

    def _check_coverage(self, method: str, X: Any, coverage: float) -> Any:
        """Return new rows, if the stack can say how sure it is about them."""
        checks.check_number(self._owner, "coverage", coverage, above=0, below=1, try_=0.9)
        X, first = self._new_rows(X), self.deals_[0]
        self._check_judged(method)
        grouped, when = first.problem.data.groups is not None, "forward in time"
        if grouped and too_few_groups(first, coverage):
            when = f"with fewer than {rows_needed(coverage)} groups"
        elif not first.reading.in_order:
            return X
        warn(
            f"{self._owner}: {method} has no guarantee {when}, where rows are not exchangeable. "
            "Check its coverage on later or other data."
        )
        return X

    def _predict_by_stacker(self, X: Any, **parameters: Any) -> Any:
        """Return what the stacker's own predict says with further arguments."""
        if len(self.deals_) > 1:
            must = "have no further arguments with n_repeats > 1"
            got = ", ".join(sorted(parameters))
            fix = "Use n_repeats=1."
            raise unsupported(self._owner, "predict", must=must, got=Plain(got), fix=fix)
        stack = self.deals_[0]
        features = stack.fresh(self._new_rows(X), stack.reading.deployed, stack.verdict)
        return self.stacker_.predict(features.matrix, **parameters)

    def _new_rows(self, X: Any) -> Any:
        check_is_fitted(self, "deals_")
        return self._same_columns(X)

    def _same_columns(self, X: Any) -> Any:
        X = checked_table(self._owner, X)
        validate_data(self, X, skip_check_array=True, reset=False)
        return X

    def _respond(self, X: Any) -> Response:
        """Return the deployed response to new rows, the mean over repeats."""
        X = self._new_rows(X)
        jobs = effective_n_jobs(self.n_jobs)
        each = [stack.respond(X, jobs) for stack in self.deals_]
        return each[0] if len(each) == 1 else mean_response(each, self.deals_[0].problem.labels)
