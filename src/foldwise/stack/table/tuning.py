"""Learners tuned inside the lattice: one set of parameters for each left-out fold.

The seed's "training models to be stacked": the parameters used to predict fold i are found by
a search over the pairs {i, j}, which never saw fold i. So a pair may be fitted at two points
of the grid, and each fold's deployed model has the parameters of its own fold.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from foldwise.arrays import ROW_NUMBER
from foldwise.checks import check_type, unknown_word
from foldwise.errors import Plain, invalid_parameter
from foldwise.folds import EVERYTHING, Block, Lattice, Node, Ref, partners_of, rows_inside
from foldwise.learners import NodeTask
from foldwise.learners.prepare import cloned
from foldwise.learners.watched import finds_rounds
from foldwise.stack.problem import Entry, StackProblem
from foldwise.stack.table.jobs import FitSettings, fit_cells
from foldwise.stack.table.layers import Dealt
from foldwise.stack.table.read import Cell, Layer, NodeTable, fold_numbers, rows_of
from foldwise.stack.table.rounds import ROUNDS, can_find_rounds


def n_fits(
    layers: Sequence[Sequence[Entry]],
    deals: Sequence[Dealt],
    tune: Mapping[str, Any],
    before: Sequence[Any],
) -> int:
    """Return how many fits there will be, about: cells known ``before`` are not looked for."""
    known = {e.name for old in before[:1] for layer in old.layers for e in layer.entries}
    total = 0
    for dealt in deals:
        for entries, needs in zip(layers, dealt.needs, strict=True):
            pairs = sum(len(node) == 2 for node in needs.rows)
            for name in [entry.name for entry in entries if entry.name not in known]:
                grid = tune.get(name, ROUNDS)
                points = 1 if grid == ROUNDS else len(ParameterGrid(grid))
                total += len(needs.rows) + (points - 1) * pairs
    return total


def checked_tune(
    owner: str, tune: Any, layers: list[list[Entry]], lattice: Lattice, score_se: str
) -> dict[str, Any]:
    """Return what is tuned inside the lattice, or refuse what cannot be.

    Where no rounds can be found there, a booster stops by itself.
    """
    fix = "Use e.g. {'ridge': {'alpha': [0.1, 1, 10]}}."
    check_type(owner, "tune", tune, Mapping, "be a dict from learner names to grids", fix)
    known = {entry.name: entry.learner for layer in layers for entry in layer}
    for name in tune:
        if name not in known:
            raise unknown_word(owner, "tune", name, known, "name learners of the stack")
    rounds = {name for name, grid in tune.items() if isinstance(grid, str)}
    for name in rounds:
        if tune[name] != ROUNDS or not finds_rounds(known[name]):
            must = f"be a grid for {name!r}; 'rounds' is for boosters that stop early"
            fix = "Use e.g. {'max_leaf_nodes': [8, 31]}."
            raise invalid_parameter(owner, "tune", must=must, got=tune[name], fix=fix)
    grids = {name: grid for name, grid in tune.items() if name not in rounds}
    if grids:
        _check_grids(owner, grids, layers, lattice, score_se)
    return {**tune} if can_find_rounds(lattice, len(layers), score_se) else grids


def _check_grids(
    owner: str, grids: dict[str, Any], layers: list[list[Entry]], lattice: Lattice, score_se: str
) -> None:
    if score_se == "nested":
        must, fix = "be 'learners' with tune", "Wrap the learner in GridSearchCV instead."
        raise invalid_parameter(owner, "score_se", must=must, got="nested", fix=fix)
    wrap = "Wrap the learner in GridSearchCV, which is honest at every node."
    if len(layers) > 1:
        must = "be None with several layers"
        raise invalid_parameter(owner, "tune", must=must, got=grids, fix=wrap)
    if lattice.kind != "partition" or lattice.n_folds < 3:
        kinds = {"forward": "forward in time", "single": "a single split"}
        got = Plain(f"{grids!r} with {kinds.get(lattice.kind, 'two folds')}")
        must = "be None unless cv deals at least three folds in no order"
        raise invalid_parameter(owner, "tune", must=must, got=got, fix=wrap)
    learners = {entry.name: entry.learner for entry in layers[0]}
    for name, grid in grids.items():
        known = learners[name].get_params()
        strange = {key for point in ParameterGrid(grid) for key in point} - set(known)
        if strange:
            must = f"hold parameters of {name!r}"
            raise unknown_word(owner, "tune", min(strange), known, must)


def tune_learner(
    table: NodeTable,
    entry: Entry,
    problem: StackProblem,
    dealt: Dealt,
    settings: FitSettings,
) -> None:
    """Fit a tuned learner wherever it is read, and write its choices into the table."""
    lattice, reading = dealt.lattice, dealt.reading
    grid = ParameterGrid(settings.tune[entry.name])
    learners = [cloned(entry.learner).set_params(**point) for point in grid]
    search = _PointSearch(table, entry, learners, problem, lattice, settings)
    folds = range(lattice.n_folds)
    others = {i: partners_of(i, lattice.n_folds, reading.partners) for i in folds}
    pairs = {(i, j): lattice.canonical(frozenset({i, j})) for i in folds for j in others[i]}
    single = {i: lattice.canonical(frozenset({i})) for i in folds}
    search.fit_everywhere(pairs.values(), keep=bool(reading.kept & set(pairs.values())))
    if entry.name in table.failures:
        return
    chosen: dict[int | None, int | None] = {}
    for i in folds:
        inside = [
            Block(rows_inside(lattice.tests[j], lattice.trains[i]), (Ref(pairs[i, j]),))
            for j in others[i]
        ]
        chosen[i] = search.best([block for block in inside if len(block.rows)])
    chosen[None] = chosen[0]
    if reading.predict_with == "refit":
        search.fit_everywhere(single.values(), keep=True)
        if entry.name in table.failures:
            return
        over_all = [Block(lattice.tests[i], (Ref(single[i]),)) for i in folds]
        chosen[None] = search.best(over_all)
        search.fit([(entry.name, EVERYTHING, chosen[None])], keep=True)
    elif reading.reads(single.values()):
        search.fit([(entry.name, single[i], chosen[i]) for i in folds], keep=True)
    table.choices[entry.name] = chosen


@dataclass(frozen=True)
class _PointSearch:
    """One learner at the points of its grid."""

    table: NodeTable
    entry: Entry
    learners: list[Any]
    problem: StackProblem
    lattice: Lattice
    settings: FitSettings

    def fit_everywhere(self, nodes: Iterable[Node], keep: bool) -> None:
        """Fit every point at every node."""
        points = range(len(self.learners))
        self.fit([(self.entry.name, n, p) for n in dict.fromkeys(nodes) for p in points], keep)

    def fit(self, cells: Sequence[Cell], keep: bool) -> None:
        """Fit some points at some nodes, and predict the folds they were not fitted on."""
        tasks = {}
        for cell in cells:
            node, rows = cell[1], self.lattice.rows(cell[1])
            # A node may stand for others with the same rows, so its own folds are not enough.
            outside = self.lattice.fold_of >= 0
            outside[rows] = False
            seed = self.settings.seed_of(self.entry.name, node)
            tasks[cell] = NodeTask(rows, np.flatnonzero(outside).astype(ROW_NUMBER), seed, keep)
        learners = {cell: self.learners[cell[2] or 0] for cell in cells}
        fit_cells(self.table, [self.entry], self.problem.data, tasks, self.settings, learners)

    def best(self, blocks: list[Block]) -> int:
        """Return the point with the best score on the blocks' rows; the first if there are none."""
        if not blocks:
            return 0
        layer = Layer((self.entry,), self.table, self.problem)
        target = self.problem.target(rows_of(blocks), fold_numbers(blocks))
        metric, scores = self.settings.metric, []
        assert metric is not None
        for point in range(len(self.learners)):
            owners = [None, *range(self.lattice.n_folds)]
            self.table.choices[self.entry.name] = dict.fromkeys(owners, point)
            scores.append(metric.score(layer.features(blocks).alone(0), target))
        return int(np.nanargmax(scores))
