"""A search of Occam's window from neighbour to neighbour, for columns of several coefficients."""

from collections.abc import Iterator

import numpy as np

from foldwise.arrays import BoolArray, FloatArray
from foldwise.subset.branch_and_bound import LeastSquares, WithinWindow

# Models whose neighbours are shown at once: the goal sorts all it has each time.
TOGETHER = 64


def spread(problem: LeastSquares, width: int, goal: WithinWindow) -> Iterator[float]:
    """Show ``goal`` all neighbours of the best models it has, until it has seen those of all.

    Starts from the models with all columns and with none. The window is found as far as its
    models hang together, one column more or less at a time. ``width`` is the number of
    coefficients of each column; they lie together.

    References
    ----------
    .. [1] Madigan and Raftery (1994). Model selection and accounting for model uncertainty in
       graphical models using Occam's window.
    """
    everything = np.ones(len(problem.cross) // width, dtype=bool)
    # Windows that take no large model are entered from the small ones.
    for start in (everything, ~everything):
        goal.offer(*with_neighbours(problem, width, start))
    seen: set[bytes] = set()
    new = list(goal.kept)
    while new:
        around = [with_neighbours(problem, width, kept) for kept in new[:TOGETHER]]
        seen.update(kept.tobytes() for kept in new[:TOGETHER])
        goal.offer(*map(np.concatenate, zip(*around, strict=True)))
        new = [kept for kept in goal.kept if kept.tobytes() not in seen]
        yield 1 - len(new) / len(goal.kept)


def with_neighbours(
    problem: LeastSquares, width: int, kept: BoolArray
) -> tuple[FloatArray, BoolArray]:
    """Return a model and all with one column more or less, and their residual sums of squares."""
    gram, cross, total = problem
    inside = np.repeat(kept, width)
    part, rest = gram[inside][:, inside], gram[inside][:, ~inside]
    inverse = np.asarray(np.linalg.inv(part), dtype=np.float64)
    beta = inverse @ cross[inside]
    rss = total - cross[inside] @ beta
    changes = np.zeros(len(kept))
    changes[kept] = _quadratic(_blocks(inverse, width), beta)
    left = gram[~inside][:, ~inside] - rest.T @ inverse @ rest
    changes[~kept] = -_quadratic(_blocks(left, width), cross[~inside] - rest.T @ beta)
    models = np.concatenate([kept[None], kept ^ np.eye(len(kept), dtype=bool)])
    return np.maximum(rss + np.append(0.0, changes), 0.0), models


def _blocks(matrix: FloatArray, width: int) -> FloatArray:
    """Return the square blocks (n_blocks, width, width) on the diagonal."""
    n_blocks = len(matrix) // width
    each = np.arange(n_blocks)
    return matrix.reshape(n_blocks, width, n_blocks, width)[each, :, each, :]


def _quadratic(blocks: FloatArray, values: FloatArray) -> FloatArray:
    """Return v' B⁻¹ v of each block and its part of the values."""
    parts = values.reshape(len(blocks), blocks.shape[1], 1)
    return np.asarray((parts * np.linalg.solve(blocks, parts)).sum(axis=(1, 2)))
