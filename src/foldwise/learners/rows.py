"""The rows of many nodes, each read once: a table in blocks, and atoms of rows that go together.

Every node's rows are a union of atoms. So what is added up or predicted for all nodes is worked out
for each atom, in blocks of rows: no copy of all of the table is ever made.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.engine.executor import let_go
from foldwise.learners.prepare import n_targets_of
from foldwise.learners.tasks import NodeFit, NodeTask, Tasks, TrainingData

BLOCK_BYTES = 2**21
# Small enough that the allocator hands the same memory out again.
PREDICT_BYTES = 2**20
SAMPLED_ROWS, SAMPLED_PARTS = 2048, 32
MAX_ATOMS = 4096
WORD = 48


@dataclass
class Matrix:
    """A table of finite or infinite float64 or integer numbers."""

    table: Any  # as the user gave it
    shape: tuple[int, int]  # number of rows and columns

    def take(self, rows: IntArray | slice) -> FloatArray:
        """Return some rows; those of a slice are not to be written to."""
        let_go()
        if isinstance(self.table, np.ndarray):
            block = self.table[rows]
        elif hasattr(self.table, "iloc"):
            block = self.table.iloc[rows].to_numpy(dtype=np.float64)
        else:
            block = self.table[rows].to_numpy()
        return np.asarray(block, dtype=np.float64)

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield all rows in blocks that fit a processor's cache."""
        for where in slices(*self.shape, BLOCK_BYTES, fewest=64):
            yield where, self.take(where)


def slices(n_rows: int, n_columns: int, n_bytes: int, fewest: int = 1) -> Iterator[slice]:
    """Yield slices of rows, as many at a time as take so many bytes."""
    step = max(fewest, n_bytes // (8 * max(n_columns, 1)))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def matrix_of(X: Any) -> Matrix | None:
    """Return the table as a :class:`Matrix`, None if it is not plainly numeric.

    Single precision is refused: scikit-learn then works in single precision itself, and
    nothing can agree with that to eight digits.
    """
    if isinstance(X, Matrix):
        return X
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


def holds_numbers(data: TrainingData) -> bool:
    """Tell whether y is finite numbers."""
    return data.y.dtype.kind in "fiu" and bool(np.isfinite(data.y).all())


def is_for_targets(penalty: Any, data: TrainingData) -> bool:
    """Tell whether a penalty is one number, or one for each target."""
    return isinstance(penalty, Real) or np.shape(penalty) in {(1,), (n_targets_of(data),)}


def holds_codes(data: TrainingData) -> bool:
    """Tell whether y is the codes of classes."""
    return data.n_classes is not None and data.y.ndim == 1 and data.y.dtype.kind in "iu"


def centre_of(matrix: Matrix) -> FloatArray:
    """Return a point in the middle of the rows: the mean of an even sample of them.

    A column that is constant in the sample has exactly its value, so that the centred
    column is exactly zero if all rows share it.
    """
    n_rows = matrix.shape[0]
    rows = np.unique(np.linspace(0, n_rows - 1, SAMPLED_ROWS).astype(np.intp))
    # They lie all over the table: read at once, most of it would be held.
    parts = np.array_split(rows, SAMPLED_PARTS)
    sample = np.concatenate([matrix.take(part) for part in parts if len(part)])
    let_go()
    constant = (sample == sample[0]).all(axis=0)
    return np.where(constant, sample[0], sample.mean(axis=0))


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
    """Return the coarsest partition of which every part is a union."""
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


# Given rows of X and numbers of tasks, one matrix of responses for each of these tasks.
Responder = Callable[[IntArray, list[int]], Sequence[FloatArray]]


def predict_blocks(tasks: Tasks, shape: tuple[int, int], respond: Responder) -> list[FloatArray]:
    """Return the predictions of each task, asked for in blocks of rows tested together.

    Shapes: returns (n_test, width).
    """
    predictions = [np.empty((0, 0)) for _ in tasks]
    for rows, numbers, places in _tested_together(tasks, shape[0]):
        for part in slices(len(rows), shape[1], PREDICT_BYTES, fewest=64):
            responses = respond(rows[part], numbers)
            for number, place, values in zip(numbers, places, responses, strict=True):
                if not predictions[number].size:
                    predictions[number] = np.empty((len(tasks[number].test), values.shape[1]))
                predictions[number][place[part]] = values
    return predictions


def _tested_together(
    tasks: Tasks, n_rows: int
) -> Iterator[tuple[IntArray, list[int], list[IntArray]]]:
    """Yield rows, the tasks that test all of them, and their places in each task's test."""
    atoms = atoms_of([task.test for task in tasks], n_rows)
    if atoms is None:
        for number, task in enumerate(tasks):
            yield task.test, [number], [np.arange(len(task.test))]
        return
    place = np.empty(n_rows, dtype=np.intp)
    for rows, members in zip(atoms.rows(), atoms.members.T, strict=True):
        numbers = [int(number) for number in np.flatnonzero(members)]
        places = []
        for number in numbers:
            place[tasks[number].test] = np.arange(len(tasks[number].test))
            places.append(place[rows])
        yield rows, numbers, places


def blocks_of_atoms(matrix: Matrix, atoms: Atoms) -> Iterator[tuple[int, IntArray, FloatArray]]:
    """Yield atom, rows and a scratch copy of these rows of X, until all atoms are read.

    The rows of X are read in order, a block at a time: those of a data frame lie apart.
    """
    scratch = np.empty(0)
    for where, block in matrix.blocks():
        if scratch.size < block.size:
            scratch = np.empty(block.shape)
        label = atoms.label[where]
        for atom in np.flatnonzero(np.bincount(label + 1, minlength=2)[1:]):
            inside = np.flatnonzero(label == atom)
            x = scratch[: len(inside)]
            np.take(block, inside, axis=0, out=x, mode="clip")
            yield int(atom), inside + where.start, x


def node_fits(
    tasks: Tasks,
    start: float,
    solve: Callable[[int], Any],
    predict: Callable[[list[NodeTask], list[Any]], list[FloatArray]],
    model_of: Callable[[NodeTask, Any], Any],
) -> list[NodeFit | None]:
    """Solve each task, predict for those that could be, and make their models; None elsewhere.

    ``start`` is when the work that all tasks share began: each is charged its part of it.
    """
    shared = (time.perf_counter() - start) / max(len(tasks), 1)
    found, seconds = [], []
    for number in range(len(tasks)):
        start = time.perf_counter()
        found.append(solve(number))
        seconds.append(shared + time.perf_counter() - start)
    done = [number for number, what in enumerate(found) if what is not None]
    start = time.perf_counter()
    predictions = predict([tasks[i] for i in done], [found[i] for i in done])
    spent = (time.perf_counter() - start) / max(len(done), 1)
    fits: list[NodeFit | None] = [None] * len(tasks)
    for number, values in zip(done, predictions, strict=True):
        task = tasks[number]
        model = model_of(task, found[number]) if task.keep_model else None
        fits[number] = NodeFit(values, model, seconds[number], spent)
    return fits
