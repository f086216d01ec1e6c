"""Predicting the rows of many nodes: each row is read once, for all nodes that want it."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.learners.atoms import atoms_of
from foldwise.learners.tasks import NodeTask

# Small enough that the allocator hands the same memory out again.
BLOCK_BYTES = 2**20

# Given rows of X and numbers of tasks, one matrix of responses for each of these tasks.
Responder = Callable[[IntArray, list[int]], Sequence[FloatArray]]


def predict_blocks(
    tasks: Sequence[NodeTask], shape: tuple[int, int], respond: Responder
) -> list[FloatArray]:
    """Return the predictions of each task, asked for in blocks of rows tested together.

    Shapes: returns (n_test, width).
    """
    predictions = [np.empty((0, 0)) for _ in tasks]
    step = max(64, BLOCK_BYTES // (8 * max(shape[1], 1)))
    for rows, numbers, places in _tested_together(tasks, shape[0]):
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            responses = respond(rows[part], numbers)
            for number, place, values in zip(numbers, places, responses, strict=True):
                if not predictions[number].size:
                    predictions[number] = np.empty((len(tasks[number].test), values.shape[1]))
                predictions[number][place[part]] = values
    return predictions


def _tested_together(
    tasks: Sequence[NodeTask], n_rows: int
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
