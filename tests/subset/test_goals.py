import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from foldwise.subset.criteria import Sample, information
from foldwise.subset.goals import BestOfEachSize, WithinWindow, earlier


def subsets(*rows):
    return np.array([[c == "1" for c in row] for row in rows])


def test_the_best_of_each_size_narrows_its_limits():
    goal = BestOfEachSize(3, 2, 10.0)
    assert_array_equal(goal.limits, [np.inf, np.inf, np.inf, 0.0])
    goal.offer(np.array([4.0, 3.0, 2.0]), subsets("100", "010", "110"))
    assert_allclose(goal.limits, [np.inf, 3.0, 2.0, 0.0], rtol=1e-9)
    goal.offer(np.array([3.0 + 1e-13, 3.5]), subsets("100", "001"))
    assert_array_equal(goal.kept[1], [True, False, False])


def test_nothing_beats_a_perfect_fit():
    goal = BestOfEachSize(3, 3, 10.0)
    goal.offer(np.array([1e-14]), subsets("010"))
    assert goal.limits[1] == 0


def test_the_window_keeps_what_scores_within_its_slack():
    score = information(Sample(50.0, 10.0), "bic")
    goal = WithinWindow(score, 3, 3, 10.0, slack=3.0, at_most=10)
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
    score = information(Sample(50.0, 10.0), "bic")
    goal = WithinWindow(score, 3, 3, 10.0, slack=100.0, at_most=2)
    goal.offer(np.array([5.0, 4.0, 3.0]), subsets("100", "010", "001"))
    assert_array_equal(goal.rss, [3.0, 4.0])
    assert_allclose(goal.limits[1], 4.0, rtol=1e-9)


def test_lexicographic_order_looks_at_the_first_columns_first():
    first, second = subsets("101", "011")
    assert earlier(first, second)
    assert not earlier(second, first)
