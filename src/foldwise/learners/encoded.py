"""Rows of a node that are encoded where they are read: of a large table, no copy is made before."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.engine.executor import let_go
from foldwise.learners.prepare import BLOCK_BYTES, PART_BYTES, one_array

Encode = Callable[[FloatArray], FloatArray]


class EncodedRows:
    """Some rows of a table of numbers as a transformer makes them, worked out when asked for.

    ``encode``: What the transformer makes of rows, whichever others there are; it may overwrite
    those it is given.
    """

    def __init__(self, X: FloatArray, rows: IntArray, encode: Encode) -> None:
        self.X, self.rows, self.encode = X, rows, encode
        self.shape = len(rows), encode(np.take(X, rows[:1], axis=0)).shape[1]

    def of(self, rows: IntArray) -> "EncodedRows":
        """Return other rows of the same table."""
        return EncodedRows(self.X, rows, self.encode)

    def whole(self, dtype: Any = np.float64) -> Array:
        """Return the rows as an array."""
        made, step = np.empty(self.shape, dtype), max(1, PART_BYTES // max(self.X[:1].nbytes, 1))
        for start in range(0, len(self.rows), step):
            part = slice(start, start + step)
            made[part] = self.encode(np.take(self.X, self.rows[part], axis=0))
            let_go()
        return made


def numbers_in_rows(X: Any, rows: IntArray) -> FloatArray | None:
    """Return the array behind a table of numbers, if a copy of these rows of it would be large."""
    array = X if type(X) is np.ndarray else one_array(X)
    if array is None or array.ndim != 2 or array.dtype != np.float64:
        return None
    large = array.itemsize * len(rows) * array.shape[1] > BLOCK_BYTES
    return array if large and array.flags.c_contiguous else None


def column_blocks(
    X: FloatArray, rows: IntArray, columns: IntArray, cells: int
) -> Iterator[FloatArray]:
    """Yield some columns of some rows, so many cells at a time.

    Shapes: yields (n_rows, few).
    """
    width, step = max(1, cells // max(len(rows), 1)), max(1, PART_BYTES // max(X[:1].nbytes, 1))
    for first in range(0, len(columns), width):
        few = columns[first : first + width]
        block = np.empty((len(rows), len(few)))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            block[part] = X[rows[part][:, None], few]
            let_go()
        yield block
