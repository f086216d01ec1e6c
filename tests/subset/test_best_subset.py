import itertools
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import BestSubsetRegressor
from foldwise.errors import FoldwiseWarning
from foldwise.paths import cross_validated_path
from foldwise.subset import search
from foldwise.subset.best_subset import (
    Wanted,
    by_criterion,
    by_cross_validation,
    criteria_table,
    named_table,
)
from foldwise.subset.columns import choose_from
from foldwise.subset.criteria import TargetSummary
from foldwise.subset.moments import SubsetRows, all_rows, by_split
from foldwise.subset.search import Searcher

SEARCHER = Searcher("Test")


@parametrize_with_checks(
    [
        BestSubsetRegressor(),
        BestSubsetRegressor(criterion="cv", cv=2, max_size=2),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


# R 4.2.2, leaps 3.1, on the unscaled diabetes data of scikit-learn:
# regsubsets(x, y, nvmax=10, method="exhaustive"), then AIC and BIC of lm on each subset.
# Columns, rss, cp, adjusted R², AIC, BIC.
LEAPS = [
    ((2,), 1719581.81077, 148.351341, 0.3424326779, 4914.038221, 4926.31215),
    ((2, 8), 1416694.01396, 47.0711919, 0.457022798, 4830.398453, 4846.763693),
    ((2, 3, 8), 1362708.69371, 30.66301573, 0.4765213512, 4815.226049, 4835.682599),
    ((2, 3, 4, 8), 1331431.40356, 21.99793373, 0.4873659896, 4806.962898, 4831.510758),
    ((1, 2, 3, 6, 8), 1287881.1554, 9.147959008, 0.5029966044, 4794.263634, 4822.902803),
    ((1, 2, 3, 4, 5, 8), 1271493.99729, 5.560186405, 0.5081925379, 4790.603485, 4823.333964),
    ((1, 2, 3, 4, 5, 7, 8), 1267807.81206, 6.303253098, 0.5084884241, 4791.320222, 4828.142011),
    ((1, 2, 3, 4, 5, 7, 8, 9), 1264714.57987, 7.248507792, 0.5085552664, 4792.240501, 4833.1536),
    (tuple(range(1, 10)), 1264068.09639, 9.028066722, 0.5076694559, 4794.014506, 4839.018915),
    (tuple(range(10)), 1263985.78563, 11, 0.5065592905, 4795.985724, 4845.081443),
]


def test_the_best_of_each_size_is_that_of_r_leaps():
    X, y = load_diabetes(return_X_y=True, scaled=False)
    table = BestSubsetRegressor().fit(X, y).best_by_size_
    assert table["columns"].tolist() == [(), *(row[0] for row in LEAPS)]
    for place, name in enumerate(["rss", "cp", "adjusted_r2", "aic", "bic"], start=1):
        assert_allclose(table[name][1:], [row[place] for row in LEAPS], rtol=2e-9)


@pytest.mark.parametrize("name", ["aic", "aicc", "bic", "cp", "adjusted_r2"])
def test_each_criterion_chooses_its_best(name):
    X, y = load_diabetes(return_X_y=True)
    best = BestSubsetRegressor(name).fit(X, y)
    values = best.best_by_size_[name]
    place = values.argmax() if name == "adjusted_r2" else values.argmin()
    assert best.best_score_ == values[place]
    assert tuple(np.flatnonzero(best.support_)) == best.best_by_size_["columns"][place]
    alone = BestSubsetRegressor(name, each_size=False).fit(X, y)
    assert_array_equal(alone.support_, best.support_)
    assert len(alone.best_by_size_) == 1


def test_the_chosen_subset_is_fitted_by_least_squares():
    X, y = load_diabetes(return_X_y=True)
    best = BestSubsetRegressor().fit(X, y)
    ols = LinearRegression().fit(X[:, best.support_], y)
    assert_allclose(best.coef_[best.support_], ols.coef_, rtol=1e-9)
    assert_allclose(best.predict(X), ols.predict(X[:, best.support_]), rtol=1e-9)
    assert_array_equal(best.coef_[~best.support_], 0)


def literal_loop(X, y, weights, splits, subsets):
    """The pooled squared error of every subset, by scikit-learn, fit by fit."""
    errors = []
    for columns in subsets:
        error = 0.0
        for train, test in splits:
            if columns:
                model = LinearRegression().fit(X[train][:, columns], y[train], weights[train])
                fitted = model.predict(X[test][:, columns])
            else:
                fitted = np.average(y[train], weights=weights[train])
            error += weights[test] @ (y[test] - fitted) ** 2
        errors.append(error / sum(weights[test].sum() for _, test in splits))
    return np.array(errors)


@pytest.mark.parametrize("weighted", [False, True])
def test_cross_validation_equals_a_literal_loop(weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(47, 6)) * [1, 10, 100, 1, 1, 1] + [0, 0, 1000, 0, 0, 0]
    y = X[:, 0] - 0.1 * X[:, 1] + rng.normal(size=47)
    weights = rng.integers(1, 4, size=47).astype(float) if weighted else np.ones(47)
    splits = list(KFold(5, shuffle=True, random_state=0).split(X))
    subsets = [c for size in range(7) for c in itertools.combinations(range(6), size)]
    expected = literal_loop(X, y, weights, splits, subsets)
    best = BestSubsetRegressor("cv", cv=splits, keep_all=True).fit(X, y, weights)
    assert_allclose(best.all_subsets_["mse"], expected, rtol=1e-10)
    listed = [tuple(np.flatnonzero(row)) for row in best.all_subsets_[range(6)].to_numpy()]
    assert listed == subsets
    assert tuple(np.flatnonzero(best.support_)) == subsets[int(expected.argmin())]
    assert_allclose(best.best_score_, expected.min(), rtol=1e-10)
    for size, group in itertools.groupby(zip(subsets, expected, strict=True), lambda s: len(s[0])):
        columns, error = min(group, key=lambda pair: pair[1])
        assert best.best_by_size_["columns"][size] == columns
        assert_allclose(best.best_by_size_["mse"][size], error, rtol=1e-10)


def test_the_error_of_the_error_weighs_folds_as_paths_do():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(41, 2)), rng.normal(size=41)
    folds = np.minimum(np.arange(41) // 8, 3)
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(4)]
    weights = rng.random(41) + 0.1
    best = BestSubsetRegressor("cv", cv=splits).fit(X, y, weights)
    path = cross_validated_path(X, y, fold_of=folds, sample_weight=weights, lambdas=[1e3, 1e-12])
    # Paths count half the squared error.
    assert_allclose(best.best_by_size_["mse"][[0, 2]], 2 * path.cv_loss, rtol=1e-7)
    assert_allclose(best.best_by_size_["mse_se"][[0, 2]], 2 * path.cv_se, rtol=1e-7)


def test_the_table_of_an_earlier_fit_is_forgotten():
    X, y = load_diabetes(return_X_y=True)
    best = BestSubsetRegressor(keep_all=True).fit(X[:, :4], y)
    assert len(best.all_subsets_) == 16
    assert not hasattr(best.set_params(keep_all=False).fit(X, y), "all_subsets_")


def test_ties_go_to_the_smaller_model_and_then_to_the_first_columns():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 2))
    X = np.column_stack([np.ones(40), x[:, 0], x[:, 1], x[:, 0], x[:, 0] + x[:, 1]])
    y = x @ [1.0, 0.5] + 0.1 * rng.normal(size=40)
    for criterion in ("cv", "bic", "aic"):
        best = BestSubsetRegressor(criterion).fit(X, y)
        assert np.flatnonzero(best.support_).tolist() == [1, 2]


