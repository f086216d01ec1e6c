import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from foldwise.subset.bma import Plan, weigh
from foldwise.subset.columns import choose_from
from foldwise.subset.search import Found


def plan(method="auto", ratio="auto"):
    return Plan(method, ratio, False, 100, 10, 0)


def test_few_models_are_enumerated_more_are_searched_and_many_are_walked():
    for p, way in ((20, "enumerate"), (21, "branch_and_bound"), (41, "mc3")):
        choice = choose_from("Test", p, None, None, None, intercept=True)
        assert plan().way(choice, p) == way
    assert plan("mc3").way(choice, 3) == "mc3"
    assert plan().way(choice, 2) == "enumerate"


def test_the_window_is_open_only_where_all_models_are_there():
    assert plan().window("enumerate") is None
    assert plan().window("mc3") == 20.0
    assert plan(ratio=None).window("mc3") is None
    assert plan(ratio=5).window("enumerate") == 5.0


def test_models_that_cannot_be_scored_or_do_not_matter_are_dropped():
    choice = choose_from("Test", 2, None, None, None, intercept=True)
    kept = np.array([[False, False], [True, False], [False, True], [True, True]])
    scores = np.array([2 * np.log(3), 0.0, 100.0, np.inf])
    found = Found(kept, scores, True)
    averaged = weigh(found, choice, lambda rss, size: rss + 0 * size, None, strict=False)
    assert_array_equal(averaged.kept, kept[[1, 0]])
    assert_allclose(averaged.weights, [0.75, 0.25])
