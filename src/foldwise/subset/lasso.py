"""Lasso paths on the training rows of each fold, and the penalty that did best on the rest."""

import numpy as np

from foldwise.arrays import FloatArray
from foldwise.paths import lasso_path
from foldwise.subset.logistic import ClassRows
from foldwise.subset.moments import Split, SubsetRows

# Logistic paths are solved by Newton's method, to this share of the loss of the best constant;
# those of squared error are exact.
TOLERANCE = 1e-16


def best_lasso(
    rows: SubsetRows, split: Split, n_alphas: int, loss: str
) -> tuple[float, FloatArray, float]:
    """Return the best penalty for one fold, its coefficients and its mean loss on the test rows.

    ``loss`` is "squared" or, for targets 0 and 1, "logistic".
    """
    train, test = map(rows.take, split)
    alphas = penalties(train, n_alphas)
    betas = lasso(train, alphas, loss)
    Z = np.column_stack([np.ones(len(test.y)), test.X])
    if loss == "logistic":
        errors = ClassRows(Z, test.y, test.weights).losses(betas)
    else:
        errors = (test.y - betas @ Z.T) ** 2 @ test.weights
    best = int(np.argmin(errors))
    return float(alphas[best]), betas[best], errors[best] / test.weights.sum()


def standardised(rows: SubsetRows) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return X centred and scaled, its means and its scales; constant columns become zero."""
    means = np.average(rows.X, axis=0, weights=rows.weights)
    X = rows.X - means
    scale = np.sqrt(np.average(X**2, axis=0, weights=rows.weights))
    scale[scale <= 1e-12 * np.abs(X).max(axis=0, initial=1.0)] = np.inf
    return X / scale, means, scale


def penalties(rows: SubsetRows, n_alphas: int) -> FloatArray:
    """Return penalties from the one that leaves the model empty down to a thousandth of it.

    With more columns than rows down to a hundredth: below, the model just repeats the target.
    """
    Z, _, _ = standardised(rows)
    y, total = rows.y - np.average(rows.y, weights=rows.weights), rows.weights.sum()
    largest = np.abs(Z.T @ (rows.weights * y)).max(initial=0.0) / total
    lowest = -3 if total > Z.shape[1] else -2
    return (largest or 1.0) * np.logspace(0, lowest, n_alphas)


def lasso(rows: SubsetRows, alphas: FloatArray, loss: str) -> FloatArray:
    """Return intercepts and coefficients (n_alphas, n_features + 1) at falling penalties."""
    Z, means, scale = standardised(rows)
    path = lasso_path(
        Z, rows.y, loss=loss, sample_weight=rows.weights, lambdas=alphas, tol=TOLERANCE
    )
    coefs = path.coefs / scale
    return np.column_stack([path.intercepts - coefs @ means, coefs])
