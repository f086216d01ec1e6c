import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise.combine import ridge_coefficients

RNG = np.random.default_rng(0)
X = RNG.normal(3.0, [1.0, 100.0, 0.01], size=(50, 3))
Y = X @ [[1.0, 0.0], [0.01, 0.1], [50.0, -20.0]] + RNG.normal(size=(50, 2))
ALPHAS = np.array([0.01, 1.0, 100.0])


@pytest.mark.parametrize("weighted", [False, True])
def test_each_penalty_is_scikit_learns_ridge_on_scaled_columns(weighted: bool) -> None:
    weight = RNG.uniform(0.1, 3.0, 50) if weighted else None
    coefficients, intercepts = ridge_coefficients(X, Y, ALPHAS, weight)
    for alpha, slope, intercept in zip(ALPHAS, coefficients, intercepts, strict=True):
        model = make_pipeline(StandardScaler(), Ridge(alpha)).fit(
            X, Y, standardscaler__sample_weight=weight, ridge__sample_weight=weight
        )
        np.testing.assert_allclose(X @ slope + intercept, model.predict(X), rtol=1e-9)


def test_a_constant_column_gets_no_coefficient() -> None:
    constant = np.column_stack([X[:, 0], np.full(50, 1e6)])
    coefficients, intercepts = ridge_coefficients(constant, Y, ALPHAS)
    assert (coefficients[:, 1] == 0).all()
    alone, centre = ridge_coefficients(X[:, :1], Y, ALPHAS)
    np.testing.assert_allclose(coefficients[:, :1], alone)
    np.testing.assert_allclose(intercepts, centre)


def test_equal_columns_share_the_coefficient() -> None:
    twice, _ = ridge_coefficients(X[:, [0, 0]], Y, np.array([0.0, 1.0]))
    np.testing.assert_allclose(twice[:, 0], twice[:, 1])
    assert np.isfinite(twice).all()


def test_more_columns_than_rows_and_a_single_row_stay_finite() -> None:
    few, _ = ridge_coefficients(X[:2], Y[:2], ALPHAS)
    one, intercept = ridge_coefficients(X[:1], Y[:1], ALPHAS)
    assert np.isfinite(few).all()
    assert (one == 0).all()
    np.testing.assert_allclose(intercept, np.repeat(Y[:1], 3, axis=0))
