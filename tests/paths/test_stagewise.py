import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from foldwise.errors import InvalidParameterError
from foldwise.paths import (
    arc_length,
    cross_validated_stagewise_path,
    lasso_path,
    monotone_lasso_path,
    stagewise_path,
)


def seed_algorithm(D, y, epsilon, n_steps):
    """The seed's forward stagewise, as written, on centred columns."""
    D, residual = D - D.mean(axis=0), y - y.mean()
    w = np.zeros(D.shape[1])
    for _ in range(n_steps):
        best = residual @ D / (D**2).sum(axis=0)
        errors = ((residual[:, None] - D * best) ** 2).sum(axis=0)
        k = int(np.argmin(errors))
        w[k] += epsilon * np.sign(best[k])
        residual = residual - epsilon * np.sign(best[k]) * D[:, k]
    return w


@pytest.mark.parametrize("n_steps", [1, 10, 137])
def test_steps_are_those_of_the_published_algorithm(make_problem, n_steps):
    D, y, _ = make_problem("squared")
    path = stagewise_path(D, y, epsilon=0.01, max_steps=n_steps)
    assert_allclose(path.coefs[-1], seed_algorithm(D, y, 0.01, n_steps), atol=1e-12)
    assert_allclose(path.arc_length[-1], 0.01 * n_steps)


def test_with_orthogonal_columns_it_is_the_lasso_to_epsilon():
    rng = np.random.default_rng(0)
    D, _ = np.linalg.qr(rng.normal(size=(64, 9)) - rng.normal(size=(64, 9)).mean(axis=0))
    D -= D.mean(axis=0)
    D, _ = np.linalg.qr(D)
    D *= 8
    y = D @ rng.normal(size=9) + rng.normal(size=64)
    epsilon = 0.002
    steps = stagewise_path(D, y, epsilon=epsilon, max_steps=10**5, n_points=10**5)
    lasso = lasso_path(D, y, lambdas=steps.lambdas[:-1:50])
    assert_allclose(steps.coefs[:-1:50], lasso.coefs, atol=1.01 * epsilon)


def test_it_ends_by_itself_where_no_step_lowers_the_squared_error(make_problem):
    D, y, _ = make_problem("squared", 60, 5)
    path = stagewise_path(D, y, epsilon=1e-3, max_steps=10**6)
    gradient = D.T @ (y - path.predictor(D)[-1]) / 60
    assert np.abs(gradient / D.std(axis=0)).max() < 1e-3
    assert path.arc_length[-1] < 50


@pytest.mark.parametrize("loss", ["logistic", "multinomial", "poisson", "huber"])
def test_every_stored_point_of_other_losses_is_lower_and_one_step_apart(make_problem, loss):
    D, y, w = make_problem(loss)
    path = stagewise_path(D, y, epsilon=0.05, loss=loss, sample_weight=w, max_steps=40, n_points=40)
    moves = np.diff(path.coefs.reshape(len(path.coefs), -1), axis=0)
    assert ((moves != 0).sum(axis=1) == 1).all()
    assert_allclose(np.abs(moves).sum(axis=1), 0.05)
    from foldwise.paths.rows import checked_rows

    losses = checked_rows(D, y, loss, w, None, None).losses(path.predictor(D)) @ w
    assert (np.diff(losses) < 0).all()


def test_squared_error_from_rows_and_from_moments_take_the_same_steps(make_problem):
    from foldwise.paths.rows import checked_rows
    from foldwise.paths.stagewise import MomentsWalker, RowsWalker, walk, walker

    D, y, w = make_problem("squared")
    rows = checked_rows(D, y, "squared", w, None, None)
    assert isinstance(walker(rows, 0.01), MomentsWalker)
    fast = walk(walker(rows, 0.01), 100, 10)
    slow = walk(RowsWalker(rows, 0.01), 100, 10)
    assert_allclose(fast.coefs, slow.coefs, atol=1e-12)
    assert_allclose(fast.intercepts, slow.intercepts, atol=1e-10)


