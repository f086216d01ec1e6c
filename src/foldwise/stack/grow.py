"""Fitting the table: every learner at every node that something is read from."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from foldwise.engine import Run, Task
from foldwise.errors import AllLearnersFailedError, LearnerFailedWarning, warn
from foldwise.folds import Lattice, Needs, Node
from foldwise.learners import NodeFit, NodeTask, TrainingData
from foldwise.stack.entries import Entry
from foldwise.stack.features import compact
from foldwise.stack.plan import Job, do_job, plan_jobs
from foldwise.stack.stored import StoredCells
from foldwise.stack.table import Cell, Table


@dataclass(frozen=True)
class Settings:
    """How a stack is grown."""

    owner: str  # the stack's name, for messages
    seed: int  # everything random is keyed to it
    run: Run = field(default_factory=Run)  # where fits take place, for how long, and who is told
    on_error: str = "drop"  # what a failing learner does
    repeat: int = 0  # which deal this is

    def seed_of(self, name: str, node: Node) -> int:
        """Return the seed of a learner at a node; the node of all rows has one for all deals."""
        deal = self.repeat if node else 0
        key = [self.seed, zlib.crc32(name.encode()), deal, len(node), *sorted(node)]
        return int(np.random.SeedSequence(key).generate_state(1)[0])


def fit_cells(
    table: Table,
    entries: Mapping[str, Entry],
    learners: Mapping[Cell, Any],
    data: TrainingData,
    tasks: Mapping[Cell, NodeTask],
    settings: Settings,
) -> None:
    """Fit the learners of some cells and put predictions and models into the table."""
    run = settings.run
    results: dict[Cell, NodeFit | Exception] = {}
    jobs = plan_jobs(entries, learners, data, tasks, by_learner=run.by_learner)
    stored = StoredCells(run, data)
    known = stored.find(jobs)
    jobs_left = [job for job in jobs if any(cell not in known for cell in job.cells)]

    def absorb(index: int, fits: Any) -> set[str]:
        job = jobs_left[index]
        fits = fits if isinstance(fits, list) else [fits] * len(job.cells)
        stored.keep(job, fits)
        results.update(zip(job.cells, fits, strict=True))
        if settings.on_error == "raise":
            _raise_first(job, fits, settings)
        return {c[0] for c, fit in zip(job.cells, fits, strict=True) if isinstance(fit, Exception)}

    plan = [
        Task(job, job.names, sum(cell not in known for cell in job.cells), job.size)
        for job in jobs_left
    ]
    run.do(do_job, data, plan, absorb)
    # In plan order, whatever order they came in: one run, one result.
    for cell in [cell for job in jobs for cell in job.cells]:
        fit = known.pop(cell, None) or results.pop(cell, None)
        if fit is not None:
            _record(table, entries[cell[0]], cell, tasks[cell], fit, data.n_classes)
    for name in entries:
        if name in run.dropped and name not in table.failures:
            table.drop(name, run.dropped[name])


def _raise_first(job: Job, fits: Sequence[NodeFit | Exception], settings: Settings) -> None:
    for cell, fit in zip(job.cells, fits, strict=True):
        if isinstance(fit, Exception):
            where = _node_words(cell[1])
            fit.add_note(f"{settings.owner}: learner {cell[0]!r} failed {where}.")
            raise fit


def _record(
    table: Table,
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


def check_failures(table: Table, entries: Sequence[Entry], settings: Settings) -> tuple[Entry, ...]:
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


def _refuse(failed: Sequence[Entry], table: Table, settings: Settings) -> None:
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
