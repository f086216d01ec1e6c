"""The plan of a table: which fits go together, and in which order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import joblib
from sklearn.pipeline import Pipeline

from foldwise.folds import Node
from foldwise.learners import (
    Assignment,
    NodeFit,
    NodeTask,
    TrainingData,
    fit_at_node,
    fit_nodes,
    shortcut_for,
)
from foldwise.stack.entries import Entry
from foldwise.stack.table import Cell


@dataclass(frozen=True)
class Job:
    """Learners to fit: one at many nodes by its shortcut, or several at one node."""

    cells: tuple[Cell, ...]
    assignments: tuple[Assignment, ...]
    tasks: tuple[NodeTask, ...]
    shortcut: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The learners in it."""
        return tuple(sorted({cell[0] for cell in self.cells}))

    @property
    def size(self) -> float:
        """What its cost is in proportion to, for one learner."""
        rows = sum(len(task.train) for task in self.tasks)
        return float(max(rows * len(self.cells) / len(self.tasks), 1))


def do_job(data: TrainingData, job: Job) -> list[NodeFit | Exception]:
    """Return one result a cell of the job."""
    if not job.shortcut:
        return fit_at_node(job.assignments, data, job.tasks[0])
    (assignment,) = job.assignments
    try:
        return list(fit_nodes(assignment.learner, data, job.tasks, assignment.method))
    except Exception as error:
        return [error] * len(job.cells)


def plan_jobs(
    entries: Mapping[str, Entry],
    learners: Mapping[Cell, Any],
    data: TrainingData,
    tasks: Mapping[Cell, NodeTask],
    *,
    by_learner: bool = False,
) -> list[Job]:
    """Return the jobs of some cells: shortcuts first, then the others.

    ``by_learner``: Whether one learner is to be finished before the next, in the user's order,
    because the run may end early. If not, jobs go node by node, and learners that share their first
    step are one job.
    """
    by_shortcut: dict[tuple[str, int | None], list[Cell]] = {}
    by_node: dict[tuple[Node, str], list[Cell]] = {}
    for cell, learner in learners.items():
        name, node, point = cell
        if shortcut_for(learner, data) is not None:
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
    single = [cells for cells in by_shortcut.values() if len(cells) == 1]
    jobs = [
        Job(tuple(part), tuple(assignment(c) for c in part), (tasks[part[0]],))
        for cells in [*single, *by_node.values()]
        for part in _same_test_rows(cells, tasks)
    ]
    if by_learner:
        order = list(entries)
        jobs.sort(key=lambda job: order.index(job.names[0]))
    return shortcuts + jobs


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
