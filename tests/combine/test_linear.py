import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge, lasso_path
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise.combine import lasso_coefficients, ridge_coefficients

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


DRAWS = np.random.default_rng(0)
FEW = DRAWS.normal(size=(60, 4)) * [1.0, 3.0, 0.2, 1.0] + [0.0, 5.0, 0.0, -1.0]
WANTED = FEW @ [1.0, 0.3, 0.0, -0.5] + DRAWS.normal(size=60)
RATIOS = np.array([0.5, 0.01, 0.1])


def test_the_path_is_scikit_learns_on_scaled_columns() -> None:
    scale = FEW.std(axis=0)
    columns = (FEW - FEW.mean(axis=0)) / scale
    centred = WANTED - WANTED.mean()
    top = np.abs(columns.T @ centred).max() / 60
    for ratio, coefficients, intercept in zip(
        RATIOS, *lasso_coefficients(FEW, WANTED, RATIOS), strict=True
    ):
        _, expected, _ = lasso_path(columns, centred, alphas=[ratio * top], tol=1e-12)
        np.testing.assert_allclose(coefficients, expected[:, 0] / scale, atol=1e-6)
        assert intercept == pytest.approx(
            WANTED.mean() - coefficients @ FEW.mean(axis=0), abs=1e-10
        )


def test_at_the_full_penalty_nothing_is_left() -> None:
    coefficients, intercepts = lasso_coefficients(FEW, WANTED, np.array([1.0]))
    assert not coefficients.any()
    np.testing.assert_allclose(intercepts, WANTED.mean())


def test_two_classes_are_lasso_logistic_regression() -> None:
    codes = (WANTED > 0).astype(int)
    ratio = 0.1
    (coefficients,), (intercept,) = lasso_coefficients(
        FEW, codes, np.array([ratio]), loss="logistic"
    )
    scale = FEW.std(axis=0)
    columns = (FEW - FEW.mean(axis=0)) / scale
    top = np.abs(columns.T @ (codes - codes.mean())).max()
    peer = LogisticRegression(
        C=1 / (ratio * top), l1_ratio=1.0, solver="saga", tol=1e-10, max_iter=100_000
    ).fit(columns, codes)
    np.testing.assert_allclose(coefficients, peer.coef_[0] / scale, atol=1e-4)
    assert intercept + coefficients @ FEW.mean(axis=0) == pytest.approx(
        peer.intercept_[0], abs=1e-4
    )


def test_a_constant_column_gets_no_coefficient_of_the_lasso() -> None:
    given = np.column_stack([FEW, np.full(60, 7.0)])
    coefficients, intercepts = lasso_coefficients(given, WANTED, RATIOS)
    assert not coefficients[:, -1].any()
    np.testing.assert_allclose(intercepts, lasso_coefficients(FEW, WANTED, RATIOS)[1], rtol=1e-6)


def test_coefficients_may_be_kept_at_zero_or_above() -> None:
    coefficients, _ = lasso_coefficients(FEW, WANTED, RATIOS, non_negative=True)
    assert (coefficients >= 0).all()
    assert coefficients.any()


def test_a_row_of_weight_two_is_two_rows() -> None:
    weight = DRAWS.integers(0, 3, 60)
    found = lasso_coefficients(FEW, WANTED, RATIOS, weight.astype(float))
    twice = lasso_coefficients(np.repeat(FEW, weight, axis=0), np.repeat(WANTED, weight), RATIOS)
    for a, b in zip(found, twice, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
