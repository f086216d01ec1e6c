"""Which nodes a layer of learners must be fitted at, and which rows each predicts."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from foldwise.arrays import IntArray
from foldwise.folds.lattice import Lattice, Node
from foldwise.folds.reading import Block, Reading, Ref, first_folds, rows_before, rows_inside


@dataclass
class Needs:
    """What a layer of learners must be fitted at, and which rows each node predicts.

    Attributes
    ----------
    rows : dict from Node to list of ndarray of int
        The rows asked of each node, as they were asked for.
    """

    rows: dict[Node, list[IntArray]] = field(default_factory=dict)  # the rows asked of each node

    def add(self, node: Node, rows: IntArray) -> None:
        """Ask a node for some rows."""
        self.rows.setdefault(node, []).append(rows)

    def of(self, node: Node) -> IntArray:
        """Return all rows asked of a node, sorted."""
        asked = [rows for rows in self.rows[node] if len(rows)]
        held = np.zeros(max((rows.max() + 1 for rows in asked), default=0), dtype=bool)
        for rows in asked:
            held[rows] = True
        return np.flatnonzero(held)


def upper_blocks(lattice: Lattice, node: Node, first: int = 0) -> tuple[Block, ...]:
    """Return what an upper learner is trained on at a node: rows, and the lower nodes to read.

    For each fold outside the node its rows inside the node's training rows, read from the lower
    learners that saw neither the node's folds nor this one.

    Parameters
    ----------
    lattice : Lattice
        The deal.
    node : frozenset of int
        The left-out folds.
    first : int, default=0
        Forward in time: the first fold the layer below predicts.

    Returns
    -------
    tuple of Block
        One for each fold that has such rows.
    """
    if lattice.kind == "forward":
        last = min(node) if node else lattice.n_folds
        train = lattice.rows(node)
        pairs = [(rows_before(lattice.tests[j], train), frozenset({j})) for j in range(first, last)]
    else:
        train = lattice.rows(node)
        pairs = [
            (rows_inside(lattice.tests[j], train), node | {j})
            for j in range(lattice.n_folds)
            if j not in node
        ]
    return tuple(
        Block(rows, (Ref(lattice.canonical(lower)),)) for rows, lower in pairs if len(rows)
    )


def needs_of(reading: Reading, lattice: Lattice, n_layers: int = 1) -> list[Needs]:
    """Return, layer by layer from the lowest, the nodes to fit and the rows each predicts.

    Parameters
    ----------
    reading : Reading
        What is read from which node.
    lattice : Lattice
        The deal.
    n_layers : int, default=1
        Layers of learners below the stacker.

    Returns
    -------
    list of Needs
        One a layer.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> from foldwise.folds.reading import read_lattice
    >>> lattice = Lattice.from_splits(KFold(5).split(range(10)), 10)
    >>> (needs,) = needs_of(read_lattice(lattice), lattice)
    >>> len(needs.rows)
    15
    """
    top = Needs()
    for block in reading.blocks:
        for ref in block.refs:
            top.add(ref.node, block.rows)
    for node in _ordered(reading.kept):
        top.add(node, np.empty(0, dtype=np.intp))
    layers = [top]
    for first in first_folds(lattice, n_layers)[-2::-1]:
        upper, lower = layers[0], Needs()
        for node in list(upper.rows):
            lower.add(node, upper.of(node))
            for block in upper_blocks(lattice, node, first):
                lower.add(block.refs[0].node, block.rows)
        layers.insert(0, lower)
    return layers


def _ordered(nodes: Iterable[Node]) -> list[Node]:
    return sorted(nodes, key=lambda node: (len(node), sorted(node)))
