import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from foldwise import BayesianModelAveragingRegressor
from foldwise.subset.branch_and_bound import LeastSquares, WithinWindow
from foldwise.subset.criteria import TargetSummary, criterion
from foldwise.subset.mc3 import neighbour_rss, sweep_pivot, walk


def problem(p=5, n=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = X[:, 0] + rng.normal(size=n)
    return X, y, LeastSquares(X.T @ X, X.T @ y, float(y @ y))


def test_sweeping_twice_changes_nothing():
    X, y, _ = problem()
    gram = np.column_stack([X, y]).T @ np.column_stack([X, y])
    assert_allclose(sweep_pivot(sweep_pivot(gram, 2), 2), gram, rtol=1e-10)
    both = sweep_pivot(sweep_pivot(gram, 2), 0)
    assert_allclose(both, sweep_pivot(sweep_pivot(gram, 0), 2), rtol=1e-10)


def test_neighbours_have_their_residual_sums_of_squares():
    X, y, _ = problem()
    gram = np.column_stack([X, y]).T @ np.column_stack([X, y])
    swept = sweep_pivot(sweep_pivot(gram, 1), 3)
    inside = np.array([False, True, False, True, False])
    found = neighbour_rss(swept, inside, np.zeros(5))
    for j in range(5):
        columns = np.flatnonzero(inside ^ (np.arange(5) == j))
        beta = np.linalg.lstsq(X[:, columns], y, rcond=None)[0]
        assert_allclose(found[j], np.sum((y - X[:, columns] @ beta) ** 2), rtol=1e-10)


def test_one_seed_gives_one_walk():
    _, _, task = problem()
    score = criterion("bic", TargetSummary(30.0, task.total, 0))
    found = []
    for _ in range(2):
        goal = WithinWindow(len(task.cross), task.total, score, 5, 6.0, 100)
        shares = list(walk(task, goal, 200, np.random.default_rng(1)))
        assert shares[-1] == 1.0
        found.append(goal.kept)
    assert_array_equal(*found)


def test_a_walk_that_cannot_leave_its_first_model_keeps_it():
    X, _, _ = problem()
    y = 10 * X[:, 0] + 0.1 * X[:, 1]
    how = {"method": "mc3", "max_size": 1, "n_steps": 50, "random_state": 0}
    bma = BayesianModelAveragingRegressor(**how).fit(X, y)
    assert_array_equal(bma.inclusion_probability_, [1, 0, 0, 0, 0])
