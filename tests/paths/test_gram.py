from functools import reduce
from operator import add

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from foldwise.paths import fold_grams
from foldwise.paths.gram import moved_to_zero, weighted_products


@pytest.fixture(name="problem")
def problem_fixture():
    rng = np.random.default_rng(0)
    D = rng.normal(loc=5, size=(50, 6)) * (rng.random((50, 6)) < 0.6)
    return D, rng.normal(loc=100, size=50), rng.integers(1, 4, 50).astype(float)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_total_minus_a_fold_is_the_gram_of_the_other_rows(problem, kind):
    D, y, w = problem
    fold_of = np.arange(50) % 4
    grams = fold_grams(kind(D), y, fold_of, w)
    left = (reduce(add, grams) - grams[2]).centred()
    rows = fold_of != 2
    mean = np.average(D[rows], axis=0, weights=w[rows])
    moved, share = D[rows] - mean, w[rows] / w[rows].sum()
    assert_allclose(left.mean_d, mean, rtol=1e-12)
    assert_allclose(left.Q, moved.T @ (share[:, None] * moved), rtol=0, atol=1e-11)
    y_moved = y[rows] - share @ y[rows]
    assert_allclose(left.q, moved.T @ (share * y_moved), rtol=0, atol=1e-11)
    assert_allclose(left.yy, share @ y_moved**2, rtol=1e-10)


def test_weights_equal_repetition(problem):
    D, y, w = problem
    again = np.repeat(np.arange(50), w.astype(int))
    (weighted,) = fold_grams(D, y, np.zeros(50, dtype=int), w)
    (repeated,) = fold_grams(D[again], y[again], np.zeros(len(again), dtype=int))
    for name in ("Q", "q", "yy", "mean_d", "mean_y"):
        one, other = getattr(weighted.centred(), name), getattr(repeated.centred(), name)
        assert_allclose(one, other, rtol=0, atol=1e-10)


@pytest.mark.parametrize("density", [0.005, 0.3])
def test_sparse_rules_multiply_exactly(density):
    # 10,000 rows are several blocks, and the rows of zeros and ones go by single precision.
    rng = np.random.default_rng(1)
    D = (rng.random((10_000, 7)) < density).astype(float)
    found = weighted_products(sparse.csr_array(D), np.ones(10_000), np.zeros(7))
    assert (found == D.T @ D).all()


def test_a_column_constant_in_the_training_rows_has_no_variance_left():
    D = np.zeros((30, 2))
    D[:5, 0], D[:, 1] = 1e8 / 3, np.arange(30)
    fold_of = (np.arange(30) < 5).astype(int)
    grams = fold_grams(D, np.arange(30.0), fold_of)
    left = (grams[0] + grams[1] - grams[1]).centred()
    assert (left.Q[0] == 0).all()
    assert left.q[0] == 0


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_columns_of_little_spread_are_moved_without_rounding_and_constants_vanish(kind):
    D = np.column_stack([2.46e6 + np.arange(6) / 8, np.full(6, 1e9 / 3), np.arange(6.0)])
    moved, base = moved_to_zero(kind(D))
    moved = moved.toarray() if sparse.issparse(moved) else moved
    assert (moved + base == D).all()
    assert base.tolist() == [2.46e6, 1e9 / 3, 0.0]
    assert not moved[:, 1].any()


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_moments_do_not_depend_on_how_far_a_column_is_from_zero(kind):
    rng = np.random.default_rng(2)
    D, y, fold_of = rng.integers(0, 64, (40, 3)) / 64, rng.normal(size=40), np.arange(40) % 4
    far = D + np.array([2.0**23, -(2.0**33), 0.0])
    near, away = (sum_without(kind(each), y, fold_of) for each in (D, far))
    assert_allclose(away.Q, near.Q, rtol=1e-9, atol=1e-12)
    assert_allclose(away.q, near.q, rtol=1e-9, atol=1e-12)
    assert_allclose(away.mean_d, near.mean_d + far[0] - D[0], rtol=1e-14)


def sum_without(D, y, fold_of):
    grams = fold_grams(D, y, fold_of)
    return (reduce(add, grams) - grams[1]).centred()
