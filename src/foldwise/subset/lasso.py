"""Lasso paths on the training rows of each fold, and the penalty that did best on the rest."""

import numpy as np

from foldwise.arrays import FloatArray
from foldwise.paths import lasso_path
from foldwise.subset.logistic import BinaryRows
from foldwise.subset.moments import Split

# Logistic paths are solved by Newton's method, to this share of the loss of the best constant;
# those of squared error are exact.
TOLERANCE = 1e-16


def best_lasso(
    X: FloatArray, y: FloatArray, weights: FloatArray, split: Split, n_alphas: int, loss: str
) -> tuple[float, FloatArray, float]:
    """Return the best penalty for one fold, its coefficients and its mean loss on the test rows.

    ``loss`` is "squared" or, for targets 0 and 1, "logistic".
    """
    train, test = split
    alphas = penalties(X[train], y[train], weights[train], n_alphas)
    betas = lasso(X[train], y[train], weights[train], alphas, loss)
    rows = BinaryRows(np.column_stack([np.ones(len(test)), X[test]]), y[test], weights[test])
    if loss == "logistic":
        errors = rows.losses(betas)
    else:
        errors = (rows.y - betas @ rows.Z.T) ** 2 @ rows.weights
    best = int(np.argmin(errors))
    return float(alphas[best]), betas[best], errors[best] / max(rows.weights.sum(), 1e-300)


def standardised(X: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return X centred and scaled, its means and its scales; constant columns become zero."""
    means = np.average(X, axis=0, weights=weights)
    X = X - means
    scale = np.sqrt(np.average(X**2, axis=0, weights=weights))
    scale[scale <= 1e-12 * np.abs(X).max(axis=0, initial=1.0)] = np.inf
    return X / scale, means, scale


def penalties(X: FloatArray, y: FloatArray, weights: FloatArray, n_alphas: int) -> FloatArray:
    """Return penalties from the one that leaves the model empty down to a thousandth of it.

    With more columns than rows down to a hundredth: below, the model just repeats the target.
    """
    Z, _, _ = standardised(X, weights)
    pull = Z.T @ (weights * (y - np.average(y, weights=weights))) / weights.sum()
    lowest = -3 if weights.sum() > X.shape[1] else -2
    return (np.abs(pull).max(initial=0.0) or 1.0) * np.logspace(0, lowest, n_alphas)


def lasso(
    X: FloatArray, y: FloatArray, weights: FloatArray, alphas: FloatArray, loss: str
) -> FloatArray:
    """Return intercepts and coefficients (n_alphas, n_features + 1) at falling penalties."""
    Z, means, scale = standardised(X, weights)
    path = lasso_path(Z, y, loss=loss, sample_weight=weights, lambdas=alphas, tol=TOLERANCE)
    coefs = path.coefs / scale
    return np.column_stack([path.intercepts - coefs @ means, coefs])
