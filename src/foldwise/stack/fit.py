"""The algorithm of stacking, top to bottom: deal the rows, read the lattice, fit, choose, judge."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import TimeSeriesSplit

from foldwise.engine import Clock, Run, RunOptions, RunSummary, open_run
from foldwise.errors import AllLearnersFailedError, warn
from foldwise.folds import (
    EVERYTHING,
    Lattice,
    Needs,
    Reading,
    Ref,
    deal,
    first_folds,
    needs_of,
    read_lattice,
)
from foldwise.learners import NodeTask
from foldwise.scores.metric import Metric, Response
from foldwise.stack.judge.further import further_verdict
from foldwise.stack.judge.in_time import (
    GRACE_SECONDS,
    GRACE_SHARE,
    INNER_FOLDS,
    judged_in_time,
    reserved,
)
from foldwise.stack.judge.judge import Contest, Judge, JudgedFold, Verdict
from foldwise.stack.judge.thrift import seconds_of
from foldwise.stack.limits import warn_of_absent_classes, warn_of_no_score
from foldwise.stack.parameters import most_repeats
from foldwise.stack.problem import Entry, StackProblem
from foldwise.stack.stackers.means import MemberStacker
from foldwise.stack.table.jobs import FitSettings, check_failures, fit_cells
from foldwise.stack.table.layers import Dealt, drop_outside_domain, fit_upper
from foldwise.stack.table.read import Cell, Features, Layer, NodeTable
from foldwise.stack.table.rounds import ROUNDS, rounds_tasks
from foldwise.stack.table.tuning import checked_tune, n_fits, tune_learner


@dataclass(frozen=True)
class StackOptions:
    """How a stack is made; the fields are parameters of the estimators."""

    owner: str
    run: RunOptions
    cv: Any
    predict_with: str
    hold_out: str
    tune: Any
    n_repeats: Any
    on_error: str
    score_se: str = "learners"
    partners: Any = "all"
    quiet: bool = False  # whether learners are not the user's own
    seed: int = 0  # everything random is keyed to it


@dataclass(frozen=True)
class FittedStack:
    """A whole stack over one deal of the rows: all that a fit has found."""

    lattice: Lattice  # how the rows were dealt
    layers: tuple[Layer, ...]  # the learners and the table of their predictions, the lowest first
    judge: Judge  # what is read from which node, the candidates, the metric, the seed
    verdict: Verdict  # the deployed stacker and how it was judged

    @property
    def top(self) -> Layer:
        """The learners the stacker reads."""
        return self.layers[-1]

    @property
    def problem(self) -> StackProblem:
        """The data."""
        return self.top.problem

    @property
    def reading(self) -> Reading:
        """What is read from which node."""
        return self.judge.reading

    @property
    def metric(self) -> Metric:
        """What the score is."""
        return self.judge.contest.metric

    def with_rows(self, X: Any) -> "FittedStack":
        """Return the stack with other training rows, or None for none."""
        problem = self.problem.with_rows(X)
        for layer in self.layers:
            layer.table.forget_places()
        layers = tuple(replace(layer, problem=problem) for layer in self.layers)
        target = self.verdict.target
        return replace(
            self,
            layers=layers,
            judge=replace(self.judge, layer=layers[-1]),
            verdict=replace(self.verdict, target=target and replace(target, X=X)),
        )

    def fresh(
        self, X: Any, refs: Sequence[Ref], judged: Verdict | JudgedFold | None = None, jobs: int = 1
    ) -> Features:
        """Return the top features of new rows, the mean over some nodes.

        Learners that the stacker does not read, or gives no weight, need not be asked.
        """
        names = () if judged is None else judged.names
        if len(self.layers) == 1:
            top, ignored = self.top.of(names), frozenset[str]()
            if judged is not None and isinstance(judged.stacker, MemberStacker):
                ignored = judged.stacker.ignored([entry.name for entry in top.entries])
            return top.fresh(X, refs, X, ignored, jobs)
        each = [self._chain(X, ref) for ref in dict.fromkeys(Ref(ref.node) for ref in refs)]
        outputs = [
            np.mean([features.outputs[m] for features in each], axis=0)
            for m in range(len(self.top.entries))
        ]
        return replace(each[0], outputs=outputs).of(names)

    def _chain(self, X: Any, ref: Ref) -> Features:
        features = self.layers[0].fresh(X, (ref,), X)
        for layer in self.layers[1:]:
            features = layer.fresh(features.matrix, (ref,), X)
        return features

    def without_idle_models(self) -> "FittedStack":
        """Return the stack without the top models that no stacker reads."""
        if not self.verdict.names:
            return self
        read = {*self.verdict.names, *(name for fold in self.verdict.folds for name in fold.names)}
        table = copy(self.top.table)
        table.keep_models([cell for cell in table.models if cell[0] in read])
        layers = (*self.layers[:-1], replace(self.top, table=table))
        return replace(self, layers=layers, judge=replace(self.judge, layer=layers[-1]))

    def respond(self, X: Any, jobs: int = 1) -> Response:
        """Return the deployed stack's response to new rows."""
        verdict = self.verdict
        return verdict.respond(self.fresh(X, self.reading.deployed, verdict, jobs))

    def hold_outs(self, X: Any) -> Iterator[tuple[JudgedFold, Features]]:
        """Yield each stack that was judged, and the features of new rows that it reads."""
        for judgement, judged in zip(self.reading.judgements, self.verdict.folds, strict=True):
            yield judged, self.fresh(X, judgement.fresh, judged)


