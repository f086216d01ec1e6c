"""IntArray that always go together: atoms, of which the rows of every node are a union."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foldwise.arrays import BoolArray, FloatArray, IntArray

MAX_ATOMS = 4096
WORD = 48


@dataclass(frozen=True)
class Atoms:
    """A partition of the rows."""

    label: IntArray  # the atom of each row, -1 for rows that no part holds
    members: BoolArray  # (n_parts, n_atoms): which atoms each part is made of

    @property
    def n_atoms(self) -> int:
        """Number of atoms."""
        return self.members.shape[1]

    def counts(self) -> FloatArray:
        """Return the number of rows of each atom."""
        return np.bincount(self.label + 1, minlength=self.n_atoms + 1)[1:].astype(np.float64)

    def rows(self) -> list[IntArray]:
        """Return the rows of each atom, ascending."""
        order = np.argsort(self.label, kind="stable")
        bounds = np.searchsorted(self.label[order], np.arange(self.n_atoms + 1))
        return [order[a:b] for a, b in pairwise(bounds)]


def atoms_of(parts: Sequence[IntArray], n_rows: int) -> Atoms | None:
    """Return the coarsest partition of which every part is a union.

    Examples
    --------
    >>> import numpy as np
    >>> atoms = atoms_of([np.array([0, 1, 2]), np.array([1, 2, 3])], 5)
    >>> atoms.label
    array([ 0,  1,  1,  2, -1])
    >>> atoms.members.astype(int)
    array([[1, 1, 0],
           [0, 1, 1]])
    """
    label = np.zeros(n_rows, dtype=np.int64)
    held = np.zeros(n_rows, dtype=bool)
    for start in range(0, len(parts), WORD):
        word = np.zeros(n_rows, dtype=np.int64)
        for bit, rows in enumerate(parts[start : start + WORD]):
            inside = np.zeros(n_rows, dtype=bool)
            inside[rows] = True
            if np.count_nonzero(inside) != len(rows):
                return None
            word |= inside.astype(np.int64) << bit
        held |= word != 0
        label, values = pd.factorize((label << WORD) | word)
        if len(values) > MAX_ATOMS:
            return None
    return _numbered(parts, label, held)


def _numbered(parts: Sequence[IntArray], label: NDArray[np.int64], held: BoolArray) -> Atoms:
    """Leave out the rows in no part; the atoms stay in the order of their first rows."""
    if not held.all():
        nowhere = label[np.argmin(held)]
        label = np.where(held, label - (label > nowhere), -1)
    members = np.zeros((len(parts), int(label.max(initial=-1)) + 1), dtype=bool)
    for part, rows in enumerate(parts):
        members[part, label[rows]] = True
    return Atoms(label, members)
