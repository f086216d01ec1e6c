"""A random walk over models (MC³), which looks at all neighbours of every model it visits."""

from collections.abc import Iterator

import numpy as np

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.subset.branch_and_bound import LeastSquares, WithinWindow, forward
from foldwise.subset.moments import ALIASED

# Accepted steps after which the swept products are computed anew, to shed rounding.
FRESH = 200


def sweep_pivot(swept: FloatArray, v: int) -> FloatArray:
    """Return the products with column ``v`` swept in, or, where it was in, out again.

    Signs are such that doing it twice changes nothing: the inverse is stored negated.
    """
    pivot = swept[v, v]
    result = swept - np.outer(swept[:, v], swept[v]) / pivot
    result[v] = swept[v] / abs(pivot)
    result[:, v] = swept[:, v] / abs(pivot)
    result[v, v] = -1 / pivot
    return result


def neighbour_rss(swept: FloatArray, inside: BoolArray, floors: FloatArray) -> FloatArray:
    """Return the residual sums of squares when each column in turn is put in or taken out.

    Columns that are aliased with those inside change nothing.
    """
    diagonal, cross = np.diagonal(swept)[:-1], swept[:-1, -1]
    usable = inside | (diagonal > floors)
    step = cross**2 / np.where(usable, diagonal, 1.0)
    return swept[-1, -1] - np.where(usable, step, 0.0)


def walk(
    problem: LeastSquares, goal: WithinWindow, n_steps: int, rng: np.random.Generator
) -> Iterator[float]:
    """Walk over the models, and offer every visited one with all its neighbours to ``goal``.

    ``n_steps``: Proposals: a column drawn at random is put in or taken out, and the step taken with
    the Metropolis probability.

    References
    ----------
    .. [1] Madigan and York (1995). Bayesian graphical models for discrete data.
    """
    p = len(problem.cross)
    floors = ALIASED * np.diagonal(problem.gram)
    inside = _start(problem, goal)
    swept = _swept(problem, inside)
    # Later models are neighbours of the one before; where no step is taken this is the only one.
    goal.offer(np.array([max(swept[-1, -1], 0.0)]), inside[None])
    accepted, fresh = 0, True
    for step in range(n_steps):
        if fresh:
            rss = np.maximum(neighbour_rss(swept, inside, floors), 0.0)
            sizes = inside.sum() + np.where(inside, -1, 1)
            scores = np.where(sizes <= goal.max_size, goal.score(rss, sizes), np.inf)
            here = goal.score(np.array([max(swept[-1, -1], 0.0)]), np.array([inside.sum()]))[0]
            _offer(goal, inside, rss, sizes)
            fresh = False
        v = int(rng.integers(p))
        usable = inside[v] or swept[v, v] > floors[v]
        if usable and np.log(rng.random()) < 0.5 * (here - scores[v]):
            inside = inside.copy()
            inside[v] = ~inside[v]
            accepted += 1
            swept = sweep_pivot(swept, v) if accepted % FRESH else _swept(problem, inside)
            fresh = True
        yield (step + 1) / n_steps


def _start(problem: LeastSquares, goal: WithinWindow) -> BoolArray:
    """Return the best model of forward selection."""
    rss, kept = forward(problem)
    sizes = kept.sum(axis=1)
    scores = np.where(sizes <= goal.max_size, goal.score(rss, sizes), np.inf)
    if not len(rss) or not np.isfinite(scores).any():
        return np.zeros(len(problem.cross), dtype=bool)
    return kept[int(np.argmin(scores))]


def _swept(problem: LeastSquares, inside: BoolArray) -> FloatArray:
    cross = problem.cross[:, None]
    swept = np.block([[problem.gram, cross], [cross.T, np.array([[problem.total]])]])
    for v in np.flatnonzero(inside):
        swept = sweep_pivot(swept, int(v))
    return swept


def _offer(goal: WithinWindow, inside: BoolArray, rss: FloatArray, sizes: IntArray) -> None:
    wanted = np.flatnonzero(rss <= goal.limits[np.minimum(sizes, len(goal.limits) - 1)])
    kept = np.repeat(inside[None], len(wanted), axis=0)
    kept[np.arange(len(wanted)), wanted] ^= True
    if len(wanted):
        goal.offer(rss[wanted], kept)
