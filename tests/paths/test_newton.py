import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import LogisticRegression, PoissonRegressor

from foldwise.losses import Logistic
from foldwise.losses.numbers import CappedPoisson
from foldwise.paths import newton
from foldwise.paths.newton import (
    Curvature,
    NewtonSolver,
    OnePredictor,
    Predictor,
    by_column,
)
from foldwise.paths.penalty import Penalty


def solved(D, y, loss, lam, l1_ratio=0.0, tol=1e-14):
    n, p = D.shape
    problem = NewtonSolver(
        by_column(D), np.full(n, 1 / n), Penalty.uniform(l1_ratio, p, False), tol
    )
    one = OnePredictor(problem, loss, [y], np.zeros((1, n)))
    at = one.predictors[0]
    problem.refresh(at)
    one.solve(lam, lam)
    return at


def test_ridge_poisson_regression_is_scikit_learns(make_problem):
    D, y, _ = make_problem("poisson")
    oracle = PoissonRegressor(alpha=0.1, tol=1e-10, max_iter=1000).fit(D, y)
    at = solved(D, y, CappedPoisson(), 0.1)
    assert_allclose(at.w, oracle.coef_, atol=1e-6)
    assert_allclose(at.intercept, oracle.intercept_, atol=1e-6)


def test_ridge_logistic_regression_is_scikit_learns(make_problem):
    D, y, _ = make_problem("logistic")
    oracle = LogisticRegression(C=1 / (0.1 * len(y)), tol=1e-10, max_iter=1000).fit(D, y)
    at = solved(D, y, Logistic(), 0.1)
    assert_allclose(at.w, oracle.coef_[0], atol=1e-6)


def test_curvature_kept_or_not_the_optimum_is_the_same(make_problem, monkeypatch):
    D, y, _ = make_problem("poisson")
    kept = solved(D, y, CappedPoisson(), 0.05, l1_ratio=1.0)
    monkeypatch.setattr(newton, "KEEP_WHILE", 0.0)
    assert_allclose(kept.w, solved(D, y, CappedPoisson(), 0.05, l1_ratio=1.0).w, atol=1e-6)


def test_every_step_lowers_the_objective_even_from_far_away(make_problem):
    D, y, _ = make_problem("poisson")
    loss, n = CappedPoisson(), len(y)
    problem = NewtonSolver(
        by_column(D), np.full(n, 1 / n), Penalty.uniform(1.0, D.shape[1], False), 1e-12
    )
    at = Predictor.zero(loss, y, np.full(n, -8.0), D.shape[1])
    values = []
    for _ in range(15):
        values.append(loss.value(y, at.eta).mean() + problem.penalty.value(at.w, 0.01))
        problem.step(at, 0.01, np.arange(D.shape[1]))
    assert (np.diff(values) <= 1e-12).all()
    assert values[-1] < values[0]


def test_the_predictor_of_every_row_follows_the_coefficients(make_problem):
    D, y, _ = make_problem("logistic")
    at = solved(D, y, Logistic(), 0.02, l1_ratio=1.0)
    assert_allclose(at.eta, D @ at.w + at.intercept, atol=1e-10)


@pytest.mark.parametrize("lam", [0.05, 0.01])
def test_separated_classes_do_not_run_away(lam):
    D = np.linspace(-1, 1, 20)[:, None]
    at = solved(D, (D[:, 0] > 0).astype(float), Logistic(), lam, l1_ratio=1.0, tol=1e-8)
    assert np.isfinite(at.w).all()
    assert 0 < at.w[0] < 100


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("columns", [[1, 2, 4, 5], [0, 1, 2, 3, 4, 5, 6], [2], [0, 6], [1, 2, 5]])
def test_moving_to_other_columns_is_computing_them_afresh(kind, columns):
    rng = np.random.default_rng(0)
    dictionary = by_column(kind(rng.normal(size=(30, 7)) * (rng.random((30, 7)) < 0.5)))
    weights, columns = rng.random(30), np.array(columns)
    moved = Curvature.at(dictionary, weights, np.array([1, 2, 5])).moved_to(dictionary, columns)
    fresh = Curvature.at(dictionary, weights, columns)
    assert_allclose(moved.Q, fresh.Q, atol=1e-12)
    assert_allclose(moved.centre, fresh.centre, atol=1e-12)


def test_moments_are_centred_by_the_curvature():
    dictionary = by_column(np.arange(6.0).reshape(3, 2))
    found = Curvature.at(dictionary, np.array([1.0, 0.0, 3.0]), np.array([0, 1]))
    assert_allclose(found.centre, [3, 4])
    assert_allclose(found.Q, np.full((2, 2), 12))
