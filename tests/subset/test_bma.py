import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from foldwise import BayesianModelAveragingClassifier, BayesianModelAveragingRegressor
from foldwise.subset.bma import ModelSearch, weigh
from foldwise.subset.columns import choose_from
from foldwise.subset.search import Found, Searcher


def plan(method="auto", ratio="auto"):
    return ModelSearch(Searcher("Test"), method, ratio, False, 100, 10, 0)


def test_few_models_are_enumerated_more_are_searched_and_many_are_walked():
    for p, way in ((20, "enumerate"), (21, "branch_and_bound"), (41, "mc3")):
        choice = choose_from("Test", p)
        assert plan().way(choice) == way
    assert plan("mc3").way(replace(choice, max_size=3)) == "mc3"
    assert plan().way(replace(choice, max_size=2)) == "enumerate"


def test_the_window_is_open_only_where_all_models_are_there():
    assert plan().window("enumerate") is None
    assert plan().window("mc3") == 20.0
    assert plan(ratio=None).window("mc3") is None
    assert plan(ratio=5).window("enumerate") == 5.0


def test_models_that_cannot_be_scored_or_do_not_matter_are_dropped():
    choice = choose_from("Test", 2)
    kept = np.array([[False, False], [True, False], [False, True], [True, True]])
    scores = np.array([2 * np.log(3), 0.0, 100.0, np.inf])
    found = Found(kept, scores, True)
    order, weights = weigh(found, choice, lambda rss, size: rss + 0 * size, plan(), None)
    assert_array_equal(order, [1, 0])
    assert_allclose(weights, [0.75, 0.25])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            BayesianModelAveragingClassifier(method="mc3"),
            "BayesianModelAveragingClassifier: method must be one of 'auto', 'enumerate', "
            "'branch_and_bound'; got 'mc3'. "
            "Use one of 'auto', 'branch_and_bound', 'enumerate'.",
        ),
        (
            BayesianModelAveragingRegressor(model_prior="betabinomial"),
            "BayesianModelAveragingRegressor: model_prior must be one of 'uniform', "
            "'beta_binomial'; got "
            "'betabinomial'. Did you mean 'beta_binomial'?",
        ),
    ],
)
def test_unknown_words_are_errors(model, message):
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        model.fit([[0.0], [1.0], [2.0]], [0, 1, 0])


def test_the_hundred_best_models_are_listed_and_all_are_kept():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 8)), rng.normal(size=40)
    bma = BayesianModelAveragingRegressor().fit(X, y)
    assert len(bma.models_) == 100
    assert len(bma.model_probability_) == 256
    assert bma.models_["probability"].is_monotonic_decreasing


def test_a_search_without_chance_leaves_the_global_generator_alone():
    X = np.random.default_rng(0).normal(size=(30, 3))
    np.random.seed(3)
    before = np.random.get_state()[2]
    BayesianModelAveragingRegressor().fit(X, X[:, 0] + X[:, 1] ** 2)
    BayesianModelAveragingClassifier().fit(X, X[:, 0] + X[:, 1] > 0.3 * X[:, 2] ** 2)
    assert np.random.get_state()[2] == before


def test_too_few_rows_for_the_forced_columns_is_an_error_that_says_so():
    X = np.random.default_rng(0).normal(size=(5, 4))
    for kind, y in [
        (BayesianModelAveragingRegressor, X[:, 0]),
        (BayesianModelAveragingClassifier, np.arange(5) % 2),
    ]:
        with pytest.raises(ValueError, match=rf"^{kind.__name__}: X must have more rows than"):
            kind(forced=[0, 1, 2, 3]).fit(X, y)
