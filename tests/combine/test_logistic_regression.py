import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from foldwise.combine.logistic_regression import logistic_coefficients
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


def test_columns_that_differ_by_many_orders_all_count() -> None:
    rng = np.random.default_rng(0)
    z = rng.uniform(300, 600, 50)
    y = rng.integers(0, 2, 50)
    # log(p) of such logits is about -1e-150, beside their own hundreds.
    columns = np.column_stack([-np.log1p(np.exp(-z)), z, np.ones(50)])
    found = logistic_coefficients(columns, y, np.ones(50), [1, 1, 0], non_negative=(0, 1))
    gradient = columns.T @ (expit(columns @ found) - y) + 0.01 * (found - [1, 1, 0])
    assert found[0] == pytest.approx(1.0)
    np.testing.assert_allclose(gradient / [1.0, 600.0, 1.0], 0.0, atol=1e-5)


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e5])
def test_the_conditions_of_a_minimum_hold(size) -> None:
    rng = np.random.default_rng(0)
    for n in range(1, 60):
        z = size * (rng.normal(size=n) + rng.normal())
        y, weight = rng.integers(0, 2, n), rng.choice([0.01, 1.0, 100.0], n)
        found = logistic_coefficients(with_ones(z), y, weight, [1, 0], non_negative=(0,))
        miss = weight * (expit(with_ones(z) @ found) - y)
        gradient = with_ones(z).T @ miss + 0.01 * (found - [1, 0])
        gradient /= weight.sum() * np.array([np.sqrt(np.mean(z**2)), 1.0]) + 0.01
        assert abs(gradient[1]) < 1e-6
        assert gradient[0] > -1e-6
        assert found[0] == 0.0 or gradient[0] < 1e-6