def test_all_subsets_have_their_residual_sums_of_squares():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    best = BestSubsetRegressor(keep_all=True, max_size=2).fit(X, y)
    table = best.all_subsets_
    assert len(table) == 1 + 10 + 45
    row = table[(table["size"] == 2) & table["bmi"] & table["s5"]]
    assert_allclose(row["rss"], best.best_by_size_["rss"][2], rtol=1e-10)


def test_forced_columns_are_always_in_and_do_not_count_in_the_size():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    for criterion in ("bic", "cv"):
        best = BestSubsetRegressor(criterion, forced=["age"], max_size=2).fit(X, y)
        assert best.support_[0]
        assert best.support_.sum() == 3
        assert all("age" in columns for columns in best.best_by_size_["columns"])
        assert best.best_by_size_["size"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("criterion", ["bic", "cv"])
def test_grouped_columns_come_and_go_together(criterion):
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 4, size=120)
    frame = pd.get_dummies(pd.DataFrame({"kind": kind.astype(str)}), dtype=float)
    frame["x"] = rng.normal(size=120)
    frame["noise"] = rng.normal(size=120)
    y = 2.0 * (kind == 1) + frame["x"] + 0.5 * rng.normal(size=120)
    dummies = ["kind_1", "kind_2", "kind_3"]
    X = frame.drop(columns="kind_0")
    best = BestSubsetRegressor(criterion, cv=KFold(5), column_groups=[dummies]).fit(X, y)
    assert best.feature_names_in_[best.support_].tolist() == [*dummies, "x"]
    for columns in best.best_by_size_["columns"]:
        assert set(dummies) <= set(columns) or not set(dummies) & set(columns)


