import itertools

import numpy as np
from numpy.testing import assert_allclose

from foldwise.subset import branch_and_bound
from foldwise.subset.branch_and_bound import Problem, backward, forward, search
from foldwise.subset.goals import BestOfEachSize


def problem(p=7, n=40, seed=0, rho=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rho * rng.normal(size=(n, 1))
    y = X @ rng.normal(size=p) + rng.normal(size=n)
    return X, y, Problem(X.T @ X, X.T @ y, float(y @ y))


def rss_of(X, y, columns):
    beta = np.linalg.lstsq(X[:, columns], y, rcond=None)[0]
    return float(np.sum((y - X[:, columns] @ beta) ** 2))


def test_small_batches_and_crowded_pools_find_the_same(monkeypatch):
    X, y, task = problem()
    expected = [
        min(rss_of(X, y, list(c)) for c in itertools.combinations(range(7), size))
        for size in range(1, 8)
    ]
    for batch, crowded in ((400_000, 50_000_000), (50, 50_000_000), (400, 0)):
        monkeypatch.setattr(branch_and_bound, "BATCH", batch)
        monkeypatch.setattr(branch_and_bound, "CROWDED", crowded)
        goal = BestOfEachSize(7, 7, task.total)
        shares = list(search(task, goal))
        assert_allclose(goal.rss[1:], expected, rtol=1e-9)
        assert shares[-1] == 1.0


def test_stepwise_paths_tell_the_truth_about_their_subsets():
    X, y, task = problem()
    for rss, kept in (backward(task.root()), forward(task)):
        assert len(rss) >= 6
        for value, row in zip(rss, kept, strict=True):
            assert_allclose(value, rss_of(X, y, np.flatnonzero(row)), rtol=1e-9)


def test_dropping_a_set_raises_the_residual_sum_at_least_by_its_additive_bound():
    for rho in (0.0, 1.0):
        X, y, task = problem(rho=rho)
        weights = task.additive_weights()
        beta = task.root().beta[0]
        full = rss_of(X, y, range(7))
        for size in range(1, 7):
            for dropped in itertools.combinations(range(7), size):
                rest = [j for j in range(7) if j not in dropped]
                rise = rss_of(X, y, rest) - full
                bound = sum(weights[j] * beta[j] ** 2 for j in dropped)
                assert rise >= bound * (1 - 1e-9)


def test_no_columns_leave_nothing_to_search():
    goal = BestOfEachSize(1, 1, 1.0)
    task = Problem(np.array([[1.0]]), np.array([0.5]), 1.0)
    list(search(task, goal))
    assert_allclose(goal.rss, [1.0, 0.75])
