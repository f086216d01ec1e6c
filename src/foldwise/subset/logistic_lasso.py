"""Paths of logistic regressions with a lasso penalty."""

import numpy as np
from scipy.special import expit
from sklearn.linear_model import lasso_path

from foldwise.arrays import FloatArray
from foldwise.subset.lasso import penalties, standardised
from foldwise.subset.logistic import log_losses
from foldwise.subset.moments import Split

FLAT = 1e-5
"""Least curvature of a row, as a share of its weight; keeps working weights positive."""

ROUNDS = 50


def best_logistic_lasso(
    X: FloatArray, y: FloatArray, weights: FloatArray, split: Split, n_alphas: int
) -> tuple[float, FloatArray, float]:
    """Return the best penalty for one fold, its coefficients and its log loss on the test rows.

    The arguments and results are those of :func:`foldwise.subset.lasso.best_lasso`, for targets
    0 and 1.
    """
    train, test = split
    alphas = penalties(X[train], y[train], weights[train], n_alphas)
    betas = logistic_lasso(X[train], y[train], weights[train], alphas)
    rows = np.column_stack([np.ones(len(test)), X[test]])
    losses = log_losses(betas, rows, y[test], weights[test])
    best = int(np.argmin(losses))
    return float(alphas[best]), betas[best], float(losses[best])


def logistic_lasso(
    X: FloatArray, y: FloatArray, weights: FloatArray, alphas: FloatArray
) -> FloatArray:
    """Return intercepts and coefficients (n_alphas, n_features + 1) along the path.

    Each round solves the weighted lasso that Newton's method suggests, starting from the last
    solution, until no coefficient moves.
    """
    means = np.average(X, axis=0, weights=weights)
    _, _, scale = standardised(X, y, weights)
    Z = (X - means) / scale
    share = weights / weights.sum()
    base = np.clip(share @ y, 1e-6, 1 - 1e-6)
    intercept, coef = float(np.log(base / (1 - base))), np.zeros(X.shape[1])
    path = []
    for alpha in alphas:
        for _ in range(ROUNDS):
            new_intercept, new_coef = _round(Z, y, share, alpha, intercept, coef)
            moved = np.abs(new_coef - coef).max(initial=abs(new_intercept - intercept))
            intercept, coef = new_intercept, new_coef
            if moved < 1e-9 * max(1.0, np.abs(coef).max(initial=0.0)):
                break
        path.append([intercept, *coef])
    betas = np.array(path)
    coefs = betas[:, 1:] / scale
    return np.column_stack([betas[:, 0] - coefs @ means, coefs])


def _round(
    Z: FloatArray,
    y: FloatArray,
    share: FloatArray,
    alpha: float,
    intercept: float,
    coef: FloatArray,
) -> tuple[float, FloatArray]:
    eta = intercept + Z @ coef
    mean = expit(eta)
    curvature = np.maximum(mean * (1 - mean), FLAT)
    working = eta + (y - mean) / curvature
    bend = share * curvature
    total = bend.sum()
    z_mean, t_mean = (bend @ Z) / total, (bend @ working) / total
    roots = np.sqrt(bend * len(y))
    _, path, _ = lasso_path(
        roots[:, None] * (Z - z_mean),
        roots * (working - t_mean),
        alphas=[alpha],
        coef_init=coef.copy(),  # lasso_path writes into it
        tol=1e-10,
        max_iter=100_000,
    )
    new = path[:, 0]
    return float(t_mean - z_mean @ new), new