def test_more_columns_than_rows_is_defined():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 25))
    y = 3 * X[:, 4] + 0.1 * rng.normal(size=12)
    for criterion in ("bic", "aicc", "cv"):
        best = BestSubsetRegressor(criterion, max_size=2).fit(X, y)
        assert best.support_[4]
    assert np.isfinite(BestSubsetRegressor().fit(X, y).coef_).all()
    message = (
        "BestSubsetRegressor: X must leave rows and noise to spare with all columns for "
        "criterion 'cp'; got 25 columns and 12 rows. Use criterion='bic'."
    )
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        BestSubsetRegressor("cp").fit(X, y)


def test_a_perfect_fit_is_found_with_the_fewest_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20))
    y = X[:, 3] + X[:, 17]
    for criterion in ("bic", "cv"):
        best = BestSubsetRegressor(criterion, max_size=4).fit(X, y)
        assert np.flatnonzero(best.support_).tolist() == [3, 17]


def test_a_constant_target_and_constant_columns_give_the_empty_model():
    X = np.column_stack([np.ones(20), np.arange(20.0)])
    best = BestSubsetRegressor().fit(X, np.full(20, 3.0))
    assert not best.support_.any()
    assert_allclose(best.intercept_, 3.0, rtol=1e-14)


def test_without_an_intercept_lines_go_through_the_origin():
    X, y = load_diabetes(return_X_y=True, scaled=False)
    best = BestSubsetRegressor(fit_intercept=False).fit(X, y)
    ols = LinearRegression(fit_intercept=False).fit(X[:, best.support_], y)
    assert best.intercept_ == 0
    assert_allclose(best.coef_[best.support_], ols.coef_, rtol=1e-7)


def test_names_of_polars_frames_are_kept():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    best = BestSubsetRegressor(forced=["age"]).fit(pl.DataFrame(X.to_dict("list")), y)
    assert best.best_by_size_["columns"][0] == ("age",)


def test_groups_reach_the_splitter():
    X, y = load_diabetes(return_X_y=True)
    groups = np.arange(len(y)) % 7
    grouped = BestSubsetRegressor("cv", cv=GroupKFold(7)).fit(X, y, groups=groups)
    splits = [(np.flatnonzero(groups != g), np.flatnonzero(groups == g)) for g in range(7)]
    assert_allclose(
        grouped.best_score_, BestSubsetRegressor("cv", cv=splits).fit(X, y).best_score_, rtol=1e-12
    )


def data(p):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, p))
    return X, X[:, 0] + rng.normal(size=200)


@pytest.mark.parametrize(
    ("parameters", "p", "message"),
    [
        (
            {"criterion": "bick"},
            2,
            "criterion must be one of 'aic', 'aicc', 'bic', 'cp', 'adjusted_r2', 'cv'; got 'bick'. "
            "Did you mean 'bic'?",
        ),
        (
            {"max_size": 0},
            2,
            "max_size must be a whole number of at least 1 or None; got 0. Try 10.",
        ),
        (
            {"time_limit": 0},
            2,
            "time_limit must be a number above 0; got 0. None is no limit.",
        ),
        (
            {"forced": [3]},
            3,
            "forced must hold names or positions from 0 to 2; got 3. Count columns from 0.",
        ),
        (
            {"forced": ["a"]},
            3,
            "forced must name columns of X; got 'a'. X had no names: use positions.",
        ),
        (
            {"forced": [1], "column_groups": [[0, 1]]},
            3,
            "column_groups must name each column once, and no forced one; got 1. "
            "Take it out of one place.",
        ),
        (
            {"each_size": "all"},
            3,
            "each_size must be True, False or 'auto'; got 'all'. Leave it at 'auto'.",
        ),
        (
            {"criterion": "cv", "cv": 10},
            40,
            "X must have few enough columns to try all subsets; got 40 to choose from: 1.1e+12 "
            "subsets on 10 folds would take about 6.4 days. "
            "Set max_size, choose by criterion='bic', or raise time_limit.",
        ),
        (
            {"keep_all": True},
            50,
            "X must have few enough columns to try all subsets; got 50 to choose from: 1.1e+15 "
            "subsets would take about 1.8 years. "
            "Set max_size, drop keep_all and column_groups, or raise time_limit.",
        ),
    ],
)
def test_errors_say_what_to_do(parameters, p, message):
    with pytest.raises(ValueError, match="^BestSubsetRegressor: " + re.escape(message) + "$"):
        BestSubsetRegressor(**parameters).fit(*data(p))


