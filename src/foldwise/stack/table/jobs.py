"""Fitting cells of the table: which fits go together, in which order, and what becomes of them."""

import zlib
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import joblib
import numpy as np
from sklearn.pipeline import Pipeline

from foldwise.engine import Run, RunStore, Task, fingerprint
from foldwise.engine.executor import QUIET
from foldwise.errors import AllLearnersFailedError, LearnerFailedWarning, warn
from foldwise.folds import Node
from foldwise.learners import (
    Assignment,
    NodeFit,
    NodeTask,
    TrainingData,
    fit_at_node,
    fit_nodes,
    shortcut_for,
    takes_long,
)
from foldwise.learners.watched import fit_watched, scaled_rounds, with_rounds
from foldwise.scores.metric import Metric
from foldwise.stack.problem import Entry
from foldwise.stack.table.read import Cell, NodeTable, compact

NONE: Mapping[Cell, tuple[Cell, ...]] = MappingProxyType({})
# What a booster takes that is looked at after each round and asked about other rows, as times what
# it takes alone: 1.7, 1.9 and 2.0 on california_housing, letter and adult.
WATCHED_TIMES = 1.8


@dataclass(frozen=True)
class FitSettings:
    """How the cells of one deal are fitted."""

    owner: str  # the stack's name, for messages
    seed: int  # everything random is keyed to it
    run: Run = field(default_factory=Run)  # where fits take place, for how long, and who is told
    on_error: str = "drop"  # what a failing learner does
    tune: Mapping[str, Any] = field(default_factory=dict)  # grids, by learner
    metric: Metric | None = None  # what the points of a grid are compared by
    repeat: int = 0  # which deal this is
    quiet: bool = False  # whether what learners warn of is for nobody

    def seed_of(self, name: str, node: Node) -> int:
        """Return the seed of a learner at a node; the node of all rows has one for all deals."""
        deal = self.repeat if node else 0
        key = [self.seed, zlib.crc32(name.encode()), deal, len(node), *sorted(node)]
        return int(np.random.SeedSequence(key).generate_state(1)[0])


@dataclass(frozen=True)
class Job:
    """Learners to fit: one at many nodes by its shortcut, or several at one node.

    Or a booster at one node, that answers once for each part of the rows it is watched on.
    """

    cells: tuple[Cell, ...]
    assignments: tuple[Assignment, ...]
    tasks: tuple[NodeTask, ...]
    shortcut: bool = False
    after: tuple[Cell, ...] = ()  # the cells that tell its rounds

    @property
    def names(self) -> tuple[str, ...]:
        """The learners in it."""
        return tuple(sorted({cell[0] for cell in self.cells}))

    @property
    def size(self) -> float:
        """What its cost is in proportion to, for one learner."""
        rows = sum(len(task.train) for task in self.tasks)
        times = WATCHED_TIMES if self.watched else 1.0
        return float(max(times * rows * self.n_fits / len(self.tasks), 1))

    @property
    def n_fits(self) -> int:
        """How many fits it is."""
        return 1 if self.watched else len(self.cells)

    @property
    def watched(self) -> bool:
        """Whether its rounds are found on other rows."""
        return bool(self.tasks[0].watched)

    def of_rounds(self, fits: Mapping[Cell, Any], tasks: Mapping[Cell, NodeTask]) -> "Job":
        """Return the job with the rounds that fits before it tell."""
        rounds, sizes = zip(
            *((fits[c].rounds, len(tasks[c].train)) for c in self.after), strict=True
        )
        wanted = scaled_rounds(rounds, sizes, len(self.tasks[0].train))
        (assignment,) = self.assignments
        learner = with_rounds(assignment.learner, wanted)
        return replace(self, assignments=(replace(assignment, learner=learner),), after=())


def do_job(data: TrainingData, job: Job) -> list[NodeFit | Exception]:
    """Return one result a cell of the job."""
    if job.watched:
        return fit_watched(job.assignments[0], data, job.tasks[0])
    if not job.shortcut:
        return fit_at_node(job.assignments, data, job.tasks[0])
    (assignment,) = job.assignments
    try:
        return list(fit_nodes(assignment.learner, data, job.tasks, assignment.method))
    except Exception as error:
        return [error] * len(job.cells)


def do_quietly(data: TrainingData, job: Job) -> list[NodeFit | Exception]:
    """Do the same, and show no warning."""
    with QUIET:
        return do_job(data, job)


