import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given as given_
from hypothesis import settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, PredefinedSplit

from foldwise import (
    AveragedCVClassifier,
    AveragedCVRegressor,
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
    BestSubsetRegressor,
)
from foldwise.folds import deal
from foldwise.subset.linear import Given, dense, splits_of
from foldwise.subset.moments import SubsetRows


def given(n, y=None, groups=None):
    rows = SubsetRows(np.zeros((n, 1)), np.zeros(n) if y is None else y, np.ones(n))
    return Given(rows, groups, None)


def test_masks_and_positions_mean_the_same_rows():
    splits = [([True, False, True], [False, True, False]), ([2, 0], np.array([1]))]
    (first, _), (second, test) = splits_of("T", splits, given(3))
    assert_array_equal(first, [0, 2])
    assert_array_equal(second, [2, 0])
    assert_array_equal(test, [1])


def test_an_int_deals_the_shuffled_folds_that_a_stack_deals():
    for cv, classes in [(5, None), (None, None), (np.int64(3), np.arange(10) % 2)]:
        rows = given(10, y=np.zeros(10) if classes is None else classes.astype(float))
        ours = splits_of("T", cv, rows, classifier=classes is not None)
        theirs = deal(cv, 10, classes=classes, owner="T")
        for (_, test), expected in zip(ours, theirs.tests, strict=True):
            assert_array_equal(test, expected)


def test_a_splitter_deals_its_own_folds_contiguous_ones_among_them():
    for ours, theirs in zip(
        splits_of("T", KFold(5), given(10)), KFold(5).split(np.zeros(10)), strict=True
    ):
        assert_array_equal(ours[1], theirs[1])


def test_an_int_keeps_groups_together():
    groups = np.repeat(["a", "b", "c", "d", "e", "f"], 3)
    for train, test in splits_of("T", 3, given(18, groups=groups)):
        assert not set(groups[train]) & set(groups[test])


def test_given_splits_are_renumbered_where_rows_weigh_nothing():
    door = Given(given(3).rows, None, np.array([True, False, True, False, True]))
    splits = [([0, 1, 2], [3, 4]), ([False, False, False, True, True], [0, 1, 2])]
    (train, test), (rest, _) = splits_of("T", splits, door)
    assert_array_equal(train, [0, 1])
    assert_array_equal(test, [2])
    assert_array_equal(rest, [2])
    (_, test), _ = splits_of("T", PredefinedSplit([0, 0, 1, 1, 0]), door)
    assert_array_equal(test, [0, 2])
    message = (
        "T: cv must train and test every split on rows of positive weight; got "
        "[([0], [1]), ([2], [4])]. Leave out splits without any."
    )
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        splits_of("T", [([0], [1]), ([2], [4])], door)


ESTIMATORS = [
    BestSubsetRegressor(),
    BestSubsetRegressor("cv", cv=3),
    BestSubsetRegressor("cv", cv=KFold(3)),
    AveragedCVRegressor(3),
    AveragedCVRegressor(3, candidates="lasso", n_alphas=5),
    AveragedCVClassifier(3),
    AveragedCVClassifier(3, candidates="lasso", n_alphas=5),
    BayesianModelAveragingRegressor(),
    BayesianModelAveragingRegressor("g"),
    BayesianModelAveragingClassifier(),
    BayesianModelAveragingClassifier(method="branch_and_bound"),
]


def weighted_rows(estimator, seed=0):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(45, 4)), rng.random(45) + 0.5
    y = X[:, 0] - 0.5 * X[:, 1] + rng.normal(size=45)
    return X, (y > 0).astype(int) if is_classifier(estimator) else y, weights


def numbers_of(model):
    """All fitted arrays of numbers, by name."""
    fitted = {name: value for name, value in vars(model).items() if name.endswith("_")}
    return {
        name: np.asarray(value, dtype=np.float64)
        for name, value in fitted.items()
        if isinstance(value, float | np.ndarray) and np.asarray(value).dtype.kind in "bif"
    }


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@settings(max_examples=4, deadline=None)
@given_(seed=st.integers(0, 2**16), whole=st.booleans())
def test_rows_of_weight_zero_change_no_bit(estimator, seed, whole):
    X, y, weights = weighted_rows(estimator, seed)
    weights = np.ceil(weights) if whole else weights
    rng = np.random.default_rng(seed)
    at = np.sort(rng.integers(0, 45, size=9))
    garbage = rng.choice([1e9, -3.0, np.nan], size=(9, 4))
    labels = np.full(9, 7) if is_classifier(estimator) else np.full(9, 1e9)
    without = clone(estimator).fit(X, y, weights)
    with_them = clone(estimator).fit(
        np.insert(X, at, garbage, axis=0), np.insert(y, at, labels), np.insert(weights, at, 0.0)
    )
    expected, found = numbers_of(without), numbers_of(with_them)
    assert expected.keys() == found.keys()
    assert len(expected) > 3
    for name, value in expected.items():
        assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("times", [1e-300, 1 / 45, 3.7, 1e5])
