"""Cells of the table that are kept in a run directory, and found there again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from foldwise.engine import Run, fingerprint
from foldwise.learners import NodeFit, TrainingData
from foldwise.stack.plan import Job
from foldwise.stack.table import Cell


@dataclass
class StoredCells:
    """Finds and keeps finished fits of one set of rows."""

    run: Run  # the run; without a store nothing is found and nothing kept
    data: TrainingData  # all rows
    _rows: dict[int, tuple[Any, str]] = field(default_factory=dict)
    _data: str = ""
    _keys: dict[tuple[Cell, ...], dict[Cell, str]] = field(default_factory=dict)

    def find(self, jobs: Sequence[Job]) -> dict[Cell, NodeFit]:
        """Return the fits that are there already, and say which are to come."""
        store = self.run.store
        if store is None:
            return {}
        found: dict[Cell, NodeFit] = {}
        plan = {}
        for job in jobs:
            for cell, key in self.keys(job).items():
                plan[key] = about(cell)
                fit = store.get(key)
                if isinstance(fit, NodeFit):
                    found[cell] = fit
        expect = getattr(store, "expect", None)
        if expect is not None:
            expect(plan)
        self.run.reused += len(found)
        return found

    def keep(self, job: Job, fits: Sequence[NodeFit | Exception]) -> None:
        """Keep what was fitted; what failed is tried again another time."""
        if self.run.store is None:
            return
        for (cell, key), fit in zip(self.keys(job).items(), fits, strict=True):
            if isinstance(fit, NodeFit):
                seconds = fit.fit_seconds + fit.predict_seconds
                self.run.store.put(key, fit, {**about(cell), "seconds": seconds})

    def keys(self, job: Job) -> dict[Cell, str]:
        """Return the key of each cell: all that its result depends on."""
        if job.cells in self._keys:
            return self._keys[job.cells]
        self._data = self._data or fingerprint(self.data)
        keys = self._keys[job.cells] = {}
        for position, cell in enumerate(job.cells):
            assignment = job.assignments[0 if job.shortcut else position]
            task = job.tasks[position if job.shortcut else 0]
            keys[cell] = fingerprint(
                (
                    self._data,
                    assignment.learner,
                    assignment.method,
                    self.rows(task.train),
                    self.rows(task.test),
                    task.seed if job.shortcut else assignment.seed,
                    task.keep_model,
                    job.shortcut,
                )
            )
        return keys

    def rows(self, rows: Any) -> str:
        """Return the key of some rows; the same ones are asked for by every learner."""
        if id(rows) not in self._rows:
            self._rows[id(rows)] = (rows, fingerprint(rows))
        return self._rows[id(rows)][1]


def about(cell: Cell) -> dict[str, Any]:
    """Return a cell in words of JSON, for people who look into the run."""
    name, node, point = cell
    said: dict[str, Any] = {"learner": name, "node": sorted(node)}
    return said if point is None else {**said, "point": point}
