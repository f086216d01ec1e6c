"""Branch and bound against the search of all subsets, and both against R's leaps."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from foldwise import BayesianModelAveragingRegressor, BestSubsetRegressor
from foldwise.subset import search as module
from foldwise.subset.columns import choose_from
from foldwise.subset.criteria import criterion
from foldwise.subset.moments import SubsetRows, all_rows
from foldwise.subset.search import (
    Searcher,
    all_subsets,
    best_of_each_size,
    best_within,
    describe,
    largest_size,
)

SEARCHER = Searcher("Test")
CRITERIA = ["aic", "aicc", "bic", "cp", "adjusted_r2"]


def random_problem(seed: int):
    """Columns that are independent, correlated, duplicated or dependent, by turns."""
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(2, 12 if seed % 10 else 16)), int(rng.integers(30, 60))
    X = rng.normal(size=(n, p)) + (seed % 3) * rng.normal(size=(n, 1))
    if seed % 4 == 1:
        X[:, -1] = X[:, 0]
    if seed % 4 == 2:
        X[:, -1] = X[:, :-1].sum(axis=1)
    if seed % 8 == 3:
        X[:, 0] = 7.0
    y = X @ (rng.normal(size=p) * (rng.random(p) < 0.5)) + 10 ** rng.uniform(-1, 1) * rng.normal(
        size=n
    )
    return X, y


@pytest.mark.parametrize("block", range(10))
def test_branch_and_bound_equals_exhaustive_search(block, monkeypatch):
    for seed in range(10 * block, 10 * block + 10):
        X, y = random_problem(seed)
        moments = all_rows(SubsetRows(X, y, np.ones(len(y))))
        p = X.shape[1]
        choice = choose_from("Test", p, None, [1] if seed % 5 == 0 else None)
        n_free = len(choice.units)
        every = all_subsets(moments, choice, SEARCHER)
        sizes = every.kept.sum(axis=1)
        monkeypatch.setattr(module, "FEW", 0)
        monkeypatch.setattr(module, "FEW_DEPENDENT", 0)
        each = best_of_each_size(moments, choice, SEARCHER)
        assert_array_equal(each.kept.sum(axis=1), range(n_free + 1))
        for size in range(n_free + 1):
            of_size = every.rss[sizes == size]
            assert_allclose(each.rss[size], of_size.min(), rtol=1e-8, atol=1e-9 * y.var())
            first = np.flatnonzero(of_size <= of_size.min() * (1 + 1e-9))[0]
            assert_array_equal(each.kept[size], every.kept[sizes == size][first])
        sample = describe(moments, choice)
        for name in CRITERIA:
            score = criterion(name, sample)
            best = best_within(moments, choice, score, SEARCHER)
            scores = score(every.rss, sizes + choice.n_always)
            assert_array_equal(best.kept[0], every.kept[np.argmin(np.round(scores, 8))])
        monkeypatch.undo()


def test_the_sweep_equals_scikit_learn_for_every_subset():
    from sklearn.linear_model import LinearRegression

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), rng.normal(size=40)
    choice = choose_from("Test", 6)
    found = all_subsets(all_rows(SubsetRows(X, y, np.ones(40))), choice, SEARCHER)
    subsets = [c for size in range(7) for c in itertools.combinations(range(6), size)]
    assert [tuple(np.flatnonzero(kept)) for kept in found.kept] == subsets
    for columns, rss in zip(subsets, found.rss, strict=True):
        Z = X[:, columns] if columns else np.zeros((40, 1))
        residual = y - LinearRegression().fit(Z, y).predict(Z)
        assert_allclose(rss, residual @ residual, rtol=1e-10)


def test_more_columns_than_rows_are_searched_as_far_as_it_makes_sense():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 80))
    y = 2 * X[:, 70] - 2 * X[:, 3] + 0.3 * rng.normal(size=30)
    moments = all_rows(SubsetRows(X, y, np.ones(30)))
    choice = choose_from("Test", 80)
    assert largest_size(moments, choice, 100_000) == 2
    choice = replace(choice, max_size=2)
    found = best_of_each_size(moments, choice, SEARCHER)
    assert np.flatnonzero(found.kept[2]).tolist() == [3, 70]
    score = criterion("bic", describe(moments, choice))
    best = best_within(moments, choice, score, SEARCHER)
    assert np.flatnonzero(best.kept[0]).tolist() == [3, 70]


def test_independent_columns_may_all_be_in_the_model():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 12)), rng.normal(size=50)
    choice = choose_from("Test", 12)
    assert largest_size(all_rows(SubsetRows(X, y, np.ones(50))), choice, 100) == 12
    assert largest_size(all_rows(SubsetRows(X[:9], y[:9], np.ones(9))), choice, 100) == 2


def test_the_window_holds_exactly_the_subsets_within_the_slack(monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 9)) + 0.5 * rng.normal(size=(60, 1))
    y = X[:, 0] + 0.3 * X[:, 1] + rng.normal(size=60)
    moments = all_rows(SubsetRows(X, y, np.ones(60)))
    choice = choose_from("Test", 9)
    score = criterion("bic", describe(moments, choice))
    every = all_subsets(moments, choice, SEARCHER)
    scores = score(every.rss, every.kept.sum(axis=1))
    expected = every.kept[np.argsort(scores)][: np.sum(scores <= scores.min() + 6)]
    swept = best_within(moments, choice, score, SEARCHER, slack=6, at_most=1000)
    monkeypatch.setattr(module, "FEW", 0)
    bounded = best_within(moments, choice, score, SEARCHER, slack=6, at_most=1000)
    assert len(expected) > 10
    assert_array_equal(swept.kept, expected)
    assert_array_equal(bounded.kept, expected)


def test_branch_and_bound_keeps_to_the_largest_size():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 25))
    y = X[:, :12].sum(axis=1) + rng.normal(size=100)
    best = BestSubsetRegressor(max_size=7, each_size=False).fit(X, y)
    each = BestSubsetRegressor(max_size=7, each_size=True).fit(X, y)
    assert_array_equal(best.support_, each.support_)
    assert best.support_.sum() == 7
    bma = BayesianModelAveragingRegressor(max_size=7, method="branch_and_bound").fit(X, y)
    assert bma.model_support_.sum(axis=1).max() == 7
