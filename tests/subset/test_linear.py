import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.model_selection import KFold

from foldwise import AveragedCVRegressor, BestSubsetRegressor
from foldwise.subset.linear import dense, splits_of
from foldwise.subset.moments import WeightedRows


def test_masks_and_positions_mean_the_same_rows():
    rows = WeightedRows(np.zeros((3, 1)), np.zeros(3), np.ones(3))
    splits = [([True, False, True], [False, True, False]), ([2, 0], np.array([1]))]
    (first, _), (second, test) = splits_of("T", splits, rows, None)
    assert_array_equal(first, [0, 2])
    assert_array_equal(second, [2, 0])
    assert_array_equal(test, [1])


def test_an_int_makes_contiguous_folds_as_in_scikit_learn():
    X, y = np.zeros((10, 1)), np.zeros(10)
    for ours, theirs in zip(
        splits_of("T", 5, WeightedRows(X, y, y), None), KFold(5).split(X), strict=True
    ):
        assert_array_equal(ours[1], theirs[1])


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
