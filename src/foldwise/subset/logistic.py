"""Logistic regressions on many subsets of columns at once, by Newton's method."""

from collections.abc import Iterator

import numpy as np
from scipy.special import expit

from foldwise.arrays import BoolArray, FloatArray
from foldwise.subset.models import solve_all
from foldwise.subset.moments import ALIASED

AT_ONCE = 4_000_000
"""Numbers in the arrays of the fits that run together."""

RIDGE = 1e-8
"""Holds fits that separate the classes, whose coefficients would run away."""

SEPARATED = 12.0
"""A linear predictor beyond this means that the ridge is what holds the fit."""

FLOPS_PER_SECOND = 2e9
STEPS = 30


def seconds_for(n_fits: float, n_rows: int, n_columns: int) -> float:
    """Return about how long so many fits take on one core."""
    return n_fits * 10 * (2 * n_rows * n_columns**2 + n_columns**3) / FLOPS_PER_SECOND


def log_losses(beta: FloatArray, Z: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted sums of log losses of models (n_models, q) on rows (n_rows, q)."""
    margins = (beta @ Z.T) * (1 - 2 * y)
    return np.logaddexp(0.0, margins) @ weights


def fit_all(
    Z: FloatArray, y: FloatArray, weights: FloatArray, kept: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return the maximum-likelihood coefficients and log losses of many subsets of columns.

    Where the classes can be separated no maximum exists; a tiny ridge picks one model there.

    Shapes: ``Z`` (n_rows, q), ``kept`` (n_models, q), returns (n_models, q).
    """
    gram = Z.T @ (weights[:, None] * Z)
    floors = ALIASED * np.diagonal(gram)
    products = (Z[:, :, None] * Z[:, None, :]).reshape(len(Z), -1)
    beta, losses = np.zeros(kept.shape), np.zeros(len(kept))
    for rows in batches(len(kept), max(len(Z), Z.shape[1] ** 2)):
        inverse, _ = solve_all(gram, gram[0], kept[rows], floors)
        used = np.einsum("mff->mf", inverse) > 0
        beta[rows] = _newton(Z, products, y, weights, used)
        losses[rows] = log_losses(beta[rows], Z, y, weights)
    return beta, losses


def batches(n_models: int, width: int) -> Iterator[slice]:
    """Give slices of models whose arrays, ``width`` numbers a model, fit together."""
    step = max(1, AT_ONCE // width)
    for start in range(0, n_models, step):
        yield slice(start, start + step)


def information(
    beta: FloatArray, products: FloatArray, Z: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return the information matrices (n_models, q, q); ``products`` has all pairs of columns."""
    mean = expit(beta @ Z.T)
    q = Z.shape[1]
    return ((weights * mean * (1 - mean)) @ products).reshape(-1, q, q)


def variances(beta: FloatArray, Z: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the variances of the coefficients of many models; zero where they are zero."""
    products = (Z[:, :, None] * Z[:, None, :]).reshape(len(Z), -1)
    used = beta != 0
    diagonal = np.arange(Z.shape[1])
    result = np.zeros(beta.shape)
    for rows in batches(len(beta), max(len(Z), Z.shape[1] ** 2)):
        pairs = used[rows, :, None] & used[rows, None, :]
        matrices = information(beta[rows], products, Z, weights) * pairs
        matrices[:, diagonal, diagonal] += np.where(used[rows], RIDGE * weights.sum(), 1.0)
        result[rows] = np.diagonal(np.linalg.inv(matrices), axis1=1, axis2=2) * used[rows]
    return result


def _newton(
    Z: FloatArray, products: FloatArray, y: FloatArray, weights: FloatArray, used: BoolArray
) -> FloatArray:
    total = weights.sum()
    beta = np.zeros(used.shape)
    ridge = np.full(len(used), RIDGE * total)
    current = log_losses(beta, Z, y, weights)
    running = np.arange(len(used))
    for _ in range(STEPS):
        step, gain = _step(Z, products, y, weights, used[running], beta[running], ridge[running])
        beta[running], current[running] = _damped(
            Z, y, weights, beta[running], step, current[running], ridge[running]
        )
        # Newton's method doubles the digits: after a gain this small the step is exact.
        settled = gain <= 1e-13 * total
        calm = np.abs(beta[running] @ Z.T).max(axis=1) < SEPARATED
        finished = settled & ((ridge[running] == 0) | ~calm)
        ridge[running[settled & calm]] = 0.0
        running = running[~finished]
        if not len(running):
            break
    return beta


def _step(
    Z: FloatArray,
    products: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    used: BoolArray,
    beta: FloatArray,
    ridge: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return Newton steps and the gains they promise."""
    gradient = ((y - expit(beta @ Z.T)) * weights) @ Z - ridge[:, None] * beta
    gradient *= used
    hessian = information(beta, products, Z, weights) * (used[:, :, None] & used[:, None, :])
    diagonal = np.arange(Z.shape[1])
    hessian[:, diagonal, diagonal] += np.where(used, ridge[:, None], 1.0)
    step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
    return step, np.einsum("mf,mf->m", step, gradient)


def _damped(
    Z: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    beta: FloatArray,
    step: FloatArray,
    current: FloatArray,
    ridge: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return where the steps lead, each halved until the penalised loss does not rise."""

    def penalised(at: FloatArray) -> FloatArray:
        return log_losses(at, Z, y, weights) + 0.5 * ridge * (at**2).sum(axis=1)

    before = current + 0.5 * ridge * (beta**2).sum(axis=1)
    size = np.ones(len(beta))
    for _ in range(20):
        after = penalised(beta + size[:, None] * step)
        worse = after > before + 1e-12 * np.abs(before)
        if not worse.any():
            break
        size[worse] /= 2
    new = beta + size[:, None] * step
    return new, log_losses(new, Z, y, weights)
