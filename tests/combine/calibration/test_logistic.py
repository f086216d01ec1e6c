import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from foldwise.combine.calibration.logistic import logistic_coefficients
from tests.combine.calibration.predictions import breast_cancer


def with_ones(z):
    return np.column_stack([z, np.ones(len(z))])


def objective(theta, columns, y, weight, towards, ridge):
    eta = columns @ theta
    return weight @ (np.logaddexp(0, eta) - y * eta) + ridge / 2 * np.sum((theta - towards) ** 2)


def test_without_a_pull_it_is_scikit_learns_logistic_regression() -> None:
    z, y = breast_cancer()
    found = logistic_coefficients(with_ones(z), y, np.ones(len(y)), [0, 0], ridge=0.0)
    model = LogisticRegression(C=np.inf, tol=1e-10, solver="newton-cholesky").fit(z[:, None], y)
    np.testing.assert_allclose(found, [model.coef_[0, 0], model.intercept_[0]], rtol=1e-7)


@pytest.mark.parametrize("ridge", [0.01, 3.0, 1000.0])
def test_the_pulled_minimum_is_that_of_a_general_optimiser(ridge) -> None:
    rng = np.random.default_rng(0)
    columns, y = rng.normal(size=(50, 3)), rng.integers(0, 2, 50)
    weight, towards = rng.uniform(size=50), np.array([1.0, 2.0, -1.0])
    found = logistic_coefficients(columns, y, weight, towards, ridge=ridge)
    arguments = (columns, y, weight, towards, ridge)
    brute = minimize(objective, np.zeros(3), arguments, method="Nelder-Mead", tol=1e-10).x
    np.testing.assert_allclose(found, brute, atol=1e-4)
    assert objective(found, *arguments) <= objective(brute, *arguments) + 1e-12


def test_bounds_are_met_at_the_constrained_minimum() -> None:
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(80, 3))
    y = (columns @ [2.0, -1.5, 0.3] + rng.logistic(size=80) > 0).astype(int)
    arguments = (columns, y, np.ones(80), np.ones(3), 0.01)
    found = logistic_coefficients(columns, y, np.ones(80), np.ones(3), non_negative=(0, 1))
    brute = minimize(
        objective, np.zeros(3), arguments, method="L-BFGS-B", bounds=[(0, None)] * 2 + [(None,) * 2]
    )
    assert found[1] == 0.0
    np.testing.assert_allclose(found, brute.x, atol=1e-4)


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e6])
def test_columns_of_any_size_reach_the_minimum(size) -> None:
    z, y = breast_cancer()
    found = logistic_coefficients(with_ones(size * z), y, np.ones(len(y)), [0, 0], ridge=0.0)
    usual = logistic_coefficients(with_ones(z), y, np.ones(len(y)), [0, 0], ridge=0.0)
    np.testing.assert_allclose(found * [size, 1.0], usual, rtol=1e-6)


def test_separable_rows_have_a_finite_answer() -> None:
    z = np.array([-1.0, 1.0])
    found = logistic_coefficients(with_ones(z), np.array([0, 1]), np.ones(2), [1, 0])
    assert 3 < found[0] < 10
    assert found[1] == pytest.approx(0.0, abs=1e-9)
