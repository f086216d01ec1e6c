"""Rounds of a booster found inside the lattice: for each judged fold on all others.

A model without folds i and j is boosted once and watched on both. Where fold i is judged it is read
as it was when the loss on fold j was lowest, where fold j is judged as on fold i: no row is set
apart, and nothing by which a fold is judged saw it. The model without fold i alone has the mean of
the rounds found for i, in proportion to its rows.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from foldwise.arrays import IntArray
from foldwise.folds import Lattice, Node
from foldwise.learners import NodeTask
from foldwise.stack.table.jobs import FitSettings
from foldwise.stack.table.layers import Dealt
from foldwise.stack.table.read import Cell, NodeTable

ROUNDS = "rounds"
# Of a fold; all other folds have as many.
MOST_WATCHED = 1000


def can_find_rounds(lattice: Lattice, n_layers: int, score_se: str) -> bool:
    """Tell whether there are models without two folds, and they may be watched on both."""
    whole = all(
        len(train) + len(test) == lattice.n_rows
        for train, test in zip(lattice.trains, lattice.tests, strict=True)
    )
    folds = lattice.kind == "partition" and lattice.n_folds > 2 and whole
    return folds and n_layers == 1 and score_se != "nested"


def rounds_tasks(
    table: NodeTable, names: Sequence[str], dealt: Dealt, settings: FitSettings
) -> tuple[dict[Cell, NodeTask], dict[Cell, tuple[Cell, ...]]]:
    """Return the tasks of some learners, and for some of their cells those that tell the rounds.

    The table is told which cells are read by whom.
    """
    tasks, after = dict[Cell, NodeTask](), dict[Cell, tuple[Cell, ...]]()
    # All learners refer to the same rows: their numbers are as many as predictions.
    rows = {node: (dealt.lattice.rows(node), _tested(node, dealt)) for node in dealt.needs[0].rows}
    for name in names:
        own, told = _tasks(name, rows, dealt, settings)
        tasks, after = tasks | own, after | told
        table.choices[name] = {None: None, **{i: i for i in range(dealt.lattice.n_folds)}}
    return tasks, after


def _tested(node: Node, dealt: Dealt) -> IntArray:
    """Return the rows that are predicted at a node: of a pair both its folds."""
    if len(node) != 2:
        return dealt.needs[0].of(node)
    return np.sort(np.concatenate([dealt.lattice.tests[fold] for fold in node]))


def _tasks(
    name: str,
    rows: Mapping[Node, tuple[IntArray, IntArray]],
    dealt: Dealt,
    settings: FitSettings,
) -> tuple[dict[Cell, NodeTask], dict[Cell, tuple[Cell, ...]]]:
    lattice, kept = dealt.lattice, dealt.reading.kept
    tasks, after = dict[Cell, NodeTask](), dict[Cell, tuple[Cell, ...]]()
    for node in [node for node in rows if len(node) == 2]:
        i, j = sorted(node)
        watched = _some(lattice.tests[j]), _some(lattice.tests[i])
        seed = settings.seed_of(name, node)
        task = NodeTask(*rows[node], seed, node in kept, watched=watched)
        tasks |= {(name, node, i): task, (name, node, j): task}
    pairs = list(tasks)
    for node in [node for node in rows if len(node) < 2]:
        owner = min(node, default=None)
        cell = name, node, owner
        tasks[cell] = NodeTask(*rows[node], settings.seed_of(name, node), node in kept)
        after[cell] = tuple(pair for pair in pairs if owner in (None, pair[2]))
    return tasks, after


def _some(rows: IntArray) -> IntArray:
    return rows[:: max(1, len(rows) // MOST_WATCHED)]
