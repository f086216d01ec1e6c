"""Rows of weight zero change nothing: they are taken out at the door."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import KFold, PredefinedSplit, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import (
    CalibratedClassifier,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
    StackingClassifier,
    StackingRegressor,
)
from foldwise.stack.stackers.means import WeightedMean

N, N_MORE = 60, 15
RNG = np.random.default_rng(0)
KEPT = np.sort(RNG.permutation(N + N_MORE)[:N])
MORE = np.setdiff1d(np.arange(N + N_MORE), KEPT)
WEIGHT = RNG.uniform(0.2, 3.0, N)
REGRESSORS = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(min_samples_leaf=5))]
CLASSIFIERS = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3))]


def spread(values, garbage):
    """Return the values among rows of garbage, which will weigh nothing."""
    shape = (N + N_MORE, *np.shape(values)[1:])
    every = np.full(shape, garbage, dtype=np.result_type(np.asarray(values), type(garbage)))
    every[KEPT] = values
    return every


SPLITS = list(KFold(4, shuffle=True, random_state=1).split(np.zeros(N)))
MANY = [
    (np.union1d(KEPT[train], MORE[:5]), np.union1d(KEPT[test], [MORE[7 + i]]))
    for i, (train, test) in enumerate(SPLITS)
]
FOLD = RNG.integers(0, 4, N)
HOW = {
    "int": (4, 4),
    "splits": (SPLITS, MANY),
    "masks": (SPLITS, [tuple(np.isin(np.arange(N + N_MORE), p) for p in split) for split in MANY]),
    "predefined": (PredefinedSplit(FOLD), PredefinedSplit(spread(FOLD, 2))),
    "time": (TimeSeriesSplit(4), TimeSeriesSplit(4)),
}
ESTIMATORS = {
    "stack": lambda cv: StackingRegressor(REGRESSORS, cv=cv, random_state=0),
    "passthrough": lambda cv: StackingRegressor(
        REGRESSORS, "ridge", passthrough=True, cv=cv, random_state=0
    ),
    "selection": lambda cv: EnsembleSelectionRegressor(REGRESSORS, cv=cv, random_state=0),
    "classes": lambda cv: StackingClassifier(
        CLASSIFIERS, cv=cv, calibrate="auto", threshold="f1", random_state=0
    ),
    "classes selected": lambda cv: EnsembleSelectionClassifier(
        CLASSIFIERS, n_steps=5, cv=cv, random_state=0
    ),
    "calibrated": lambda cv: CalibratedClassifier(LogisticRegression(), cv=cv, random_state=0),
}


# Every estimator with folds of ours and with splits of the user's, one with every kind of splits.
CASES = [(name, how) for name in ESTIMATORS for how in ("int", "splits")]
CASES += [("stack", how) for how in ("masks", "predefined", "time")]


@pytest.mark.parametrize(("name", "how"), CASES)
def test_rows_of_weight_zero_change_nothing(name, how) -> None:
    classify = name not in ("stack", "passthrough", "selection")
    make = make_classification if classify else make_regression
    X, y = make(N, n_features=5, random_state=0)
    new = make(20, n_features=5, random_state=1)[0]
    few, many = HOW[how]
    one = ESTIMATORS[name](few).fit(X, y, WEIGHT)
    garbage = 7 if classify else 1e6
    two = ESTIMATORS[name](many).fit(spread(X, 1e6), spread(y, garbage), spread(WEIGHT, 0.0))
    assert (one.score_, one.score_se_) == (two.score_, two.score_se_)
    if classify:
        np.testing.assert_array_equal(one.classes_, two.classes_)
        np.testing.assert_array_equal(one.predict_proba(new), two.predict_proba(new))
        return
    np.testing.assert_array_equal(one.predict(new), two.predict(new))
    both = [stack.out_of_fold_table().predictions for stack in (one, two)]
    np.testing.assert_array_equal(*both)
    assert len(two.oof_) == N + N_MORE
    assert two.oof_.iloc[MORE].isna().all(axis=None)
    np.testing.assert_array_equal(two.oof_.iloc[KEPT], one.oof_)


def test_rows_of_weight_zero_do_not_widen_intervals_or_sets() -> None:
    X, y = make_regression(N, n_features=5, noise=1.0, random_state=0)
    one = StackingRegressor(REGRESSORS, random_state=0).fit(X, y, np.ones(N))
    two = StackingRegressor(REGRESSORS, random_state=0)
    two.fit(spread(X, 0.0), spread(y, 1e6), spread(np.ones(N), 0.0))
    np.testing.assert_array_equal(one.predict_interval(X, 0.8), two.predict_interval(X, 0.8))


@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("kind", ["frame", "sparse", "list"])
def test_rows_of_weight_zero_are_left_out_of_any_kind_of_table(kind, groups) -> None:
    X, y = make_regression(N, n_features=5, random_state=0)
    made = {"frame": pd.DataFrame, "sparse": sparse.coo_array, "list": np.ndarray.tolist}[kind]
    own = RNG.integers(0, 12, N) if groups else None
    more = spread(own, 99) if groups else None
    learners = [("ridge", Ridge()), ("more", Ridge(100.0))]
    one = StackingRegressor(learners, random_state=0).fit(made(X), y, WEIGHT, own)
    two = StackingRegressor(learners, random_state=0)
    two.fit(made(spread(X, 1e6)), spread(y, 1e6), spread(WEIGHT, 0.0), more)
    assert one.score_ == two.score_


def test_a_stack_without_its_weightless_rows_is_restacked_and_added_to() -> None:
    X, y = make_regression(N, n_features=5, random_state=0)
    stack = StackingRegressor(REGRESSORS, passthrough=True, random_state=0)
    stack.fit(spread(X, 1e6), spread(y, 1e6), spread(WEIGHT, 0.0))
    plain = StackingRegressor(REGRESSORS, passthrough=True, random_state=0).fit(X, y, WEIGHT)
    more = stack.restack("ridge", X=spread(X, 1e6))
    assert more.score_ == plain.restack("ridge").score_
    more, fewer = (s.add("more", Ridge(100.0)) for s in (stack, plain))
    assert more.score_ == fewer.score_
    assert more.oof_.iloc[MORE].isna().all(axis=None)


@pytest.mark.parametrize("top", ["pseudo_bma", "pseudo_bma_plus", "pool", "logistic", None])
@pytest.mark.parametrize("unit", [1 / 64, 4096.0])
def test_the_unit_of_weights_that_are_no_counts_means_nothing(top, unit) -> None:
    X, y = make_classification(N, n_features=5, random_state=0)
    one, two = (
        StackingClassifier(CLASSIFIERS, top, cv=4, calibrate="platt", random_state=0).fit(X, y, w)
        for w in (WEIGHT, unit * WEIGHT)
    )
    np.testing.assert_allclose(one.score_, two.score_, rtol=1e-9)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("top", ["ridge", "pseudo_bma"])
def test_a_small_unit_of_weights_does_not_shrink_a_stack_of_numbers(top) -> None:
    X, y = make_regression(N, n_features=5, random_state=0)
    one, two = (
        StackingRegressor([("line", LinearRegression()), *REGRESSORS[1:]], top, random_state=0)
        .fit(X, y, w)
        .predict(X)
        for w in (WEIGHT, WEIGHT / 64)
    )
    np.testing.assert_allclose(one, two, rtol=1e-9)


@pytest.mark.parametrize("top", ["log_score", "pseudo_bma", "pseudo_bma_plus", "simplex", "nnls"])
def test_a_weight_of_two_is_a_row_twice_for_every_rule_of_weights(top) -> None:
    rng = np.random.default_rng(3)
    y = rng.normal(size=40)
    members = y[:, None, None] + rng.normal(size=(40, 3, 1)) * [[[1.0], [1.5], [0.7]]]
    weight = rng.integers(1, 4, 40)
    one = WeightedMean(top, random_state=0).fit(members, y, weight.astype(float))
    two = WeightedMean(top, random_state=0).fit(members.repeat(weight, 0), y.repeat(weight))
    tolerance = 0.1 if top == "pseudo_bma_plus" else 1e-6
    np.testing.assert_allclose(one.weights_, two.weights_, atol=tolerance)