def fit_stacks(
    problem: StackProblem,
    layers: list[list[Entry]],
    contest: Contest,
    options: StackOptions,
    clock: Clock,
    before: Sequence[FittedStack] = (),
) -> tuple[list[FittedStack], RunSummary]:
    """Fit one whole stack a repeat, as far as time goes, and say what the run did.

    ``before``: Stacks of fewer learners, whose deals are kept and whose fits are not done again.
    """
    most = most_repeats(options.owner, options.n_repeats, clock.budget)
    lattices = [old.lattice for old in before]
    lattices += [_deal(problem, options, r, len(layers)) for r in range(len(before), most)]
    deals = [_read(lattice, problem, options, len(layers)) for lattice in lattices]
    tune: dict[str, Any] = {}
    if options.tune is not None:
        tune = checked_tune(options.owner, options.tune, layers, lattices[0], options.score_se)
    if not deals[0].reading.judgements:
        warn_of_no_score(options.owner, len(layers), lattices[0].n_folds)
    if problem.labels is not None:
        warn_of_absent_classes(options.owner, problem, deals, contest.metric)
    sure = deals[:1] if options.n_repeats == "auto" else deals
    total = n_fits(layers, sure, tune, before)
    reserve = 0.0
    if clock.budget is not None:
        reserve = reserved(problem, len(layers[-1]), deals[0], contest, clock.budget)
    with open_run(options.owner, options.run, total=total, reserve=reserve, clock=clock) as run:
        run.stream.tell("started")
        how = (options.owner, options.seed, run, options.on_error)
        settings = FitSettings(*how, tune, contest.metric, quiet=options.quiet)
        fitted = _fit_repeats(problem, layers, deals, settings, before, reserve)
        fitted = _without_failures(fitted, layers, problem, deals, settings)
        run.stream.tell("finished")

    missing = [repr(e.name) for layer in layers for e in layer if e.name in run.dropped]
    if len(fitted) < len(sure) or (run.interrupted and len(fitted) < len(deals)):
        missing.append(f"{len(deals) - len(fitted)} of {len(deals)} repeats")
    stacks, whole = _judged(fitted, deals, contest, options.seed, clock)
    missing += [] if whole else ["all that was to stand on top"]
    if missing:
        _say_what_is_missing(run, missing, options.quiet)
    failed = {name for grown in fitted for layer in grown for name in layer.table.failures}
    return stacks, run.summary(sorted(failed))


def _fit_repeats(
    problem: StackProblem,
    layers: list[list[Entry]],
    deals: Sequence[Dealt],
    settings: FitSettings,
    before: Sequence[FittedStack],
    reserve: float,
) -> list[tuple[Layer, ...]]:
    """Fit the table of each repeat that there is time for; the first in any case."""
    run, fitted = settings.run, list[tuple[Layer, ...]]()
    for repeat, dealt in enumerate(deals):
        run.clock.reserve = reserve * (repeat + 1)
        # One more repeat will take as long as those before did on average.
        if repeat and (run.interrupted or run.clock.spent / repeat >= run.clock.left()):
            break
        dropped, known = dict(run.dropped), _known(before[repeat : repeat + 1], fitted[:1])
        run.stream.expect(n_fits(layers, [dealt], settings.tune, before[repeat : repeat + 1]))
        here = replace(settings, repeat=repeat)
        try:
            grown = fit_layers(_left(layers, fitted), problem, dealt, here, known)
        except (AllLearnersFailedError, KeyboardInterrupt):
            if not repeat or run.dropped == dropped:
                raise
            grown = ()
        if repeat and run.dropped != dropped:
            # What is complete in the repeats before stays; this one was not finished.
            run.dropped = dropped
            break
        fitted.append(grown)
    return fitted


