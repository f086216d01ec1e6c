import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize

from foldwise.subset.logistic import ClassRows, fit_all, scaled_rows, seconds_for, variances
from foldwise.subset.moments import SubsetRows


def rows(n=80, p=4, seed=0):
    rng = np.random.default_rng(seed)
    Z = np.column_stack([np.ones(n), rng.normal(size=(n, p))])
    y = (rng.random(n) < 1 / (1 + np.exp(-Z[:, 1] + 0.5))).astype(float)
    return Z, y, rng.random(n) + 0.5


def test_every_subset_reaches_the_maximum_that_scipy_finds():
    Z, y, weights = rows()
    subsets = [(0, *c) for size in range(5) for c in itertools.combinations(range(1, 5), size)]
    kept = np.array([[j in columns for j in range(5)] for columns in subsets])
    betas, losses = fit_all(ClassRows(Z, y, weights), kept)
    for columns, beta, loss in zip(subsets, betas, losses, strict=True):
        part = Z[:, columns]

        def objective(b, part=part):
            margins = part @ b * (1 - 2 * y)
            return weights @ np.logaddexp(0, margins)

        def gradient(b, part=part):
            return part.T @ (weights * (1 / (1 + np.exp(-part @ b)) - y))

        found = optimize.minimize(
            objective, np.zeros(len(columns)), jac=gradient, method="BFGS", options={"gtol": 1e-9}
        )
        assert_allclose(loss, found.fun, rtol=1e-12)
        assert_allclose(beta[list(columns)], found.x, rtol=1e-5, atol=1e-7)
        assert_allclose(gradient(beta[list(columns)]), 0, atol=1e-9)


def test_variances_are_the_inverse_of_the_curvature():
    Z, y, weights = rows()
    beta, _ = fit_all(ClassRows(Z, y, weights), np.ones((1, 5), dtype=bool))
    mean = 1 / (1 + np.exp(-Z @ beta[0]))
    information = Z.T @ ((weights * mean * (1 - mean))[:, None] * Z)
    expected = np.diag(np.linalg.inv(information))
    assert_allclose(variances(ClassRows(Z, y, weights), beta)[0], expected, rtol=1e-6)


def test_separated_classes_give_finite_coefficients_and_hardly_any_loss():
    Z, _, weights = rows()
    y = (Z[:, 2] > 0).astype(float)
    betas, losses = fit_all(ClassRows(Z, y, weights), np.ones((1, 5), dtype=bool))
    assert np.isfinite(betas).all()
    assert losses[0] < 0.01 * len(y)


def test_aliased_columns_get_zero():
    Z, y, weights = rows()
    Z[:, 3] = Z[:, 1] + Z[:, 2]
    betas, _ = fit_all(ClassRows(Z, y, weights), np.ones((1, 5), dtype=bool))
    assert betas[0, 3] == 0
    kept = np.array([[True, True, True, False, True]])
    assert_allclose(betas, fit_all(ClassRows(Z, y, weights), kept)[0], rtol=1e-9)


def test_losses_are_minus_the_log_likelihood():
    beta = np.array([[0.0, 1.0]])
    Z, y = np.array([[1.0, 2.0], [1.0, -1.0]]), np.array([1.0, 1.0])
    expected = -np.log(1 / (1 + np.exp(-2))) - 3 * np.log(1 / (1 + np.exp(1)))
    assert_allclose(ClassRows(Z, y, np.array([1.0, 3.0])).losses(beta), [expected])


def test_time_grows_with_fits_rows_and_columns():
    assert seconds_for(20, 100, 5) == pytest.approx(2 * seconds_for(10, 100, 5))
    assert seconds_for(10, 1000, 5) > seconds_for(10, 100, 5)


def test_many_batches_equal_one(monkeypatch):
    Z, y, weights = rows()
    kept = np.ones((6, 5), dtype=bool)
    kept[np.arange(1, 5), np.arange(1, 5)] = False
    whole = fit_all(ClassRows(Z, y, weights), kept)
    monkeypatch.setattr("foldwise.subset.logistic.AT_ONCE", 1)
    for one, other in zip(whole, fit_all(ClassRows(Z, y, weights), kept), strict=True):
        assert_allclose(one, other, rtol=1e-10)
    assert_array_equal(whole[0] != 0, kept)


def test_scaled_columns_have_mean_zero_and_unit_size():
    rng = np.random.default_rng(0)
    weights = rng.random(50)
    X, y = rng.normal(size=(50, 2)) * 100 + 5, np.zeros(50)
    Z = scaled_rows(SubsetRows(X, y, weights))[0].Z
    assert_allclose(weights @ Z[:, 1:], 0, atol=1e-12)
    assert_allclose(np.average(Z**2, axis=0, weights=weights), 1)