def plan_jobs(
    entries: Mapping[str, Entry],
    learners: Mapping[Cell, Any],
    data: TrainingData,
    tasks: Mapping[Cell, NodeTask],
    *,
    by_learner: bool = False,
    after: Mapping[Cell, tuple[Cell, ...]] = NONE,
) -> list[Job]:
    """Return the jobs of some cells: shortcuts first, then the others.

    ``after``: For some cells, those that tell their rounds. ``by_learner``: Whether one learner is
    to be finished before the next, in the user's order, because the run may end early; then a
    shortcut that takes long waits for its turn. If not, jobs go node by node, and learners that
    share their first step are one job.
    """
    by_shortcut: dict[tuple[str, int | None], list[Cell]] = {}
    by_node: dict[tuple[Node, str], list[Cell]] = {}
    for cell, learner in learners.items():
        name, node, point = cell
        if tasks[cell].watched or cell in after:
            by_node.setdefault((node, name), []).append(cell)
        elif shortcut_for(learner, data) is not None:
            by_shortcut.setdefault((name, point), []).append(cell)
        else:
            together = repr(cell) if by_learner else _first_step(learner, cell)
            by_node.setdefault((node, together), []).append(cell)

    def assignment(cell: Cell) -> Assignment:
        return Assignment(learners[cell], entries[cell[0]].method, tasks[cell].seed)

    shortcuts = [
        Job(tuple(cells), (assignment(cells[0]),), tuple(tasks[c] for c in cells), shortcut=True)
        for cells in by_shortcut.values()
        if len(cells) > 1
    ]
    jobs = []
    for cells in [*(c for c in by_shortcut.values() if len(c) == 1), *by_node.values()]:
        # Every learner is asked about the same rows at a node, so one task serves them all.
        own, task = tuple(assignment(cell) for cell in cells), (tasks[cells[0]],)
        jobs.append(Job(tuple(cells), own, task, after=after.get(cells[0], ())))
    if by_learner:
        order = list(entries)
        jobs += [job for job in shortcuts if takes_long(job.assignments[0].learner)]
        jobs.sort(key=lambda job: order.index(job.names[0]))
        shortcuts = [job for job in shortcuts if not takes_long(job.assignments[0].learner)]
    return shortcuts + jobs


def _first_step(learner: Any, cell: Cell) -> str:
    """Return what learners must have in common to be fitted in one job."""
    if not isinstance(learner, Pipeline) or len(learner.steps) < 2 or learner.memory is not None:
        return repr(cell)
    step = learner.steps[0][1]
    return joblib.hash((type(step), step.get_params())) if hasattr(step, "get_params") else ""


def found_in(
    store: RunStore, run: Run, keys: Mapping[Cell, str], jobs: Sequence[Job]
) -> dict[Cell, NodeFit]:
    """Return the fits that the run directory has already, and tell it which are to come."""
    fits = {cell: store.get(key) for cell, key in keys.items()}
    found = {cell: fit for cell, fit in fits.items() if isinstance(fit, NodeFit)}
    store.expect({key: about(cell) for cell, key in keys.items()})
    if found:
        done = sum(min(sum(cell in found for cell in job.cells), job.n_fits) for job in jobs)
        run.reused += done
        run.stream.skip(done)
    return found


def keys_of(data: TrainingData, jobs: Sequence[Job]) -> dict[Cell, str]:
    """Return the key of each cell: all that its result depends on; jobs before those after them."""
    whole = fingerprint(data)
    # The same rows are asked for by every learner.
    rows = {id(r): r for job in jobs for task in job.tasks for r in (task.train, task.test)}
    prints = {key: fingerprint(r) for key, r in rows.items()}
    keys = dict[Cell, str]()
    for job in jobs:
        for position, cell in enumerate(job.cells):
            assignment = job.assignments[0 if job.shortcut else position]
            task = job.tasks[position if job.shortcut else 0]
            seed = task.seed if job.shortcut else assignment.seed
            asked = assignment.learner, assignment.method
            between = prints[id(task.train)], prints[id(task.test)]
            told: list[Any] = [keys[before] for before in job.after]
            told += [cell[2], *task.watched] if job.watched else []
            keys[cell] = fingerprint(
                (whole, *asked, *between, seed, task.keep_model, job.shortcut, *told)
            )
    return keys


def about(cell: Cell) -> dict[str, Any]:
    """Return a cell in words of JSON, for people who look into the run."""
    name, node, point = cell
    said: dict[str, Any] = {"learner": name, "node": sorted(node)}
    return said if point is None else {**said, "point": point}


