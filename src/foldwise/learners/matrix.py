"""A numeric table read in blocks of rows, so that no copy of all of it is ever made."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from foldwise.arrays import FloatArray, IntArray

BLOCK_BYTES = 2**21
SAMPLED_ROWS = 2048


@dataclass(frozen=True)
class Matrix:
    """A table of finite or infinite float64 or integer numbers."""

    table: Any  # as the user gave it
    shape: tuple[int, int]  # number of rows and columns

    def rows(self, start: int, stop: int) -> FloatArray:
        """Return some consecutive rows; not to be written to."""
        table = self.table
        if isinstance(table, np.ndarray):
            block = table[start:stop]
        elif hasattr(table, "iloc"):
            block = table.iloc[start:stop].to_numpy(dtype=np.float64)
        else:
            block = table.slice(start, stop - start).to_numpy()
        return np.asarray(block, dtype=np.float64)

    def take(self, rows: IntArray) -> FloatArray:
        """Return a copy of some rows."""
        table = self.table
        if isinstance(table, np.ndarray):
            block = table[rows]
        elif hasattr(table, "iloc"):
            block = table.iloc[rows].to_numpy(dtype=np.float64)
        else:
            block = table[rows].to_numpy()
        return np.asarray(block, dtype=np.float64)

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield all rows in blocks that fit a processor's cache."""
        n_rows, n_columns = self.shape
        step = max(64, BLOCK_BYTES // (8 * max(n_columns, 1)))
        for start in range(0, n_rows, step):
            stop = min(start + step, n_rows)
            yield slice(start, stop), self.rows(start, stop)


def matrix_of(X: Any) -> Matrix | None:
    """Return the table as a :class:`Matrix`, None if it is not plainly numeric.

    Single precision is refused: scikit-learn then works in single precision itself, and
    nothing can agree with that to eight digits.

    Examples
    --------
    >>> import numpy as np
    >>> matrix_of(np.eye(2)).shape
    (2, 2)
    >>> matrix_of(np.eye(2, dtype="float32")) is None
    True
    """
    if issparse(X) or getattr(X, "ndim", len(getattr(X, "shape", ()))) != 2 or 0 in X.shape:
        return None
    if type(X) is np.ndarray:
        known = X.dtype.kind in "iu" or X.dtype == np.float64
    elif hasattr(X, "iloc"):
        known = _is_plain_pandas(X)
    elif hasattr(X, "slice") and hasattr(X, "dtypes"):
        known = all(dtype.is_numeric() for dtype in X.dtypes)
        known = known and _is_double(X.slice(0, 1).to_numpy().dtype)
    else:
        known = False
    return Matrix(X, (int(X.shape[0]), int(X.shape[1]))) if known else None


def _is_plain_pandas(X: Any) -> bool:
    dtypes = list(X.dtypes)
    plain = all(isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in dtypes)
    return plain and _is_double(np.result_type(*dtypes))


def _is_double(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iub" or dtype == np.float64


def centre_of(matrix: Matrix) -> FloatArray:
    """Return a point in the middle of the rows: the mean of an even sample of them.

    A column that is constant in the sample has exactly its value, so that the centred
    column is exactly zero if all rows share it.
    """
    n_rows = matrix.shape[0]
    sample = matrix.take(np.unique(np.linspace(0, n_rows - 1, SAMPLED_ROWS).astype(np.intp)))
    constant = (sample == sample[0]).all(axis=0)
    return np.where(constant, sample[0], sample.mean(axis=0))
