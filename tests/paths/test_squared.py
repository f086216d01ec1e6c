import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge, enet_path

from foldwise.paths import fold_grams, squared
from foldwise.paths.penalty import Penalty
from foldwise.paths.squared import MomentsPath


def moments_of(D, y):
    (gram,) = fold_grams(D, y, np.zeros(len(y), dtype=int))
    return gram.centred()


def objective(moments, w, lam, l1_ratio):
    penalty = lam * (l1_ratio * np.abs(w).sum() + (1 - l1_ratio) / 2 * w @ w)
    return moments.yy / 2 + w @ moments.Q @ w / 2 - moments.q @ w + penalty


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("shape", [(100, 30), (40, 70)])
def test_objectives_along_the_path_are_scikit_learns_to_1e_6(make_problem, l1_ratio, shape):
    D, y, _ = make_problem("squared", *shape)
    moments = moments_of(D, y)
    follower = MomentsPath(moments, Penalty.uniform(l1_ratio, shape[1], False), 1e-10)
    lambdas = follower.largest * np.geomspace(1, 1e-2, 40)
    ours = follower.follow(lambdas)
    _, theirs, _ = enet_path(
        D - D.mean(0), y - y.mean(), l1_ratio=l1_ratio, alphas=lambdas, tol=1e-9, max_iter=10**6
    )
    for lam, w, v in zip(lambdas, ours, theirs.T, strict=True):
        best = objective(moments, v, lam, l1_ratio)
        assert_allclose(objective(moments, w, lam, l1_ratio), best, rtol=1e-6)


def test_ridge_is_scikit_learns_at_every_lambda(make_problem):
    D, y, _ = make_problem("squared", 60, 20)
    follower = MomentsPath(moments_of(D, y), Penalty.uniform(0.0, 20, False), 1e-4)
    lambdas = np.geomspace(10, 1e-3, 5)
    for lam, w in zip(lambdas, follower.follow(lambdas), strict=True):
        assert_allclose(w, Ridge(60 * lam).fit(D, y).coef_, rtol=1e-7)


def test_the_working_set_changes_no_digit_that_counts(make_problem, monkeypatch):
    D, y, _ = make_problem("squared", 100, 60)
    moments, penalty = moments_of(D, y), Penalty.uniform(1.0, 60, False)
    lambdas = np.abs(moments.q).max() * np.geomspace(1, 1e-3, 30)
    screened = MomentsPath(moments, penalty, 1e-4).follow(lambdas)
    monkeypatch.setattr(squared, "LOOK_AHEAD", 0.0)
    assert_allclose(screened, MomentsPath(moments, penalty, 1e-4).follow(lambdas), atol=1e-9)


def test_coordinate_descent_takes_over_where_pivoting_fails(make_problem, monkeypatch):
    D, y, _ = make_problem("squared", 100, 30)
    moments, penalty = moments_of(D, y), Penalty.uniform(1.0, 30, False)
    lambdas = np.abs(moments.q).max() * np.geomspace(1, 1e-2, 20)
    exact = MomentsPath(moments, penalty, 1e-4).follow(lambdas)
    monkeypatch.setattr(squared.ActiveSet, "solve", lambda *_: None)
    slow = MomentsPath(moments, penalty, 1e-12).follow(lambdas)
    assert_allclose(slow, exact, atol=1e-5)


def test_the_path_ends_before_it_uses_too_many_columns(make_problem):
    D, y, _ = make_problem("squared")
    moments = moments_of(D, y)
    lambdas = np.abs(moments.q).max() * np.geomspace(1, 1e-3, 50)
    path = MomentsPath(moments, Penalty.uniform(1.0, 25, False), 1e-4).follow(lambdas, 5)
    assert 0 < len(path) < 50
    assert (path != 0).sum(axis=1).max() <= 5


def test_a_constant_target_has_no_coefficients():
    moments = moments_of(np.eye(4), np.ones(4))
    path = MomentsPath(moments, Penalty.uniform(1.0, 4, False), 1e-4)
    assert not path.follow(np.array([1.0, 1e-3])).any()
