"""How rows are dealt: splits, the lattice of nodes, and what is read from which node."""

from foldwise.folds.lattice import EVERYTHING, Lattice, Node, deal, own_splits, without_rows
from foldwise.folds.reading import (
    Block,
    Judgement,
    Needs,
    Reading,
    Ref,
    first_folds,
    needs_of,
    partners_of,
    read_lattice,
    rows_inside,
    upper_blocks,
)

__all__ = [
    "EVERYTHING",
    "Block",
    "Judgement",
    "Lattice",
    "Needs",
    "Node",
    "Reading",
    "Ref",
    "deal",
    "first_folds",
    "needs_of",
    "own_splits",
    "partners_of",
    "read_lattice",
    "rows_inside",
    "upper_blocks",
    "without_rows",
]
