import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from foldwise.paths.lasso import LassoPathClassifier, LassoPathRegressor
from foldwise.paths.linear import column_sizes


def test_sizes_are_weighted_standard_deviations():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(20, 3)) * (rng.random((20, 3)) < 0.5), rng.integers(0, 3, 20)
    expected = np.repeat(X, w, axis=0).std(axis=0)
    for kind in (np.asarray, sparse.csr_array):
        assert_allclose(column_sizes(kind(X), w.astype(float)), expected)


def test_rows_of_weight_zero_are_not_there():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    w = np.r_[np.ones(40), np.zeros(20)]
    folds = [(np.flatnonzero(np.arange(60) % 3 != k), np.arange(k, 60, 3)) for k in range(3)]
    fewer = [(train[train < 40], test[test < 40]) for train, test in folds]
    y[40:] = 1e6
    weighted = LassoPathRegressor(cv=folds).fit(X, y, w)
    assert_allclose(weighted.coef_, LassoPathRegressor(cv=fewer).fit(X[:40], y[:40]).coef_)


def test_a_class_that_has_no_weight_is_not_there():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 3
    model = LassoPathClassifier(n_lambdas=3).fit(X, y, (y != 1).astype(float))
    assert list(model.classes_) == [0, 2]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([1.0, -1.0, 1.0], "be finite and not negative (Negative values in data); got -1.0."),
        ([0.0, 0.0, 0.0], "not be zero everywhere; got all zeros."),
        ([1.0], "have one entry for each of the 3 rows of X"),
        ([np.nan, 1.0, 1.0], "be finite and not negative (Negative values in data); got nan."),
    ],
)
def test_bad_weights_are_named(bad, message):
    with pytest.raises(
        ValueError, match=re.escape(f"LassoPathRegressor: sample_weight must {message}")
    ):
        LassoPathRegressor().fit(np.eye(3), [1.0, 2.0, 3.0], bad)


def test_one_class_is_not_enough():
    message = (
        "LassoPathClassifier: y must hold at least two classes; got one class, 1. "
        "There is nothing to learn from one class: check how y was made."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        LassoPathClassifier().fit(np.eye(3), [1, 1, 1])