def fit_layers(
    layers: Sequence[Sequence[Entry]],
    problem: StackProblem,
    dealt: Dealt,
    settings: FitSettings,
    known: Sequence[NodeTable],
) -> tuple[Layer, ...]:
    """Fit every learner at every node that something is read from; what is known is taken over."""
    tune = settings.tune
    fitted: list[Layer] = []
    shares = _shares(layers, dealt.needs)
    for level, (entries, needs) in enumerate(zip(layers, dealt.needs, strict=True)):
        table, before = NodeTable(), known[level] if level < len(known) else NodeTable()
        settings.run.clock.slice(shares[level])
        if level == 0:
            tasks = _lowest_tasks([e for e in entries if e.name not in tune], dealt, settings)
            table.take_over(before, tasks)
            tuned = [e for e in entries if e.name in tune]
            tuned = [e for e in tuned if not table.take_over_tuned(before, e.name)]
            rounds = [entry.name for entry in tuned if tune[entry.name] == ROUNDS]
            own, after = rounds_tasks(table, rounds, dealt, settings) if rounds else ({}, {})
            fit_cells(table, entries, problem.data, tasks | own, settings, after=after)
            for entry in [entry for entry in tuned if entry.name not in rounds]:
                tune_learner(table, entry, problem, dealt, settings)
        else:
            first = first_folds(dealt.lattice, len(layers))[level - 1]
            for node in needs.rows:
                table.take_over(before, [(entry.name, node, None) for entry in entries])
                fit_upper(table, entries, fitted[-1], dealt, needs, node, first, settings)
        if level and all(entry.name in settings.run.dropped for entry in entries):
            # Time ran out above: the layers below are a stack of their own.
            break
        if level == len(layers) - 1 and settings.metric and settings.metric.has_domain:
            drop_outside_domain(table, entries, problem, dealt.reading, settings)
        fitted.append(Layer(check_failures(table, entries, settings), table, problem))
    settings.run.clock.slice(1.0)
    problem.data.shared.clear()
    read = [ref for judgement in dealt.reading.judgements for ref in judgement.fresh]
    fitted[-1].keep_models([*dealt.reading.deployed, *read])
    return tuple(fitted)


def _shares(layers: Sequence[Sequence[Entry]], needs: Sequence[Needs]) -> list[float]:
    """Return the share of the time left that each layer gets, the last all of it."""
    fits = [len(entries) * len(asked.rows) for entries, asked in zip(layers, needs, strict=True)]
    return [fits[level] / max(sum(fits[level:]), 1) for level in range(len(layers))]


def _lowest_tasks(
    entries: Sequence[Entry], dealt: Dealt, settings: FitSettings
) -> dict[Cell, NodeTask]:
    """Return the task of each learner at each node of the lowest layer."""
    needs, kept = dealt.needs[0], dealt.reading.kept
    rows = {node: (dealt.lattice.rows(node), needs.of(node)) for node in needs.rows}
    forward = dealt.lattice.kind == "forward"
    return {
        (e.name, node, None): NodeTask(
            *rows[node], settings.seed_of(e.name, node), node in kept, forward
        )
        for node in needs.rows
        for e in entries
    }


def _judged(
    fitted: Sequence[tuple[Layer, ...]],
    deals: Sequence[Dealt],
    contest: Contest,
    seed: int,
    clock: Clock,
) -> tuple[list[FittedStack], bool]:
    """Choose and judge what stands on top of each deal; return whether time sufficed for all."""
    # Contests that are judged one after the other, as far as time goes, share their stackers.
    known: list[Any] = [None if clock.budget is None else {} for _ in fitted]

    def judged(contest: Contest, until: float = float("inf")) -> list[FittedStack]:
        return [
            judged_stack(dealt.lattice, grown, dealt.reading, contest, seed, until, before)
            for dealt, grown, before in zip(deals, fitted, known, strict=False)
        ]

    if clock.budget is None:
        return judged(contest), True
    end = clock.start + clock.budget + max(GRACE_SHARE * clock.budget, GRACE_SECONDS)
    return judged_in_time(judged, contest, fitted[0][-1].problem, end)


