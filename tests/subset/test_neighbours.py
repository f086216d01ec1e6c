import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from foldwise.subset.bma_classifier import spread, with_neighbours
from foldwise.subset.branch_and_bound import LeastSquares, WithinWindow


def problem(n_columns, width, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, n_columns * width))
    y = X[:, : 2 * width].sum(axis=1) + rng.normal(size=60)
    return LeastSquares(X.T @ X, X.T @ y, float(y @ y))


def rss_of(task, width, kept):
    inside = np.repeat(kept, width)
    gram, cross = task.gram[np.ix_(inside, inside)], task.cross[inside]
    return task.total - cross @ np.linalg.solve(gram, cross)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_neighbours_differ_in_one_column_and_are_solved_exactly(width):
    task = problem(4, width)
    for kept in map(np.array, itertools.product([False, True], repeat=4)):
        rss, models = with_neighbours(task, width, kept)
        assert_array_equal((models != kept).sum(axis=1), [0, 1, 1, 1, 1])
        assert_allclose(rss, [rss_of(task, width, model) for model in models], rtol=1e-10)


@pytest.mark.parametrize("max_size", [6, 3])
def test_everything_in_the_window_is_found(max_size):
    task = problem(6, 2)

    def score(rss, size):
        return rss + 3.0 * np.asarray(size)

    goal = WithinWindow(6, task.total, score, max_size, slack=15.0, at_most=1000)
    for share in spread(task, 2, goal):
        assert 0 <= share <= 1
    every = [np.array(kept) for kept in itertools.product([False, True], repeat=6)]
    scores = {k.tobytes(): score(rss_of(task, 2, k), k.sum()) for k in every if k.sum() <= max_size}
    lowest = min(scores.values())
    wanted = {key for key, value in scores.items() if value <= lowest + 15.0}
    assert {kept.tobytes() for kept in goal.kept} == wanted
    assert 3 < len(wanted) < len(scores)
