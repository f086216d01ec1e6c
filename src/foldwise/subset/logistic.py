"""Logistic regressions on many subsets of columns at once, by Newton's method."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit
from sklearn.utils import gen_batches

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.subset.coefficients import solve_all
from foldwise.subset.moments import ALIASED, ScaledGram, WeightedRows, bordered

# Numbers in the arrays of the fits that run together.
AT_ONCE = 4_000_000
# Holds fits that separate the classes, whose coefficients would run away.
RIDGE = 1e-8
# A linear predictor beyond this means that the ridge is what holds the fit.
SEPARATED = 12.0
FLOPS_PER_SECOND = 2e9
STEPS = 30


def seconds_for(n_fits: float, n_rows: int, n_columns: int) -> float:
    """Return about how long so many fits take on one core."""
    return n_fits * 10 * (2 * n_rows * n_columns**2 + n_columns**3) / FLOPS_PER_SECOND


@dataclass(frozen=True)
class BinaryRows:
    """Rows of a logistic regression; models (n_models, q) are judged on all of them together."""

    Z: FloatArray  # (n_rows, q): columns, the intercept among them
    y: FloatArray  # 0 or 1
    weights: FloatArray

    def take(self, rows: IntArray) -> "BinaryRows":
        """Return some of the rows."""
        return BinaryRows(self.Z[rows], self.y[rows], self.weights[rows])

    @cached_property
    def products(self) -> FloatArray:
        """All pairs of columns (n_rows, q * q): an information matrix is one product with it."""
        return (self.Z[:, :, None] * self.Z[:, None, :]).reshape(len(self.Z), -1)

    def losses(self, beta: FloatArray) -> FloatArray:
        """Return the weighted sums of the models' log losses."""
        margins = (beta @ self.Z.T) * (1 - 2 * self.y)
        return np.logaddexp(0.0, margins) @ self.weights

    def information(self, beta: FloatArray) -> FloatArray:
        """Return the information matrices (n_models, q, q)."""
        mean = expit(beta @ self.Z.T)
        q = self.Z.shape[1]
        return ((self.weights * mean * (1 - mean)) @ self.products).reshape(-1, q, q)

    def batches(self, n_models: int) -> Iterator[slice]:
        """Give slices of models whose arrays fit together."""
        return gen_batches(n_models, max(1, AT_ONCE // max(len(self.Z), self.Z.shape[1] ** 2)))


def scaled_rows(rows: WeightedRows) -> tuple[BinaryRows, ScaledGram]:
    """Return the rows with columns (1, X) centred and scaled, and how to undo it."""
    untouched = rows._replace(y=np.zeros(len(rows.y)))
    columns, centre, scale = bordered(untouched, centred=True)
    undo = ScaledGram(np.empty((0, 0)), centre, scale)
    return BinaryRows(columns[:, :-1], rows.y, rows.weights), undo


def fit_all(rows: BinaryRows, kept: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return the maximum-likelihood coefficients and log losses of many subsets of columns.

    Where the classes can be separated no maximum exists; a tiny ridge picks one model there.

    Shapes: ``kept`` (n_models, q), returns (n_models, q).
    """
    gram = rows.Z.T @ (rows.weights[:, None] * rows.Z)
    floors = ALIASED * np.diagonal(gram)
    beta, losses = np.zeros(kept.shape), np.zeros(len(kept))
    for part in rows.batches(len(kept)):
        inverse, _ = solve_all(gram, gram[0], kept[part], floors)
        used = np.einsum("mff->mf", inverse) > 0
        beta[part] = _newton(rows, used)
        losses[part] = rows.losses(beta[part])
    return beta, losses


def variances(rows: BinaryRows, beta: FloatArray) -> FloatArray:
    """Return the variances of the coefficients of many models; zero where they are zero."""
    used, result = beta != 0, np.zeros(beta.shape)
    for part in rows.batches(len(beta)):
        ridge = np.full(len(beta[part]), RIDGE * rows.weights.sum())
        matrices = _hessian(rows, used[part], beta[part], ridge)
        result[part] = np.diagonal(np.linalg.inv(matrices), axis1=1, axis2=2) * used[part]
    return result


def _newton(rows: BinaryRows, used: BoolArray) -> FloatArray:
    total = rows.weights.sum()
    beta = np.zeros(used.shape)
    ridge = np.full(len(used), RIDGE * total)
    current = rows.losses(beta)
    running = np.arange(len(used))
    for _ in range(STEPS):
        step, gain = _step(rows, used[running], beta[running], ridge[running])
        beta[running], current[running] = _damped(
            rows, beta[running], step, current[running], ridge[running]
        )
        # Newton's method doubles the digits: after a gain this small the step is exact.
        settled = gain <= 1e-13 * total
        # The ridge stays only where it is needed: a fit that settled within reach goes on without.
        calm = np.abs(beta[running] @ rows.Z.T).max(axis=1) < SEPARATED
        finished = settled & ((ridge[running] == 0) | ~calm)
        ridge[running[settled & calm]] = 0.0
        running = running[~finished]
        if not len(running):
            break
    return beta


def _hessian(rows: BinaryRows, used: BoolArray, beta: FloatArray, ridge: FloatArray) -> FloatArray:
    """Return the curvatures of the penalised losses; columns not in a model stand by themselves."""
    hessian = rows.information(beta) * (used[:, :, None] & used[:, None, :])
    diagonal = np.arange(used.shape[1])
    hessian[:, diagonal, diagonal] += np.where(used, ridge[:, None], 1.0)
    return hessian


def _step(
    rows: BinaryRows, used: BoolArray, beta: FloatArray, ridge: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return Newton steps and the gains they promise."""
    gradient = ((rows.y - expit(beta @ rows.Z.T)) * rows.weights) @ rows.Z - ridge[:, None] * beta
    gradient *= used
    step = np.linalg.solve(_hessian(rows, used, beta, ridge), gradient[:, :, None])[:, :, 0]
    return step, np.einsum("mf,mf->m", step, gradient)


def _damped(
    rows: BinaryRows, beta: FloatArray, step: FloatArray, current: FloatArray, ridge: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return where the steps lead, each halved until the penalised loss does not rise."""
    before = current + 0.5 * ridge * (beta**2).sum(axis=1)
    size = np.ones(len(beta))
    for _ in range(20):
        at = beta + size[:, None] * step
        after = rows.losses(at) + 0.5 * ridge * (at**2).sum(axis=1)
        worse = after > before + 1e-12 * np.abs(before)
        if not worse.any():
            break
        size[worse] /= 2
    new = beta + size[:, None] * step
    return new, rows.losses(new)