def test_points_between_are_linear(make_problem):
    D, y, _ = make_problem("squared")
    path = stagewise_path(D, y, epsilon=0.01, max_steps=20, n_points=5)
    between = path.at(np.array([0.013, 0.05, 99.0]))
    expected = [np.interp([0.013, 0.05, 99.0], path.arc_length, c) for c in path.coefs.T]
    assert_allclose(between.coefs, np.transpose(expected), atol=1e-15)


@pytest.mark.parametrize("max_steps", [3, 50, 777])
def test_the_points_kept_are_enough_evenly_spaced_and_reach_the_end(make_problem, max_steps):
    D, y, _ = make_problem("squared")
    path = stagewise_path(D, y, epsilon=1e-4, max_steps=max_steps, n_points=10)
    assert min(max_steps, 10) < len(path.arc_length) <= 22
    assert len(np.unique(np.diff(path.arc_length)[:-1].round(9))) == 1
    assert_allclose(path.arc_length[-1], 1e-4 * max_steps)


def test_arc_length_counts_ways_back():
    assert_allclose(arc_length(np.array([[1.0], [3.0], [2.0]])), [1, 3, 4])


def test_a_step_must_have_a_size():
    message = (
        "stagewise_path: epsilon must be a number above 0; got 0. "
        "Use monotone_lasso_path for the limit of ever smaller steps."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        stagewise_path(np.eye(3), np.arange(3.0), epsilon=0)


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


@pytest.mark.parametrize("epsilon", [0.0, 0.01])
def test_each_fold_is_judged_by_the_path_that_never_saw_it(make_problem, epsilon):
    D, y, w = make_problem("squared")
    fold_of = np.arange(len(y)) % 3
    path = cross_validated_stagewise_path(
        D, y, fold_of=fold_of, epsilon=epsilon, sample_weight=w, max_steps=300, n_points=30
    )
    for k in range(3):
        train, test = fold_of != k, fold_of == k
        data = {"D": D[train], "y": y[train], "sample_weight": w[train]}
        if epsilon:
            part = stagewise_path(**data, epsilon=epsilon, max_steps=300, n_points=30)
        else:
            part = monotone_lasso_path(**data)
        eta = part.at(path.arc_length).predictor(D[test])
        expected = np.average((y[test] - eta) ** 2 / 2, axis=1, weights=w[test])
        assert_allclose(path.fold_loss[k], expected, rtol=1e-7)


def test_the_choice_stops_early_on_noise():
    rng = np.random.default_rng(0)
    D, y = rng.normal(size=(60, 30)), rng.normal(size=60)
    path = cross_validated_stagewise_path(D, y, fold_of=np.arange(60) % 5, epsilon=0.01)
    assert path.arc_length[path.index_min] < 0.2 * path.arc_length[-1]
    assert path.index_1se <= path.index_min


@pytest.mark.parametrize("loss", ["logistic", "multinomial", "poisson"])
def test_other_losses_are_judged_too(make_problem, loss):
    D, y, w = make_problem(loss)
    path = cross_validated_stagewise_path(
        D,
        y,
        fold_of=np.arange(len(y)) % 3,
        epsilon=0.05,
        loss=loss,
        sample_weight=w,
        max_steps=60,
    )
    assert path.cv_loss.min() < path.cv_loss[0]
    assert path.fold_loss.shape == (3, len(path.arc_length))


def test_the_limit_is_for_squared_error():
    message = (
        "cross_validated_stagewise_path: epsilon must be above zero with loss='logistic'; got 0. "
        "Try 0.01; only squared error has the exact limit."
    )
    with pytest.raises(TypeError, match=re.escape(message)):
        cross_validated_stagewise_path(
            np.eye(4), np.arange(4) % 2, fold_of=[0, 0, 1, 1], epsilon=0, loss="logistic"
        )


@pytest.mark.parametrize("epsilon", ["a", -1.0, None])
def test_a_step_that_is_no_size_is_named(epsilon):
    with pytest.raises(InvalidParameterError, match="epsilon must be a number at least 0; got"):
        cross_validated_stagewise_path(np.eye(4), np.ones(4), fold_of=[0, 1] * 2, epsilon=epsilon)
