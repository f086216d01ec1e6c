"""How rows are dealt: splits, the lattice of nodes, and what is read from which node."""

from foldwise.folds.deal import deal, own_splitter
from foldwise.folds.lattice import Lattice, Node
from foldwise.folds.reading import Block, Judgement, Reading, Ref, read_lattice

__all__ = [
    "Block",
    "Judgement",
    "Lattice",
    "Node",
    "Reading",
    "Ref",
    "deal",
    "own_splitter",
    "read_lattice",
]
