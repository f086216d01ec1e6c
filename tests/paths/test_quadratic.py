import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import lsq_linear
from sklearn.linear_model import ElasticNet

from foldwise.paths import quadratic
from foldwise.paths.quadratic import PenalisedQuadratic, ridge


@pytest.fixture(name="data")
def data_fixture():
    rng = np.random.default_rng(0)
    D = rng.normal(size=(80, 9)) @ rng.normal(size=(9, 9))
    y = D @ rng.normal(size=9) + rng.normal(size=80)
    return D, y, D.T @ D / 80, D.T @ y / 80, y @ y / 80


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("most", [0, 1000])
def test_an_elastic_net_is_scikit_learns(data, positive, most, monkeypatch):
    # most=0 sends the problem to coordinate descent instead of pivoting.
    monkeypatch.setattr(quadratic, "MOST_COLUMNS_TO_INVERT", most - 1)
    D, y, Q, q, yy = data
    oracle = ElasticNet(
        alpha=0.3, l1_ratio=0.6, fit_intercept=False, positive=positive, tol=1e-12, max_iter=10**6
    ).fit(D, y)
    one = np.ones(9)
    w = PenalisedQuadratic(Q, q, yy, positive, 1e-13).solve(0.18 * one, 0.12 * one, 0 * one)
    assert_allclose(w, oracle.coef_, atol=1e-5)


def test_unequal_penalties_satisfy_their_own_conditions(data):
    _, _, Q, q, yy = data
    l1, l2 = np.linspace(0.1, 2, 9), np.linspace(1, 0, 9)
    w = PenalisedQuadratic(Q, q, yy, False, 1e-13).solve(l1, l2, np.zeros(9))
    left = q - Q @ w - l2 * w
    assert_allclose(left[w != 0], (l1 * np.sign(w))[w != 0], atol=1e-8)
    assert (np.abs(left) <= l1 + 1e-8).all()
    assert 0 < (w != 0).sum() < 9


def test_free_columns_are_left_uncorrelated_with_what_remains(data):
    _, _, Q, q, yy = data
    l1 = np.r_[0, 0, np.full(7, 0.5)]
    w = PenalisedQuadratic(Q, q, yy, True, 1e-13).solve(l1, 0 * l1, np.zeros(9))
    left = q - Q @ w
    assert_allclose(left[:2], 0, atol=1e-10)
    assert (w[2:] >= 0).all()
    assert (left <= l1 + 1e-8).all()


def test_only_free_columns_is_least_squares(data):
    D, y, Q, q, yy = data
    none = np.zeros(9)
    w = PenalisedQuadratic(Q, q, yy, False, 0.0).solve(none, none, none)
    assert_allclose(w, np.linalg.lstsq(D, y, rcond=None)[0], rtol=1e-8)


def test_non_negative_ridge_is_bounded_least_squares(data):
    D, y, Q, q, yy = data
    none, some = np.zeros(9), np.full(9, 0.2)
    w = PenalisedQuadratic(Q, q, yy, True, 0.0).solve(none, some, none)
    tall = np.vstack([D / np.sqrt(80), np.sqrt(0.2) * np.eye(9)])
    oracle = lsq_linear(tall, np.r_[y / np.sqrt(80), none], (0, np.inf), tol=1e-14)
    assert_allclose(w, oracle.x, atol=1e-6)


def test_ridge_of_copies_shares_the_coefficient():
    Q = np.ones((2, 2))
    assert_allclose(ridge(Q, np.ones(2), np.zeros(2)), [0.5, 0.5])


def test_coordinate_descent_stops_at_the_gap_it_was_given(data):
    _, _, Q, q, yy = data

    def objective(w):
        return w @ Q @ w / 2 - q @ w + 0.1 * np.abs(w).sum()

    best = PenalisedQuadratic(Q, q, yy, False, 1e-14).descend(0.1, np.zeros(9))
    for gap in (1.0, 1e-3, 1e-6):
        assert (
            objective(PenalisedQuadratic(Q, q, yy, False, gap).descend(0.1, np.zeros(9)))
            <= objective(best) + gap
        )
