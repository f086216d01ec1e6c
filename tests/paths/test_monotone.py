from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from foldwise.paths import lasso_path, monotone_lasso_path, stagewise_path


def correlated(seed, n=80, p=8):
    rng = np.random.default_rng(seed)
    D = rng.normal(size=(n, p)) @ (np.eye(p) + 0.6 * rng.normal(size=(p, p)))
    return D, D @ rng.normal(size=p) + 2 * rng.normal(size=n)


def correlations(path, D, y):
    """Return the correlation of every column with the residual, in units of its size."""
    residuals = y - path.predictor(D)
    return residuals @ (D - D.mean(axis=0)) / len(y) / D.std(axis=0)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_only_columns_of_largest_correlation_move_and_in_its_direction(seed):
    D, y = correlated(seed)
    path = monotone_lasso_path(D, y, lambda_min_ratio=1e-4)
    left = correlations(path, D, y)
    level = np.abs(left).max(axis=1)
    assert_allclose(level, path.lambdas, atol=1e-7)
    moves = np.diff(path.coefs, axis=0)
    moving = np.abs(moves) > 1e-10
    for step, who, before, after, top in zip(
        moves, moving, left[:-1], left[1:], pairwise(level), strict=True
    ):
        assert_allclose(np.abs(before[who]), top[0], atol=1e-6)
        assert_allclose(np.abs(after[who]), top[1], atol=1e-6)
        assert (np.sign(step[who]) == np.sign(before[who])).all()


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_no_other_permitted_move_lowers_the_squared_error_faster(seed):
    # At first all tied columns lower it equally; what tells moves of equal length apart is the
    # curvature of the squared error along them, which must be least.
    D, y = correlated(seed)
    path = monotone_lasso_path(D, y, lambda_min_ratio=1e-2)
    left, size = correlations(path, D, y), D.std(axis=0)
    Q = np.cov(D.T, bias=True) / np.outer(size, size)
    rng = np.random.default_rng(seed)
    for step, before, level in zip(
        np.diff(path.coefs, axis=0) * size, left[:-1], path.lambdas[:-1], strict=True
    ):
        tied = np.flatnonzero(np.abs(before) > level * (1 - 1e-7))
        turned = Q[np.ix_(tied, tied)] * np.outer(np.sign(before[tied]), np.sign(before[tied]))
        share = np.abs(step[tied]) / np.abs(step).sum()
        for other in rng.dirichlet(np.full(len(tied), 0.5), size=50):
            assert share @ turned @ share <= other @ turned @ other + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_small_steps_converge_to_it_in_proportion_to_their_size(seed):
    D, y = correlated(seed)
    limit = monotone_lasso_path(D, y, lambda_min_ratio=1e-4)
    errors = []
    for epsilon in (0.02, 0.002):
        steps = stagewise_path(D, y, epsilon=epsilon, max_steps=20_000, n_points=20_000)
        inside = steps.arc_length < 0.5 * limit.arc_length[-1]
        errors.append(np.abs(limit.at(steps.arc_length[inside]).coefs - steps.coefs[inside]).max())
        assert errors[-1] < 20 * epsilon
    assert errors[1] < errors[0]


def test_with_orthogonal_columns_it_is_the_lasso():
    rng = np.random.default_rng(0)
    D = rng.normal(size=(60, 7))
    D, _ = np.linalg.qr(D - D.mean(axis=0))
    D *= np.sqrt(60)
    y = D @ rng.normal(size=7) + rng.normal(size=60)
    limit = monotone_lasso_path(D, y)
    lasso = lasso_path(D, y, lambdas=limit.lambdas)
    assert_allclose(limit.coefs, lasso.coefs, atol=1e-8)


def test_where_no_coefficient_turns_back_it_is_the_lasso():
    # Two positively correlated columns that both help: both paths are monotone, hence equal.
    rng = np.random.default_rng(1)
    D = rng.normal(size=(100, 2)) + rng.normal(size=(100, 1))
    D /= D.std(axis=0)
    y = D @ np.array([2.0, 1.0]) + 0.1 * rng.normal(size=100)
    limit = monotone_lasso_path(D, y)
    assert_allclose(limit.coefs, lasso_path(D, y, lambdas=limit.lambdas).coefs, atol=1e-8)


def test_it_ends_at_least_squares():
    D, y = correlated(5)
    path = monotone_lasso_path(D, y, lambda_min_ratio=1e-9)
    best = np.linalg.lstsq(np.c_[np.ones(80), D], y, rcond=None)[0]
    assert_allclose(path.coefs[-1], best[1:], atol=1e-4)
    assert_allclose(path.intercepts[-1], best[0], atol=1e-4)


def test_copies_constants_and_more_columns_than_rows_do_no_harm():
    rng = np.random.default_rng(2)
    D = rng.normal(size=(20, 30))
    D[:, 3], D[:, 4] = D[:, 5], 1.0
    y = rng.normal(size=20)
    path = monotone_lasso_path(sparse.csr_array(D), y)
    assert not path.coefs[:, 4].any()
    assert np.isfinite(path.coefs).all()
    assert path.lambdas[-1] <= 1.01e-3 * path.lambdas[0]


def test_a_constant_target_has_a_path_of_one_point():
    path = monotone_lasso_path(np.eye(4), np.ones(4))
    assert len(path.lambdas) == 1
    assert not path.at(np.array([0.0, 1.0])).coefs.any()
