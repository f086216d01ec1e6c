"""Predicting the rows of many nodes: each row is read once, for all nodes that want it."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from foldwise.learners.atoms import atoms_of
from foldwise.learners.matrix import BLOCK_BYTES, Floats
from foldwise.learners.tasks import NodeTask, Rows

# Given rows of X and numbers of tasks, one matrix of responses for each of these tasks.
Responder = Callable[[Rows, NDArray[np.intp]], Sequence[Floats]]


def predict_blocks(
    tasks: Sequence[NodeTask], shape: tuple[int, int], respond: Responder
) -> list[Floats]:
    """Return the predictions of each task, asked for in blocks of rows tested together.

    Parameters
    ----------
    tasks : sequence of NodeTask
        Tell which rows each task tests.
    shape : tuple of int
        Of the matrix of all rows.
    respond : callable
        Maps rows, and the numbers of the tasks that test them, to a matrix for each task.

    Returns
    -------
    list of ndarray of shape (n_test, width)
        One for each task, rows in the order of its ``test``; (0, 0) where that is empty.
    """
    predictions = [np.empty((0, 0)) for _ in tasks]
    orders: dict[int, tuple[Rows, Rows]] = {}
    for rows, numbers in _blocks(tasks, shape):
        for number, values in zip(numbers, respond(rows, numbers), strict=True):
            test = tasks[number].test
            if not predictions[number].size:
                predictions[number] = np.empty((len(test), values.shape[1]))
                order = np.argsort(test, kind="stable")
                orders[number] = order, test[order]
            order, ascending = orders[number]
            predictions[number][order[np.searchsorted(ascending, rows)]] = values
    return predictions


def _blocks(
    tasks: Sequence[NodeTask], shape: tuple[int, int]
) -> Iterator[tuple[Rows, NDArray[np.intp]]]:
    atoms = atoms_of([task.test for task in tasks], shape[0])
    if atoms is None:
        raise ValueError("a task tests a row twice, or the tasks test too many sets of rows")
    step = max(64, BLOCK_BYTES // (8 * max(shape[1], 1)))
    for rows, members in zip(atoms.rows(), atoms.members.T, strict=True):
        numbers = np.flatnonzero(members)
        for start in range(0, len(rows), step):
            yield rows[start : start + step], numbers