def judged_stack(
    lattice: Lattice,
    layers: tuple[Layer, ...],
    reading: Reading,
    contest: Contest,
    seed: int,
    until: float = float("inf"),
    known: dict[int, Any] | None = None,
) -> FittedStack:
    """Choose and judge the stacker on top of fitted learners, or raise OutOfTimeError.

    ``known``: Where stackers are kept that other contests may fit too.
    """
    thrift = contest.thrift
    if thrift is not None and np.isfinite(thrift.seconds) and thrift.costs is None:
        costs = seconds_of(layers[-1], reading.deployed)
        contest = replace(contest, thrift=replace(thrift, costs=costs))
    judge = Judge(layers[-1], reading, contest, seed)
    hurried = replace(judge, until=until, known=known)
    verdict = hurried.verdict()
    if contest.further:
        verdict = further_verdict(hurried, verdict)
    return FittedStack(lattice, layers, judge, verdict)


def _deal(problem: StackProblem, options: StackOptions, repeat: int, n_layers: int) -> Lattice:
    data, given = problem.data, problem.given
    rows: dict[str, Any] = {"classes": None if problem.labels is None else data.y}
    rows |= {"groups": data.groups, "given": None if given is None else (data.X, *given)}
    how = {"repeat": repeat, "n_layers": n_layers, "partners": options.partners}
    how |= {"seed": options.seed, "owner": options.owner}
    return deal(options.cv, problem.n_rows, **rows, **how)


def _read(lattice: Lattice, problem: StackProblem, options: StackOptions, n_layers: int) -> Dealt:
    """Say what is read from which node, and what must be fitted for it."""
    reading = read_lattice(
        lattice,
        predict_with=options.predict_with,
        hold_out=options.hold_out,
        n_layers=n_layers,
        inner=_inner(lattice, problem, options) if lattice.kind == "single" else None,
        nested=options.score_se == "nested",
        partners=options.partners,
        owner=options.owner,
    )
    return Dealt(lattice, reading, needs_of(reading, lattice, n_layers))


def _inner(lattice: Lattice, problem: StackProblem, options: StackOptions) -> Lattice | None:
    """Deal the test rows of a single split, keeping its order and groups."""
    test, data = lattice.tests[0], problem.data
    if len(test) <= INNER_FOLDS:
        return None
    ordered = data.groups is None and lattice.trains[0][-1] < test[0]
    return deal(
        TimeSeriesSplit(INNER_FOLDS) if ordered else INNER_FOLDS,
        len(test),
        classes=None if problem.labels is None else np.unique(data.y[test], return_inverse=True)[1],
        groups=None if data.groups is None else data.groups[test],
        seed=options.seed,
        owner=options.owner,
    )


def _known(before: Sequence[FittedStack], first: Sequence[tuple[Layer, ...]]) -> list[NodeTable]:
    """Return what need not be fitted again: an earlier stack's cells, and models of all rows."""
    tables = [copy(layer.table) for old in before for layer in old.layers] or [NodeTable()]
    if first:
        everything = first[0][0].table.models
        shared = {cell: m for cell, m in everything.items() if cell[1:] == (EVERYTHING, None)}
        tables[0].models = {**shared, **tables[0].models}
    return tables


def _left(layers: list[list[Entry]], fitted: Sequence[tuple[Layer, ...]]) -> list[list[Entry]]:
    """Return the learners that have not failed."""
    failed = {name for grown in fitted for layer in grown for name in layer.table.failures}
    return [[entry for entry in layer if entry.name not in failed] for layer in layers]


def _without_failures(
    fitted: Sequence[tuple[Layer, ...]],
    layers: list[list[Entry]],
    problem: StackProblem,
    deals: Sequence[Dealt],
    settings: FitSettings,
) -> list[tuple[Layer, ...]]:
    """Leave a learner that failed in a later repeat out of the earlier ones too."""
    left = _left(layers, fitted)
    names = {entry.name for layer in left for entry in layer}
    same = []
    for repeat, grown in enumerate(fitted):
        if not all(entry.name in names for layer in grown for entry in layer.entries):
            here = replace(settings, repeat=repeat)
            grown = fit_layers(left, problem, deals[repeat], here, [grown[0].table])
        same.append(grown)
    return same


def _say_what_is_missing(run: Run, missing: list[str], quiet: bool) -> None:
    """Warn of what was asked for and is not there for want of time, in words."""
    # Another estimator gives the stack what is left of its own budget.
    budget = "" if quiet or run.clock.budget is None else f"={run.clock.budget:g}"
    run.reason = "interrupted" if run.interrupted else "time budget"
    told = "was interrupted" if run.interrupted else f"ended by time_budget{budget}"
    if len(missing) > 10:
        missing = [*missing[:10], f"{len(missing) - 10} more"]
    warn(
        f"{run.stream.owner}: the fit {told} and the stack is partial, without "
        f"{', '.join(missing)}. Fit again with more time; with run_dir= nothing finished is "
        "fitted twice."
    )
