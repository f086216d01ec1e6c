import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from foldwise.subset.coefficients import (
    independent,
    least_squares,
    least_squares_by_split,
    residual_sum,
)
from foldwise.subset.moments import Moments, all_rows, by_split


def moments_of(X, y):
    return all_rows(X, y, np.ones(len(y)))


def test_least_squares_equals_numpy_in_the_units_of_the_data():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)) * [1, 1e3, 1e-3] + [0, 1e4, 0], rng.normal(size=30)
    Z = np.column_stack([np.ones(30), X])
    beta, rss, _, _ = np.linalg.lstsq(Z, y, rcond=None)
    assert_allclose(least_squares(moments_of(X, y), np.arange(4)), beta, rtol=1e-7)
    assert_allclose(residual_sum(moments_of(X, y), np.arange(4)), rss[0], rtol=1e-10)


def test_columns_aliased_with_earlier_ones_get_zero():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    doubled = np.column_stack([X, X[:, 0] - X[:, 1], np.ones(30)])
    moments = moments_of(doubled, y)
    assert_array_equal(independent(moments.gram, np.arange(5)), [0, 1, 2])
    beta = least_squares(moments, np.arange(5))
    assert_array_equal(beta[3:], 0)
    assert_allclose(beta[:3], least_squares(moments_of(X, y), np.arange(3)), rtol=1e-9)
    swapped = least_squares(moments, np.array([0, 3, 1, 2]))
    assert swapped[2] == 0
    assert swapped[3] != 0


def test_splits_solved_together_equal_splits_solved_alone_with_aliased_columns() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[:30, 2] = X[:30, 0]
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=60)
    rows = np.arange(60)
    splits = [(rows[:30], rows[30:]), (rows[30:], rows[:30]), (rows[10:], rows[:10])]
    train, _ = by_split(X, y, np.ones(60), splits)
    subsets = [np.array([0, 1, 2, 3])] * 3
    alone = [
        least_squares(Moments(gram, train.centre, train.scale), columns)
        for gram, columns in zip(train.gram, subsets, strict=True)
    ]
    together = least_squares_by_split(train, subsets)
    np.testing.assert_allclose(together, alone, rtol=1e-10)
    assert together[0, 3] == 0.0
