import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from foldwise.paths import arc_length, lasso_path, stagewise_path


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