def test_the_unit_of_weights_that_are_no_counts_means_nothing(estimator, times):
    X, y, weights = weighted_rows(estimator)
    expected = numbers_of(clone(estimator).fit(X, y, weights))
    found = numbers_of(clone(estimator).fit(X, y, times * weights))
    for name, value in expected.items():
        assert_allclose(found[name], value, rtol=1e-6, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_equal_weights_of_any_size_are_none_unless_they_are_counts(estimator):
    X, y, _ = weighted_rows(estimator)
    expected = numbers_of(clone(estimator).fit(X, y))
    found = numbers_of(clone(estimator).fit(X, y, np.full(45, 1 / 45)))
    for name, value in expected.items():
        assert_allclose(found[name], value, rtol=1e-6, atol=1e-9, err_msg=name)


@pytest.mark.parametrize(
    "estimator", [e for e in ESTIMATORS if not hasattr(e, "cv") or e.cv == 5], ids=str
)
def test_whole_weights_count_rows(estimator):
    X, y, _ = weighted_rows(estimator)
    times = np.random.default_rng(1).integers(1, 4, size=45)
    expected = numbers_of(
        clone(estimator).fit(np.repeat(X, times, axis=0), np.repeat(y, times, axis=0))
    )
    found = numbers_of(clone(estimator).fit(X, y, times))
    for name, value in expected.items():
        assert_allclose(found[name], value, rtol=1e-6, atol=1e-9, err_msg=name)


def test_rows_of_weight_zero_are_no_rows():
    with pytest.raises(ValueError, match=r"1 sample.* a minimum of 2 is required"):
        BestSubsetRegressor().fit(np.eye(3), np.arange(3.0), [1.0, 0.0, 0.0])


def test_sparse_rows_are_read_as_dense_ones():
    X = sparse.csr_array(np.eye(3))
    assert_array_equal(dense(X), np.eye(3))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            np.zeros(3),
            "sample_weight must not be zero everywhere; got all zeros. "
            "Leave it out for equal weights.",
        ),
        (
            [1.0, -1.0, 1.0],
            "sample_weight must be finite and not negative (Negative values in data); got -1.0. "
            "Drop these rows instead.",
        ),
        (
            np.ones(2),
            "sample_weight must have one entry for each of the 3 rows of X (inconsistent numbers "
            "of samples); got 2. Give the same rows to both.",
        ),
    ],
)
def test_weights_that_cannot_be_used_are_errors(weights, message):
    message = f"BestSubsetRegressor: {message}"
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        BestSubsetRegressor().fit(np.zeros((3, 1)), np.zeros(3), weights)


def test_predictions_of_sparse_and_dense_rows_agree():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    model = AveragedCVRegressor(empty_model=False).fit(X, y)
    assert_allclose(model.predict(sparse.csr_array(X)), model.predict(X), rtol=1e-10)


def test_plain_arrays_are_read_as_they_are_and_forget_the_names_of_a_frame_before():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    named = AveragedCVRegressor(cv=4).fit(pd.DataFrame(X, columns=list("abc")), y)
    coefficients, before = named.coef_, (X.copy(), y.copy())
    plain = named.fit(X, y)
    assert not hasattr(plain, "feature_names_in_")
    assert plain.n_features_in_ == 3
    assert_allclose(plain.coef_, coefficients, rtol=1e-12)
    assert_array_equal(X, before[0])
    assert_array_equal(y, before[1])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_plain_arrays_with_numbers_that_are_none_are_refused(bad):
    X, y = np.eye(6), np.arange(6.0)
    X[2, 1] = bad
    with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
        AveragedCVRegressor(cv=2).fit(X, y)
    with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
        AveragedCVRegressor(cv=2).fit(np.eye(6), X[:, 1])
