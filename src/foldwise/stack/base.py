"""What the two stacking estimators share."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import TransformerMixin, clone
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch, check_random_state
from sklearn.utils._tags import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from foldwise.errors import (
    FoldsWarning,
    NoScoreWarning,
    did_you_mean,
    invalid_parameter,
    unsupported,
    warn,
)
from foldwise.folds import Block, Lattice, Reading, Ref, deal, read_lattice
from foldwise.folds.lattice import EVERYTHING
from foldwise.folds.needs import needs_of
from foldwise.learners import TrainingData
from foldwise.learners.columns import PickColumns
from foldwise.learners.general import respond as learner_response
from foldwise.stack.build import Deal, build_deal, build_readers
from foldwise.stack.entries import Entry, as_layers, checked_layers
from foldwise.stack.features import Features, column_names, compact
from foldwise.stack.fold_models import FoldModels
from foldwise.stack.grow import Settings
from foldwise.stack.inputs import (
    check_columns,
    checked_groups,
    checked_lengths,
    checked_table,
    checked_weights,
    passed_columns,
)
from foldwise.stack.leaderboard import honest_score, leaderboard, out_of_fold
from foldwise.stack.metric import Metric, Response, as_metric
from foldwise.stack.parameters import NamedLearnersMixin
from foldwise.stack.reader import Problem, Reader
from foldwise.stack.stackers import Candidate, candidates_from, respond
from foldwise.stack.table import Table
from foldwise.stack.tuning import check_tune

CHOICES = {
    "predict_with": ("auto", "folds", "refit", "pairs"),
    "hold_out": ("auto", "node", "mean"),
    "on_error": ("drop", "raise"),
}
KEEP: Any = "keep what it is"


class BaseStacking(TransformerMixin, NamedLearnersMixin):
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
        self.verbose = verbose

    @abstractmethod
    def _read_target(self, y: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return targets and None, or class codes and classes."""

    @property
    def _owner(self) -> str:
        return type(self).__name__

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
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

        Returns
        -------
        Self
            The fitted stack.
        """
        problem, layers, metric = self._prepare(X, y, sample_weight, groups)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        candidates = self._candidates(metric, problem)
        if isinstance(self.cv, str) and self.cv == "prefit":
            deals = [self._prefit_deal(problem, layers[0], candidates, metric, seed)]
        else:
            deals = self._deals(problem, layers, candidates, metric, seed)
        return self._settle(deals, metric, seed, X)

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> tuple[Problem, list[list[Entry]], Metric]:
        """Check everything before anything is fitted."""
        owner = self._owner
        self._check_choices()
        X = checked_table(X)
        validate_data(self, X, skip_check_array=True)
        if y is None:
            raise ValueError(
                f"{owner}: requires y to be passed, but the target y is None. Give the target."
            )
        n_rows = X.shape[0]
        checked_lengths(owner, n_rows, y=y)
        weight = checked_weights(owner, sample_weight, n_rows)
        codes, unit = checked_groups(owner, groups, n_rows)
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
        passed = passed_columns(owner, self.passthrough, X)
        problem = Problem(data, labels, passed, unit)
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
        )

    def _deals(
        self,
        problem: Problem,
        layers: list[list[Entry]],
        candidates: tuple[Candidate, ...],
        metric: Metric,
        seed: int,
        before: Sequence[Deal] = (),
    ) -> list[Deal]:
        """Build one whole stack a repeat."""
        lattices = [old.lattice for old in before] or [
            self._lattice(problem, seed, repeat, len(layers)) for repeat in range(self.n_repeats)
        ]
        readings = [self._reading(lattice, problem, len(layers), seed) for lattice in lattices]
        if self.tune is not None:
            check_tune(self._owner, self.tune, layers, lattices[0].kind, lattices[0].n_folds)
        self._warn_before(problem, lattices, readings, len(layers))
        deals: list[Deal] = []
        for repeat, (lattice, reading) in enumerate(zip(lattices, readings, strict=True)):
            settings = Settings(
                self._owner, seed, self.n_jobs, self.on_error, repeat, int(self.verbose)
            )
            readers = build_readers(
                layers,
                problem,
                lattice,
                reading,
                metric=metric,
                settings=settings,
                tune=self.tune,
                known=_known(before[repeat] if before else None, deals[:1]),
            )
            deals.append(build_deal(readers, lattice, reading, candidates, metric, seed))
        return deals

    def _lattice(self, problem: Problem, seed: int, repeat: int, n_layers: int) -> Lattice:
        classes = problem.data.y if self._classifies else None
        return deal(
            self.cv,
            problem.n_rows,
            classes=classes,
            groups=problem.data.groups,
            y=problem.data.y,
            seed=seed,
            repeat=repeat,
            n_layers=n_layers,
            owner=self._owner,
        )

    def _reading(self, lattice: Lattice, problem: Problem, n_layers: int, seed: int) -> Reading:
        inner = self._inner_lattice(lattice, problem, seed) if lattice.kind == "single" else None
        return read_lattice(
            lattice,
            predict_with=self.predict_with,
            hold_out=self.hold_out,
            n_layers=n_layers,
            inner=inner,
            owner=self._owner,
        )

    def _inner_lattice(self, lattice: Lattice, problem: Problem, seed: int) -> Lattice | None:
        """Deal the test rows of a single split, keeping its order and groups."""
        test = lattice.tests[0]
        if len(test) < 6:
            return None
        data = problem.data
        ordered = lattice.trains[0][-1] < test[0]
        return deal(
            TimeSeriesSplit(5) if ordered else 5,
            len(test),
            classes=data.y[test] if self._classifies else None,
            groups=None if data.groups is None else data.groups[test],
            seed=seed,
            owner=self._owner,
        )

    def _warn_before(
        self,
        problem: Problem,
        lattices: Sequence[Lattice],
        readings: Sequence[Reading],
        n_layers: int,
    ) -> None:
        """Say once what the folds cannot give."""
        if not readings[0].judgements:
            warn(
                f"{self._owner}: no honest score, it needs at least {n_layers + 2} folds that "
                f"leave rows to train on; got {lattices[0].n_folds}. Use cv=5.",
                NoScoreWarning,
            )
        n_classes = problem.data.n_classes
        if n_classes is None:
            return
        for lattice, reading in zip(lattices, readings, strict=True):
            for needs in needs_of(reading, lattice, n_layers):
                for node in needs.rows:
                    seen = np.bincount(problem.data.y[lattice.rows(node)], minlength=n_classes)
                    if not seen.all():
                        label = problem.labels[int(seen.argmin())]  # type: ignore[index]
                        warn(
                            f"{self._owner}: class {label!r} is absent from the training rows of "
                            "some folds; models fitted there give it a small probability. "
                            "Use fewer folds or more rows of that class.",
                            FoldsWarning,
                        )
                        return

    def _prefit_deal(
        self,
        problem: Problem,
        entries: list[Entry],
        candidates: tuple[Candidate, ...],
        metric: Metric,
        seed: int,
    ) -> Deal:
        """Put a stacker on learners that are fitted already."""
        warn(
            f"{self._owner}: no honest score with cv='prefit', the learners may have seen these "
            "rows. Use cv=5 for a score.",
            NoScoreWarning,
        )
        table, rows = Table(), np.arange(problem.n_rows)
        for entry in entries:
            check_is_fitted(entry.learner)
            cell = (entry.name, EVERYTHING, None)
            values = learner_response(
                entry.learner, problem.data.X, entry.method, problem.data, problem.n_rows
            )
            table.predictions[cell] = (rows, compact(values, entry.kind))
            table.models[cell] = entry.learner
        ref = (Ref(EVERYTHING),)
        reading = Reading((), (Block(rows, ref),), ref, predict_with="refit")
        lattice = Lattice(problem.n_rows, (), (), "single")
        reader = Reader(tuple(entries), table, problem)
        return build_deal((reader,), lattice, reading, candidates, metric, seed)

    def _settle(self, deals: list[Deal], metric: Metric, seed: int, X: Any) -> Self:
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
        self._columns = _columns_of(deals[0])
        index = X.index if isinstance(X, pd.DataFrame) else None
        frames = [out_of_fold(deal, index, self._columns) for deal in deals]
        self.oof_ = frames[0] if len(frames) == 1 else sum(frames) / len(frames)
        self.n_fits_ = sum(r.table.n_fits.total() for d in deals for r in d.readers)
        self.failures_ = {
            name: reason
            for d in deals
            for r in d.readers
            for name, reason in r.table.failures.items()
        }
        self._metric, self._seed, self._X = metric, seed, problem.data.X
        self.deals_ = [_with_table(deal, None) for deal in deals]
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

    def _conformity_of(self, deal: Deal) -> list[NDArray[np.float64]]:
        """Return, for each judged fold, how far off its hold-out stack was on its rows, sorted."""
        each = []
        for judgement, judged in zip(deal.reading.judgements, deal.verdict.folds, strict=True):
            block = Block(judgement.test.rows, judgement.fresh)
            response = respond(judged.stacker, deal.top.features((block,)))
            y = deal.top.problem.data.y[block.rows]
            each.append(np.sort(self._misfit(response, y)))
        return each

    @abstractmethod
    def _misfit(self, response: Response, y: NDArray[Any]) -> NDArray[np.float64]:
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

    def _new_rows(self, X: Any) -> Any:
        check_is_fitted(self, "deals_")
        X = checked_table(X) if not hasattr(X, "columns") else X
        validate_data(self, X, skip_check_array=True, reset=False)
        return X

    def _respond(self, X: Any, **parameters: Any) -> Response:
        """Return the deployed response to new rows, the mean over repeats."""
        X = self._new_rows(X)
        each = [
            respond(d.verdict.stacker, d.fresh(X, d.reading.deployed), **parameters)
            for d in self.deals_
        ]
        if len(each) == 1:
            return each[0]
        if each[0].kind == "label":
            votes = np.mean([np.eye(len(self.classes_))[r.labels] for r in each], axis=0)
            return Response("label", votes.argmax(axis=1).astype(np.float64)[:, None])
        return Response(each[0].kind, np.mean([r.values for r in each], axis=0))

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
        features = [d.fresh(X, d.reading.deployed) for d in self.deals_]
        values = np.mean([np.hstack(f.outputs) for f in features], axis=0)
        return _beside(values, features[0])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns that transform gives.

        Parameters
        ----------
        input_features : ignored
            There for scikit-learn.

        Returns
        -------
        ndarray of str
            ``model`` or ``model__class``, then the columns passed through.
        """
        check_is_fitted(self, "deals_")
        return np.asarray([*self._columns, *self._passed_names()], dtype=object)

    def _passed_names(self) -> list[str]:
        passed = self.deals_[0].top.problem.passthrough
        if passed is None:
            return []
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])
        if isinstance(passed, slice):
            return list(names)
        return [c if isinstance(c, str) else names[c] for c in passed]

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
        """
        check_is_fitted(self, "deals_")
        new = self._copy(final_estimator=final_estimator, scoring=scoring)
        problem = self.deals_[0].top.problem
        X = self._training_rows(X) if problem.passthrough is not None else self._X
        deals = [_with_table(d, X) for d in self.deals_]
        metric = as_metric(
            new.scoring,
            owner=new._owner,
            classify=new._classifies,
            has_probabilities=new._gives_probabilities(),
        )
        candidates = new._candidates(metric, problem)
        deals = [
            build_deal(d.readers, d.lattice, d.reading, candidates, metric, self._seed)
            for d in deals
        ]
        return new._settle(deals, metric, self._seed, X)

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
            raise invalid_parameter(
                self._owner, "cv", must="not be 'prefit' for add", got=self.cv, fix="Fit anew."
            )
        layers = as_layers(self.estimators)
        layers[-1] = [*layers[-1], (name, estimator)]
        new = self._copy(estimators=layers if len(layers) > 1 else layers[0])
        problem = self.deals_[0].top.problem
        problem = replace(problem, data=replace(problem.data, X=self._training_rows(X)))
        checked = checked_layers(
            new._owner,
            new.estimators,
            classify=new._classifies,
            stack_method=new.stack_method,
            weighted=problem.data.sample_weight is not None,
            reserved=new._get_param_names(),
        )
        checked[0] = [new._on_columns(entry, problem.data.X) for entry in checked[0]]
        candidates = new._candidates(self._metric, problem)
        checked = [[e for e in layer if e.name not in self.failures_] for layer in checked]
        deals = new._deals(
            problem, checked, candidates, self._metric, self._seed, before=self.deals_
        )
        new._settle(deals, self._metric, self._seed, problem.data.X)
        new.failures_ = {**self.failures_, **new.failures_}
        return new

    def _copy(self, **changes: Any) -> Self:
        """Return an unfitted clone with changed parameters that knows the same columns."""
        new = clone(self)
        new.set_params(**{k: v for k, v in changes.items() if v is not KEEP})
        for known in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(self, known):
                setattr(new, known, getattr(self, known))
        return new

    def _training_rows(self, X: Any) -> Any:
        X = X if X is not None else self._X
        if X is None:
            raise invalid_parameter(
                self._owner,
                "X",
                must="be given after unpickling, since training rows are not pickled",
                got=None,
                fix="Give the rows the stack was fitted on.",
            )
        checked_lengths(self._owner, self.deals_[0].lattice.n_rows, X=X)
        return checked_table(X)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_X" in state:
            state["_X"] = None
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            inner = [get_tags(m).input_tags for m in self._learners().values() if m != "drop"]
            tags.input_tags.allow_nan = all(t.allow_nan for t in inner)
            tags.input_tags.sparse = all(t.sparse for t in inner)
        except Exception:
            pass
        return tags


def _known(before: Deal | None, first: Sequence[Deal]) -> list[Table]:
    """Return what need not be fitted again: an earlier deal, or the model of all rows."""
    if before is not None:
        return [reader.table for reader in before.readers]
    if not first:
        return []
    table, everything = first[0].readers[0].table, Table()
    everything.models = {c: m for c, m in table.models.items() if c[1:] == (EVERYTHING, None)}
    return [everything]


def _with_table(deal: Deal, X: Any) -> Deal:
    """Return the deal with other training rows, or None for none."""
    problem = deal.top.problem
    problem = replace(problem, data=replace(problem.data, X=X))
    return replace(deal, readers=tuple(replace(r, problem=problem) for r in deal.readers))


def _columns_of(deal: Deal) -> list[str]:
    labels = deal.top.problem.labels
    block = deal.reading.final[0]
    return [
        column
        for entry in deal.top.entries
        for column in column_names(
            entry.name, deal.top.table.read(entry.name, block).shape[1], labels
        )
    ]


def _beside(values: NDArray[np.float64], features: Features) -> Any:
    if features.extra is None:
        return values
    return replace(features, outputs=[values], names=("",), kinds=("value",), labels=None).matrix()
