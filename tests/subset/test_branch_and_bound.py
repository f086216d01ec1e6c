import itertools

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from foldwise.subset import branch_and_bound
from foldwise.subset.branch_and_bound import (
    BestOfEachSize,
    LeastSquares,
    WithinWindow,
    backward,
    earlier,
    forward,
    search,
)
from foldwise.subset.criteria import TargetSummary, criterion


def problem(p=7, n=40, seed=0, rho=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rho * rng.normal(size=(n, 1))
    y = X @ rng.normal(size=p) + rng.normal(size=n)
    return X, y, LeastSquares(X.T @ X, X.T @ y, float(y @ y))


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
        goal = BestOfEachSize(task, 7)
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
    task = LeastSquares(np.array([[1.0]]), np.array([0.5]), 1.0)
    goal = BestOfEachSize(task, 1)
    list(search(task, goal))
    assert_allclose(goal.rss, [1.0, 0.75])


THREE = LeastSquares(np.eye(3), np.zeros(3), 10.0)


def subsets(*rows):
    return np.array([[c == "1" for c in row] for row in rows])


def test_the_best_of_each_size_narrows_its_limits():
    goal = BestOfEachSize(THREE, 2)
    assert_array_equal(goal.limits, [np.inf, np.inf, np.inf, 0.0])
    goal.offer(np.array([4.0, 3.0, 2.0]), subsets("100", "010", "110"))
    assert_allclose(goal.limits, [np.inf, 3.0, 2.0, 0.0], rtol=1e-9)
    goal.offer(np.array([3.0 + 1e-13, 3.5]), subsets("100", "001"))
    assert_array_equal(goal.kept[1], [True, False, False])


def test_nothing_beats_a_perfect_fit():
    goal = BestOfEachSize(THREE, 3)
    goal.offer(np.array([1e-14]), subsets("010"))
    assert goal.limits[1] == 0


def test_the_window_keeps_what_scores_within_its_slack():
    score = criterion("bic", TargetSummary(50.0, 10.0))
    goal = WithinWindow(3, THREE.total, score, 3, slack=3.0, at_most=10)
    rss = np.array([9.0, 5.0, 4.9, 4.0])
    kept = subsets("000", "100", "110", "111")
    goal.offer(rss[:2], kept[:2])
    goal.offer(rss, kept)
    scores = score(rss, kept.sum(axis=1))
    inside = np.flatnonzero(scores <= scores.min() + 3.0)
    assert len(goal.rss) == len(inside)
    assert set(goal.rss) == set(rss[inside])
    assert_allclose(score(goal.limits, np.arange(4)), scores.min() + 3.0, rtol=1e-9)


def test_a_full_window_keeps_the_best():
    score = criterion("bic", TargetSummary(50.0, 10.0))
    goal = WithinWindow(3, THREE.total, score, 3, slack=100.0, at_most=2)
    goal.offer(np.array([5.0, 4.0, 3.0]), subsets("100", "010", "001"))
    assert_array_equal(goal.rss, [3.0, 4.0])
    assert_allclose(goal.limits[1], 4.0, rtol=1e-9)


def test_lexicographic_order_looks_at_the_first_columns_first():
    first, second = subsets("101", "011")
    assert earlier(first, second)
    assert not earlier(second, first)
