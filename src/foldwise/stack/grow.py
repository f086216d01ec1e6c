"""Fitting the table: every learner at every node that something is read from."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import joblib
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from foldwise.engine import Progress, run_jobs
from foldwise.errors import AllLearnersFailedError, LearnerFailedWarning, warn
from foldwise.folds import Lattice, Node
from foldwise.folds.needs import Needs
from foldwise.learners import NodeFit, NodeTask, TrainingData, fit_nodes
from foldwise.learners.general import Assignment, fit_at_node
from foldwise.learners.shortcuts import shortcut_for
from foldwise.stack.entries import Entry
from foldwise.stack.features import compact
from foldwise.stack.table import Cell, Table


@dataclass(frozen=True)
class Settings:
    """How a stack is grown.

    Attributes
    ----------
    owner : str
        The stack's name, for messages.
    seed : int
        Everything random is keyed to it.
    n_jobs : int or None
        As in scikit-learn.
    on_error : {"drop", "raise"}
        What a failing learner does.
    repeat : int
        Which deal this is.
    progress : Progress
        Told of every finished fit.
    """

    owner: str
    seed: int
    n_jobs: int | None = None
    on_error: str = "drop"
    repeat: int = 0
    progress: Progress = field(default_factory=lambda: Progress("", 0, 0))

    def seed_of(self, name: str, node: Node) -> int:
        """Return the seed of a learner at a node; the node of all rows has one for all deals."""
        deal = self.repeat if node else 0
        key = [self.seed, zlib.crc32(name.encode()), deal, len(node), *sorted(node)]
        return int(np.random.SeedSequence(key).generate_state(1)[0])


@dataclass(frozen=True)
class Job:
    """Learners to fit: one at many nodes by its shortcut, or several at one node."""

    cells: tuple[Cell, ...]
    assignments: tuple[Assignment, ...]
    tasks: tuple[NodeTask, ...]

    @property
    def names(self) -> set[str]:
        """The learners in it."""
        return {cell[0] for cell in self.cells}


def do_job(data: TrainingData, job: Job) -> list[NodeFit | Exception]:
    """Return one result a cell of the job."""
    if len(job.assignments) == len(job.cells):
        return fit_at_node(job.assignments, data, job.tasks[0])
    (assignment,) = job.assignments
    try:
        return list(fit_nodes(assignment.learner, data, job.tasks, assignment.method))
    except Exception as error:
        return [error] * len(job.cells)


def fit_cells(
    table: Table,
    entries: Mapping[str, Entry],
    learners: Mapping[Cell, Any],
    data: TrainingData,
    tasks: Mapping[Cell, NodeTask],
    settings: Settings,
) -> None:
    """Fit the learners of some cells and put predictions and models into the table.

    Parameters
    ----------
    table : Table
        Filled in; learners that fail are dropped from it.
    entries : mapping from name to Entry
        What is asked of each learner.
    learners : mapping from cell to estimator
        The learner of each cell.
    data : TrainingData
        All rows.
    tasks : mapping from cell to NodeTask
        What to fit on and predict.
    settings : Settings
        How.
    """
    jobs = _plan(entries, learners, data, tasks)
    results = run_jobs(
        do_job,
        data,
        jobs,
        n_jobs=settings.n_jobs,
        wanted=lambda job: bool(job.names - table.failures.keys()),
    )
    for job, fits in results:
        settings.progress.step(", ".join(sorted(job.names)), len(job.cells))
        for cell, fit in zip(job.cells, fits, strict=True):
            _record(table, entries[cell[0]], cell, tasks[cell], fit, data.n_classes, settings)


def _record(
    table: Table,
    entry: Entry,
    cell: Cell,
    task: NodeTask,
    fit: NodeFit | Exception,
    n_classes: int | None,
    settings: Settings,
) -> None:
    if entry.name in table.failures:
        return
    if isinstance(fit, Exception):
        where = _node_words(cell[1])
        reason = f"{where}: {type(fit).__name__}: {fit}"
        if settings.on_error == "raise":
            fit.add_note(f"{settings.owner}: learner {entry.name!r} failed {where}.")
            raise fit
        table.drop(entry.name, reason)
        return
    values = fit.predictions
    if len(task.test):
        table.predictions[cell] = (task.test, compact(values, entry.kind, n_classes))
    if task.keep_model:
        table.models[cell] = fit.model
    table.fit_seconds[entry.name] += fit.fit_seconds
    table.predict_seconds[entry.name] += fit.predict_seconds
    table.n_fits[entry.name] += 1


def _node_words(node: Node) -> str:
    if not node:
        return "on all rows"
    folds = ", ".join(str(fold) for fold in sorted(node))
    return f"without fold{'s' if len(node) > 1 else ''} {folds}"


def _plan(
    entries: Mapping[str, Entry],
    learners: Mapping[Cell, Any],
    data: TrainingData,
    tasks: Mapping[Cell, NodeTask],
) -> list[Job]:
    """Order the jobs: shortcuts first, then node by node, learners that share a start together."""
    by_shortcut: dict[tuple[str, int | None], list[Cell]] = {}
    by_node: dict[tuple[Node, str], list[Cell]] = {}
    for cell, learner in learners.items():
        name, node, point = cell
        if shortcut_for(learner, data) is not None:
            by_shortcut.setdefault((name, point), []).append(cell)
        else:
            by_node.setdefault((node, _first_step(learner, cell)), []).append(cell)

    def assignment(cell: Cell) -> Assignment:
        return Assignment(learners[cell], entries[cell[0]].method, tasks[cell].seed)

    jobs = [
        Job(tuple(cells), (assignment(cells[0]),), tuple(tasks[cell] for cell in cells))
        for cells in by_shortcut.values()
        if len(cells) > 1
    ]
    single = [cells for cells in by_shortcut.values() if len(cells) == 1]
    for cells in [*single, *by_node.values()]:
        for part in _same_test_rows(cells, tasks):
            jobs.append(Job(tuple(part), tuple(assignment(c) for c in part), (tasks[part[0]],)))
    return jobs


def _same_test_rows(cells: Sequence[Cell], tasks: Mapping[Cell, NodeTask]) -> Iterator[list[Cell]]:
    """Split cells of one node by what they predict, so that one task serves each part."""
    parts: dict[tuple[bytes, bool], list[Cell]] = {}
    for cell in cells:
        task = tasks[cell]
        parts.setdefault((task.test.tobytes(), task.keep_model), []).append(cell)
    yield from parts.values()


def _first_step(learner: Any, cell: Cell) -> str:
    """Return what learners must have in common to be fitted in one job."""
    if not isinstance(learner, Pipeline) or len(learner.steps) < 2 or learner.memory is not None:
        return repr(cell)
    step = learner.steps[0][1]
    return joblib.hash((type(step), step.get_params())) if hasattr(step, "get_params") else ""


def check_failures(table: Table, entries: Sequence[Entry], settings: Settings) -> tuple[Entry, ...]:
    """Warn once for each dropped learner; return those that are left.

    Parameters
    ----------
    table : Table
        After fitting.
    entries : sequence of Entry
        The learners of a layer.
    settings : Settings
        Who complains.

    Returns
    -------
    tuple of Entry
        Never empty: an error lists all causes if it would be.
    """
    left = tuple(entry for entry in entries if entry.name not in table.failures)
    failed = [entry for entry in entries if entry.name in table.failures]
    if not left:
        causes = "; ".join(f"{e.name!r} {table.failures[e.name]}" for e in failed[:10])
        raise AllLearnersFailedError(
            f"{settings.owner}: estimators must leave at least one learner that can be fitted; "
            f"all failed: {causes}. Mend the data or the learners."
        )
    for entry in failed:
        warn(
            f"{settings.owner}: learner {entry.name!r} was dropped, it failed "
            f"{table.failures[entry.name]}. Set on_error='raise' to stop instead.",
            LearnerFailedWarning,
        )
    return left


def lowest_tasks(
    names: Sequence[str],
    needs: Needs,
    lattice: Lattice,
    kept: frozenset[Node],
    settings: Settings,
) -> dict[Cell, NodeTask]:
    """Return the task of each learner at each node of the lowest layer."""
    rows = {node: (lattice.rows(node), needs.of(node)) for node in needs.rows}
    return {
        (name, node, None): NodeTask(*rows[node], settings.seed_of(name, node), node in kept)
        for node in needs.rows
        for name in names
    }


def grid_points(learner: Any, grid: Any) -> list[Any]:
    """Return the learner at each point of its grid."""
    return [clone(learner).set_params(**point) for point in ParameterGrid(grid)]


def stacked_rows(parts: Sequence[Any]) -> Any:
    """Return matrices or frames of the same columns one below the other."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.vstack(parts)
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack(parts, format="csr")
    return pd.concat(parts, axis=0, ignore_index=True)
