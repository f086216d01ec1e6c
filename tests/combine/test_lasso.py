import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, lasso_path

from foldwise.combine import lasso_coefficients

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)) * [1.0, 3.0, 0.2, 1.0] + [0.0, 5.0, 0.0, -1.0]
Y = X @ [1.0, 0.3, 0.0, -0.5] + RNG.normal(size=60)
RATIOS = np.array([0.5, 0.01, 0.1])


def test_the_path_is_scikit_learns_on_scaled_columns() -> None:
    scale = X.std(axis=0)
    columns = (X - X.mean(axis=0)) / scale
    centred = Y - Y.mean()
    top = np.abs(columns.T @ centred).max() / 60
    for ratio, coefficients, intercept in zip(
        RATIOS, *lasso_coefficients(X, Y, RATIOS), strict=True
    ):
        _, expected, _ = lasso_path(columns, centred, alphas=[ratio * top], tol=1e-12)
        np.testing.assert_allclose(coefficients, expected[:, 0] / scale, atol=1e-6)
        assert intercept == pytest.approx(Y.mean() - coefficients @ X.mean(axis=0), abs=1e-10)


def test_at_the_full_penalty_nothing_is_left() -> None:
    coefficients, intercepts = lasso_coefficients(X, Y, np.array([1.0]))
    assert not coefficients.any()
    np.testing.assert_allclose(intercepts, Y.mean())


def test_two_classes_are_lasso_logistic_regression() -> None:
    codes = (Y > 0).astype(int)
    ratio = 0.1
    (coefficients,), (intercept,) = lasso_coefficients(X, codes, np.array([ratio]), loss="logistic")
    scale = X.std(axis=0)
    columns = (X - X.mean(axis=0)) / scale
    top = np.abs(columns.T @ (codes - codes.mean())).max()
    peer = LogisticRegression(
        C=1 / (ratio * top), l1_ratio=1.0, solver="saga", tol=1e-10, max_iter=100_000
    ).fit(columns, codes)
    np.testing.assert_allclose(coefficients, peer.coef_[0] / scale, atol=1e-4)
    assert intercept + coefficients @ X.mean(axis=0) == pytest.approx(peer.intercept_[0], abs=1e-4)


def test_a_constant_column_gets_no_coefficient() -> None:
    given = np.column_stack([X, np.full(60, 7.0)])
    coefficients, intercepts = lasso_coefficients(given, Y, RATIOS)
    assert not coefficients[:, -1].any()
    np.testing.assert_allclose(intercepts, lasso_coefficients(X, Y, RATIOS)[1], rtol=1e-6)


def test_coefficients_may_be_kept_at_zero_or_above() -> None:
    coefficients, _ = lasso_coefficients(X, Y, RATIOS, non_negative=True)
    assert (coefficients >= 0).all()
    assert coefficients.any()


def test_a_row_of_weight_two_is_two_rows() -> None:
    weight = RNG.integers(0, 3, 60)
    found = lasso_coefficients(X, Y, RATIOS, weight.astype(float))
    twice = lasso_coefficients(np.repeat(X, weight, axis=0), np.repeat(Y, weight), RATIOS)
    for a, b in zip(found, twice, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
