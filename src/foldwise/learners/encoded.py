"""Rows of a node that are encoded where they are read: of a large table, no copy is made before."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.engine.executor import let_go
from foldwise.learners.prepare import BLOCK_BYTES, PART_BYTES, one_array
from foldwise.learners.rows import Matrix, matrix_of, slices

Encode = Callable[[FloatArray], FloatArray]


class EncodedRows(Matrix):
    """Some rows of a table of numbers as a transformer makes them, worked out when asked for.

    ``encode``: What the transformer makes of rows, whichever others there are; it may overwrite
    those it is given.
    """

    def __init__(self, X: Matrix, rows: IntArray, encode: Encode) -> None:
        self.X, self.rows, self.encode = X, rows, encode
        super().__init__(X.table, (len(rows), self.take(slice(1)).shape[1]))

    def take(self, rows: IntArray | slice) -> FloatArray:
        """Return some of the rows."""
        return self.encode(np.require(self.X.take(self.rows[rows]), requirements=["C", "W"]))

    def of(self, rows: IntArray) -> "EncodedRows":
        """Return other rows of the same table."""
        return EncodedRows(self.X, rows, self.encode)

    def whole(self, dtype: Any = np.float64, order: Literal["C", "F"] = "C") -> Array:
        """Return the rows as an array."""
        made = np.empty(self.shape, dtype, order)
        for part in slices(len(self.rows), self.X.shape[1], PART_BYTES):
            made[part] = self.take(part)
        let_go()
        return made


def numbers_in_rows(X: Any, rows: IntArray) -> Matrix | None:
    """Return a table of numbers as it is read, if a copy of these rows of it would be large."""
    if type(X) is not np.ndarray and not hasattr(X, "iloc"):
        return None
    matrix = matrix_of(X)
    if matrix is None or 8 * len(rows) * matrix.shape[1] <= BLOCK_BYTES:
        return None
    array = None if type(X) is np.ndarray else one_array(X)
    # Rows of an array that lie one after the other are read much quicker than those of a frame.
    quick = array is not None and array.flags.c_contiguous
    return replace(matrix, table=array) if quick else matrix


def column_blocks(X: Matrix, rows: IntArray, columns: IntArray, cells: int) -> Iterator[FloatArray]:
    """Yield some columns of some rows, so many cells at a time.

    Shapes: yields (n_rows, few).
    """
    width = max(1, cells // max(len(rows), 1))
    for first in range(0, len(columns), width):
        few = columns[first : first + width]
        block = np.empty((len(rows), len(few)))
        if type(X.table) is np.ndarray:
            for part in slices(len(rows), X.shape[1], PART_BYTES):
                block[part] = X.table[rows[part][:, None], few]
                let_go()
        else:
            for k, column in enumerate(few):
                block[:, k] = X.table.iloc[:, column].to_numpy()[rows]
                let_go()
        yield block


@contextmanager
def freed_when_read(model: Any, rows: Sequence[Array]) -> Iterator[None]:
    """Free rows before the first round of XGBoost, which has made its own of them by then."""
    from xgboost.callback import TrainingCallback  # noqa: PLC0415 - an extra

    class Free(TrainingCallback):
        def before_training(self, model: Any) -> Any:
            for each in rows:
                if each.flags.owndata:
                    each.resize(0, refcheck=False)
            return model

    kept = model.callbacks
    model.set_params(callbacks=[*(kept or ()), Free()])
    yield
    model.set_params(callbacks=kept)