def test_a_search_cut_short_by_time_or_ctrl_c_keeps_the_best_so_far(monkeypatch):
    X, y = data(25)
    with pytest.warns(FoldwiseWarning, match="stopped after 1e-09 seconds"):
        best = BestSubsetRegressor(time_limit=1e-9).fit(X, y)
    assert not best.complete_
    assert best.support_[0]

    ticks = iter([0.0, 0.1])

    def clock_then_ctrl_c():
        try:
            return next(ticks)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(search.time, "monotonic", clock_then_ctrl_c)
    with pytest.warns(FoldwiseWarning, match="interrupted; the best models so far are kept"):
        best = BestSubsetRegressor().fit(X, y)
    assert not best.complete_


def test_progress_is_shown_when_asked_for_and_only_then(caplog):
    X, y = data(12)
    BestSubsetRegressor("cv").fit(X, y)
    assert not caplog.messages
    BestSubsetRegressor("cv", verbose=1).fit(X, y)
    assert caplog.messages[0] == "BestSubsetRegressor: subsets to do"
    assert caplog.messages[-1] == "BestSubsetRegressor: 100.0 % of the subsets done in 0 s"


@pytest.fixture
def forty_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    return X, X[:, 1] + rng.normal(size=40)


def test_the_empty_model_is_chosen_only_where_allowed():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    choice = choose_from("Test", 3)
    moments = all_rows(SubsetRows(X, y, np.ones(40)))
    folds = by_split(SubsetRows(X, y, np.ones(40)), list(KFold(4).split(X)))
    for empty in (True, False):
        wanted = Wanted(empty_model=empty)
        assert by_criterion("bic", moments, choice, wanted, SEARCHER).kept.any() != empty
        one = by_criterion("bic", moments, choice, Wanted(empty, each_size=False), SEARCHER)
        assert one.kept.any() != empty
        found = by_cross_validation(*folds, choice, wanted, SEARCHER)
        assert found.rivals.any(axis=1).all() != empty


def test_the_table_has_a_standard_error_over_folds(forty_rows):
    X, y = forty_rows
    splits = list(KFold(4).split(X))
    folds = by_split(SubsetRows(X, y, np.ones(40)), splits)
    found = by_cross_validation(*folds, choose_from("Test", 4), Wanted(), SEARCHER)
    empty = [np.mean((y[test] - y[train].mean()) ** 2) for train, test in splits]
    assert_allclose(found.rivals_table["mse"][0], np.mean(empty), rtol=1e-10)
    assert_allclose(found.rivals_table["mse_se"][0], np.std(empty, ddof=1) / 2, rtol=1e-10)


def test_r2_and_adjusted_r2_are_what_their_formulas_say():
    table = criteria_table(np.array([40.0]), np.array([3]), TargetSummary(50.0, 100.0))
    assert_allclose(table["r2"], 0.6)
    assert_allclose(table["adjusted_r2"], 1 - (40 / 46) / (100 / 49))


def test_names_are_those_of_the_columns(forty_rows):
    X, y = forty_rows
    choice = choose_from("Test", 4, list("abcd"), ["d"])
    found = by_criterion("bic", all_rows(SubsetRows(X, y, np.ones(40))), choice, Wanted(), SEARCHER)
    table = named_table(found, choice, np.array(list("abcd")))
    assert table["columns"][0] == ("d",)
    assert table["columns"][1] == ("b", "d")
