"""One deal from learners to verdict: the algorithm, read from top to bottom."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foldwise.folds import (
    Block,
    Lattice,
    Needs,
    Node,
    Reading,
    Ref,
    first_folds,
    needs_of,
    upper_blocks,
)
from foldwise.learners import NodeTask, TrainingData
from foldwise.scores.metric import Metric
from foldwise.stack.entries import Entry
from foldwise.stack.features import Features
from foldwise.stack.grow import (
    Settings,
    check_failures,
    fit_cells,
    lowest_tasks,
    stacked_rows,
)
from foldwise.stack.idle import idle_learners
from foldwise.stack.judge import Judge, Verdict
from foldwise.stack.reader import Problem, Reader, rows_of, weights_of
from foldwise.stack.stackers import Candidate
from foldwise.stack.table import Cell, Table
from foldwise.stack.tuning import tune_learner


@dataclass(frozen=True)
class Deal:
    """A whole stack over one deal of the rows."""

    lattice: Lattice  # the deal
    reading: Reading  # what is read from which node
    readers: tuple[Reader, ...]  # one a layer, the lowest first
    verdict: Verdict  # the deployed stacker and how it was judged

    @property
    def top(self) -> Reader:
        """The learners the stacker reads."""
        return self.readers[-1]

    def fresh(self, X: Any, refs: Sequence[Ref], stacker: Any = None) -> Features:
        """Return the top features of new rows, the mean over some nodes."""
        if len(self.readers) == 1:
            idle = idle_learners(stacker, [entry.name for entry in self.top.entries])
            return self.top.fresh(X, refs, X, idle)
        each = [self._chain(X, ref) for ref in dict.fromkeys(Ref(ref.node) for ref in refs)]
        outputs = [
            np.mean([features.outputs[m] for features in each], axis=0)
            for m in range(len(self.top.entries))
        ]
        return self.top.with_outputs(outputs, X)

    def _chain(self, X: Any, ref: Ref) -> Features:
        read, features = X, None
        for reader in self.readers:
            features = reader.fresh(read, (ref,), X)
            read = features.matrix
        assert features is not None
        return features


def build_readers(
    layers: Sequence[Sequence[Entry]],
    *,
    problem: Problem,
    lattice: Lattice,
    reading: Reading,
    metric: Metric,
    settings: Settings,
    tune: Mapping[str, Any] | None = None,
    known: Sequence[Table] = (),
) -> tuple[Reader, ...]:
    """Fit every learner at every node that something is read from."""
    needs = needs_of(reading, lattice, len(layers))
    firsts = first_folds(lattice, len(layers))
    readers: list[Reader] = []
    shares = _shares(layers, needs)
    for level, entries in enumerate(layers):
        table = Table()
        settings.run.clock.slice(shares[level])
        before = known[level] if level < len(known) else Table()
        names = [e.name for e in entries if not (tune and e.name in tune)]
        if level == 0:
            tasks = lowest_tasks(names, needs[0], lattice, reading.kept, settings)
            table.take_over(before, tasks)
            _fit_known_data(table, entries, tasks, problem.data, settings)
            for entry in entries:
                if tune and entry.name in tune and not table.take_over_tuned(before, entry.name):
                    tune_learner(
                        table, entry, tune[entry.name], problem, lattice, reading, metric, settings
                    )
        else:
            for node in needs[level].rows:
                _fit_upper(
                    table, entries, readers[-1], needs[level], node, firsts[level - 1], lattice,
                    reading, settings, before,
                )  # fmt: skip
        if level and all(entry.name in settings.run.dropped for entry in entries):
            # Time ran out above: the layers below are a stack of their own.
            break
        left = check_failures(table, entries, settings)
        readers.append(Reader(left, table, problem))
    settings.run.clock.slice(1.0)
    _forget_models(readers[-1], reading)
    return tuple(readers)


def _shares(layers: Sequence[Sequence[Entry]], needs: Sequence[Needs]) -> list[float]:
    """Return the share of the time left that each layer gets, the last all of it."""
    fits = [len(entries) * len(asked.rows) for entries, asked in zip(layers, needs, strict=True)]
    return [fits[level] / max(sum(fits[level:]), 1) for level in range(len(layers))]


def _fit_known_data(
    table: Table,
    entries: Sequence[Entry],
    tasks: Mapping[Cell, NodeTask],
    data: TrainingData,
    settings: Settings,
) -> None:
    by_name = {entry.name: entry for entry in entries}
    new = {cell: task for cell, task in tasks.items() if not table.has(cell)}
    learners = {cell: by_name[cell[0]].learner for cell in new}
    fit_cells(table, by_name, learners, data, new, settings)


def _fit_upper(
    table: Table,
    entries: Sequence[Entry],
    below: Reader,
    needs: Needs,
    node: Node,
    first: int,
    lattice: Lattice,
    reading: Reading,
    settings: Settings,
    before: Table,
) -> None:
    """Fit a layer's learners at one node, on features of the layer below."""
    cells: list[Cell] = [(entry.name, node, None) for entry in entries]
    table.take_over(before, dict.fromkeys(cells))
    if all(table.has(cell) for cell in cells):
        return
    blocks, asked = upper_blocks(lattice, node, first), needs.of(node)
    parts = [below.features(blocks).matrix]
    if len(asked):
        parts.append(below.features((Block(asked, (Ref(node),)),)).matrix)
    rows, everything = rows_of(blocks), below.problem.data
    y = everything.y[np.concatenate([rows, asked])]
    weight = weights_of(blocks, everything.sample_weight)
    if weight is not None:
        weight = np.concatenate([weight, np.zeros(len(asked))])
    groups = None if everything.groups is None else everything.groups[np.concatenate([rows, asked])]
    data = TrainingData(stacked_rows(parts), y, weight, everything.n_classes, groups)
    train, test = np.arange(len(rows)), np.arange(len(rows), len(y))
    tasks = {
        cell: NodeTask(train, test, settings.seed_of(cell[0], node), node in reading.kept)
        for cell in cells
    }
    _fit_known_data(table, entries, tasks, data, settings)
    for cell in cells:
        if cell in table.predictions:
            table.predictions[cell] = (asked, table.predictions[cell][1])


def _forget_models(reader: Reader, reading: Reading) -> None:
    """Keep only the models that prediction needs; a tuned learner was fitted at many points."""
    refs = [*reading.deployed, *(ref for j in reading.judgements for ref in j.fresh)]
    cells = {cell for e in reader.entries for cell in reader.table.cells(e.name, refs)}
    reader.table.keep_models(cells)


def build_deal(
    readers: tuple[Reader, ...],
    lattice: Lattice,
    reading: Reading,
    candidates: tuple[Candidate, ...],
    metric: Metric,
    seed: int,
) -> Deal:
    """Choose and judge the stacker on top of fitted learners."""
    verdict = Judge(readers[-1], reading, candidates, metric, seed).verdict()
    return Deal(lattice, reading, readers, verdict)
