"""Lasso paths on the training rows of each fold, and the penalty that did best on the rest."""

import numpy as np
from sklearn.linear_model import lasso_path

from foldwise.arrays import FloatArray
from foldwise.subset.moments import Split


def best_lasso(
    X: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    split: Split,
    n_alphas: int,
) -> tuple[float, FloatArray, float]:
    """Return the best penalty for one fold, its coefficients and its squared test error."""
    train, test = split
    alphas = penalties(X[train], y[train], weights[train], n_alphas)
    betas = lasso(X[train], y[train], weights[train], alphas)
    residuals = y[test] - betas[:, :1] - betas[:, 1:] @ X[test].T
    errors = residuals**2 @ weights[test]
    best = int(np.argmin(errors))
    return float(alphas[best]), betas[best], float(errors[best])


def standardised(
    X: FloatArray, y: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return X and y centred, X scaled, rows times the roots of their weights; and the scales."""
    X = X - np.average(X, axis=0, weights=weights)
    scale = np.sqrt(np.average(X**2, axis=0, weights=weights))
    scale[scale <= 1e-12 * np.abs(X).max(axis=0, initial=1.0)] = np.inf
    roots = np.sqrt(weights * len(y) / weights.sum())
    y = y - np.average(y, weights=weights)
    return roots[:, None] * X / scale, roots * y, scale


def penalties(X: FloatArray, y: FloatArray, weights: FloatArray, n_alphas: int) -> FloatArray:
    """Return penalties from the one that leaves the model empty down to a thousandth of it.

    With more columns than rows down to a hundredth: below, the model just repeats the target.
    """
    Z, target, _ = standardised(X, y, weights)
    largest = np.abs(Z.T @ target).max(initial=0.0) / len(y)
    lowest = -3 if weights.sum() > X.shape[1] else -2
    return (largest or 1.0) * np.logspace(0, lowest, n_alphas)


def lasso(X: FloatArray, y: FloatArray, weights: FloatArray, alphas: FloatArray) -> FloatArray:
    """Return the lasso's intercepts and coefficients (n_alphas, n_features + 1)."""
    Z, target, scale = standardised(X, y, weights)
    _, path, _ = lasso_path(Z, target, alphas=alphas, tol=1e-9, max_iter=100_000)
    coefs = path.T / scale
    means = np.average(np.column_stack([y, X]), axis=0, weights=weights)
    return np.column_stack([means[0] - coefs @ means[1:], coefs])