def fit_cells(
    table: NodeTable,
    entries: Sequence[Entry],
    data: TrainingData,
    tasks: Mapping[Cell, NodeTask],
    settings: FitSettings,
    learners: Mapping[Cell, Any] | None = None,
    after: Mapping[Cell, tuple[Cell, ...]] = NONE,
) -> None:
    """Fit learners at some cells and put predictions and models into the table.

    Without ``learners`` it is the entries' own, at the cells that the table does not have yet.
    ``after``: For some cells, those that tell their rounds.
    """
    by_name = {entry.name: entry for entry in entries}
    if learners is None:
        learners = {cell: by_name[cell[0]].learner for cell in tasks if not table.has(cell)}
    run = settings.run
    jobs = plan_jobs(by_name, learners, data, tasks, by_learner=run.by_learner, after=after)
    keys = {} if run.store is None else keys_of(data, jobs)
    known = {} if run.store is None else found_in(run.store, run, keys, jobs)
    jobs_left = [job for job in jobs if any(cell not in known for cell in job.cells)]
    results: dict[Cell, NodeFit | Exception] = {}

    def absorb(index: int, fits: Any) -> set[str]:
        job = jobs_left[index]
        fits = fits if isinstance(fits, list) else [fits] * len(job.cells)
        for cell, fit in zip(job.cells, fits, strict=True):
            # What failed is tried again another time.
            if run.store is not None and isinstance(fit, NodeFit):
                seconds = fit.fit_seconds + fit.predict_seconds
                run.store.put(keys[cell], fit, {**about(cell), "seconds": seconds})
        results.update(zip(job.cells, fits, strict=True))
        failed = [cell for cell in job.cells if isinstance(results[cell], Exception)]
        if failed and settings.on_error == "raise":
            (name, node, _), error = failed[0], results[failed[0]]
            assert isinstance(error, Exception)
            error.add_note(f"{settings.owner}: learner {name!r} failed {_node_words(node)}.")
            raise error
        return {cell[0] for cell in failed}

    plan = _as_tasks(jobs_left, known, results, tasks)
    run.do(do_quietly if settings.quiet else do_job, data, plan, absorb)
    # In plan order, whatever order they came in: one run, one result.
    for cell in [cell for job in jobs for cell in job.cells]:
        fit = known.pop(cell, None) or results.pop(cell, None)
        if fit is not None:
            _record(table, by_name[cell[0]], cell, tasks[cell], fit, data.n_classes)
    for name in by_name:
        if name in run.dropped and name not in table.failures:
            table.drop(name, run.dropped[name])


def _as_tasks(
    jobs: Sequence[Job],
    known: dict[Cell, NodeFit],
    results: dict[Cell, NodeFit | Exception],
    tasks: Mapping[Cell, NodeTask],
) -> list[Task]:
    """Return jobs as tasks; those whose rounds others tell are made once these are done."""
    place = {cell: index for index, job in enumerate(jobs) for cell in job.cells}
    fitted, plan = ChainMap[Cell, Any](results, known), []
    for job in jobs:
        fits = max(job.n_fits - sum(cell in known for cell in job.cells), 1)
        before = tuple(sorted({place[cell] for cell in job.after if cell in place}))
        made: Any = partial(job.of_rounds, fitted, tasks) if job.after else job
        made = made() if job.after and not before else made
        plan.append(Task(made, job.names, fits, job.size, before))
    return plan


def _record(
    table: NodeTable,
    entry: Entry,
    cell: Cell,
    task: NodeTask,
    fit: NodeFit | Exception,
    n_classes: int | None,
) -> None:
    if entry.name in table.failures:
        return
    if isinstance(fit, Exception):
        reason = f"{_node_words(cell[1])}: {type(fit).__name__}: {fit}"
        table.drop(entry.name, reason)
        return
    if len(task.test):
        table.predictions[cell] = (task.test, compact(fit.predictions, entry.kind, n_classes))
    if task.keep_model:
        table.models[cell] = fit.model
    table.fit_seconds[entry.name] += fit.fit_seconds
    table.predict_seconds[entry.name] += fit.predict_seconds
    # One fit may answer for two folds.
    table.n_fits[entry.name] += not task.watched or cell[2] == min(cell[1])


def _node_words(node: Node) -> str:
    if not node:
        return "on all rows"
    folds = ", ".join(str(fold) for fold in sorted(node))
    return f"without fold{'s' if len(node) > 1 else ''} {folds}"


def check_failures(
    table: NodeTable, entries: Sequence[Entry], settings: FitSettings
) -> tuple[Entry, ...]:
    """Warn once for each learner that failed; return those that are left."""
    left = tuple(entry for entry in entries if entry.name not in table.failures)
    failed = [entry for entry in entries if entry.name in table.failures]
    if not left:
        _refuse(failed, table, settings)
    for entry in failed:
        if entry.name not in settings.run.dropped:
            warn(
                f"{settings.owner}: learner {entry.name!r} was dropped, it failed "
                f"{table.failures[entry.name]}. Set on_error='raise' to stop instead.",
                LearnerFailedWarning,
            )
    return left


def _refuse(failed: Sequence[Entry], table: NodeTable, settings: FitSettings) -> None:
    """Say why nothing is left."""
    if settings.run.interrupted:
        raise KeyboardInterrupt
    causes = "; ".join(f"{e.name!r} {table.failures[e.name]}" for e in failed[:10])
    if any(entry.name in settings.run.dropped for entry in failed):
        raise AllLearnersFailedError(
            f"{settings.owner}: time_budget must be enough for at least one learner; got "
            f"{settings.run.clock.budget:g} s: {causes}. Give more time, or a cheap learner first."
        )
    raise AllLearnersFailedError(
        f"{settings.owner}: estimators must leave at least one learner that can be fitted; "
        f"all failed: {causes}. Mend the data or the learners."
    )
