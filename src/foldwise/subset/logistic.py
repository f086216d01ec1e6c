"""Logistic regressions on many subsets of columns at once, by Newton's method."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, logsumexp
from sklearn.utils import gen_batches

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.subset.coefficients import solve_all
from foldwise.subset.moments import ALIASED, ScaledGram, SubsetRows, bordered

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
class ClassRows:
    """Rows of a logistic regression; models are judged on all of them together.

    A model has q coefficients for each class but the first, class after class: (n_models, d) with
    d = (n_classes - 1) * q. Its linear predictors are (n_models, n_classes - 1, n_rows).
    """

    Z: FloatArray  # (n_rows, q): columns, the intercept among them
    y: FloatArray  # numbers of the classes
    weights: FloatArray
    n_classes: int = 2

    def take(self, rows: IntArray) -> "ClassRows":
        """Return some of the rows."""
        return ClassRows(self.Z[rows], self.y[rows], self.weights[rows], self.n_classes)

    @property
    def n_others(self) -> int:
        """Number of classes but the first."""
        return self.n_classes - 1

    @cached_property
    def is_other(self) -> BoolArray:
        """Which rows are of each class but the first (n_classes - 1, n_rows)."""
        return self.y == np.arange(1, self.n_classes)[:, None]

    @cached_property
    def products(self) -> FloatArray | None:
        """All pairs of columns (n_rows, q * q); None where they would take too much memory.

        An information matrix is one product with it.
        """
        n_rows, q = self.Z.shape
        if n_rows * q * q > AT_ONCE:
            return None
        return (self.Z[:, :, None] * self.Z[:, None, :]).reshape(n_rows, -1)

    def predictors(self, beta: FloatArray) -> FloatArray:
        """Return the linear predictors of the models."""
        each = beta.reshape(-1, self.Z.shape[1]) @ self.Z.T
        return each.reshape(len(beta), self.n_others, len(self.Z))

    def losses(self, beta: FloatArray) -> FloatArray:
        """Return the weighted sums of the models' log losses."""
        return self.losses_at(self.predictors(beta))

    def losses_at(self, eta: FloatArray) -> FloatArray:
        """Return the weighted sums of the log losses of linear predictors."""
        if self.n_classes == 2:
            return np.logaddexp(0.0, eta[:, 0] * (1 - 2 * self.y)) @ self.weights
        own = (eta * self.is_other).sum(axis=1)
        return (np.logaddexp(0.0, logsumexp(eta, axis=1)) - own) @ self.weights

    def uphill(self, eta: FloatArray) -> FloatArray:
        """Return the gradients (n_models, d) of the log-likelihoods of linear predictors."""
        residuals = (self.is_other - class_probabilities(eta)) * self.weights
        return (residuals.reshape(-1, len(self.Z)) @ self.Z).reshape(len(eta), -1)

    def information(self, eta: FloatArray, used: BoolArray) -> FloatArray:
        """Return the information matrices (n_models, d, d) of models on some of the columns.

        Shapes: ``used`` (n_models, q). Elsewhere the matrices mean nothing.
        """
        mean, q, k = class_probabilities(eta), self.Z.shape[1], self.n_others
        result = np.zeros((len(eta), k, q, k, q))
        for a in range(k):
            for b in range(a + 1):
                curve = self.weights * mean[:, a] * ((a == b) - mean[:, b])
                result[:, a, :, b, :] = self._products_with(curve, used)
                result[:, b, :, a, :] = result[:, a, :, b, :]
        return result.reshape(len(eta), k * q, k * q)

    def _products_with(self, curve: FloatArray, used: BoolArray) -> FloatArray:
        """Return the products of columns under the weights (n_models, n_rows) of each model."""
        q = self.Z.shape[1]
        if self.products is not None:
            return (curve @ self.products).reshape(-1, q, q)
        result = np.zeros((len(curve), q, q))
        for model, weights, inside in zip(result, curve, used, strict=True):
            columns = np.flatnonzero(inside)
            part = self.Z[:, columns]
            model[columns[:, None], columns] = (part.T * weights) @ part
        return result

    def batches(self, n_models: int) -> Iterator[slice]:
        """Give slices of models whose arrays fit together."""
        n_rows, q = self.Z.shape
        most = self.n_others * max(n_rows, self.n_others * q * q)
        return gen_batches(n_models, max(1, AT_ONCE // most))


def class_probabilities(eta: FloatArray) -> FloatArray:
    """Return the probabilities of all classes but the first.

    Shapes: ``eta`` (n_models, n_classes - 1, n_rows), and so the result.
    """
    if eta.shape[1] == 1:
        return np.asarray(expit(eta))
    top = np.maximum(eta.max(axis=1, keepdims=True), 0.0)
    odds = np.exp(eta - top)
    return np.asarray(odds / (np.exp(-top) + odds.sum(axis=1, keepdims=True)))


def scaled_rows(rows: SubsetRows, n_classes: int = 2) -> tuple[ClassRows, ScaledGram]:
    """Return the rows with columns (1, X) centred and scaled, and how to undo it."""
    untouched = rows._replace(y=np.zeros(len(rows.y)))
    columns, centre, scale = bordered(untouched, centred=True)
    undo = ScaledGram(np.empty((0, 0)), centre, scale)
    return ClassRows(columns[:, :-1], rows.y, rows.weights, n_classes), undo


def fit_all(
    rows: ClassRows, kept: BoolArray, start: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the maximum-likelihood coefficients and log losses of many subsets of columns.

    Where the classes can be separated no maximum exists; a tiny ridge picks one model there.

    Shapes: ``kept`` (n_models, q), returns (n_models, d), and so ``start``.
    """
    gram = rows.Z.T @ (rows.weights[:, None] * rows.Z)
    floors = ALIASED * np.diagonal(gram)
    shape = len(kept), rows.n_others * kept.shape[1]
    beta, losses = np.zeros(shape) if start is None else start.copy(), np.zeros(len(kept))
    for part in rows.batches(len(kept)):
        inverse, _ = solve_all(gram, gram[0], kept[part], floors)
        used = np.einsum("mff->mf", inverse) > 0
        beta[part], losses[part] = _newton(rows, used, beta[part])
    return beta, losses


def variances(rows: ClassRows, beta: FloatArray) -> FloatArray:
    """Return the variances of the coefficients of many models; zero where they are zero."""
    used, result = beta != 0, np.zeros(beta.shape)
    for part in rows.batches(len(beta)):
        ridge = np.full(len(beta[part]), RIDGE * rows.weights.sum())
        inside = used[part].reshape(len(ridge), rows.n_others, -1).any(axis=1)
        matrices = _hessian(rows, inside, rows.predictors(beta[part]), ridge)
        result[part] = np.diagonal(np.linalg.inv(matrices), axis1=1, axis2=2) * used[part]
    return result


def _newton(rows: ClassRows, used: BoolArray, start: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the coefficients and the losses of models on the used columns."""
    total = rows.weights.sum()
    beta = np.where(np.tile(used, rows.n_others), start, 0.0)
    ridge = np.full(len(used), RIDGE * total)
    eta = rows.predictors(beta)
    losses = rows.losses_at(eta)
    running = np.arange(len(used))
    for _ in range(STEPS):
        step, gain = _step(rows, used[running], beta[running], eta[running], ridge[running])
        size, losses[running] = _damped(
            rows, beta[running], eta[running], step, losses[running], ridge[running]
        )
        beta[running] += size[:, None] * step
        eta[running] = rows.predictors(beta[running])
        # Newton's method doubles the digits: after a gain this small the step is exact.
        settled = gain <= 1e-13 * total
        # The ridge stays only where it is needed: a fit that settled within reach goes on without.
        calm = np.abs(eta[running]).max(axis=(1, 2)) < SEPARATED
        finished = settled & ((ridge[running] == 0) | ~calm)
        ridge[running[settled & calm]] = 0.0
        running = running[~finished]
        if not len(running):
            break
    return beta, losses


def _hessian(rows: ClassRows, used: BoolArray, eta: FloatArray, ridge: FloatArray) -> FloatArray:
    """Return the curvatures of the penalised losses; columns not in a model stand by themselves."""
    inside = np.tile(used, rows.n_others)
    hessian = rows.information(eta, used) * (inside[:, :, None] & inside[:, None, :])
    diagonal = np.arange(inside.shape[1])
    hessian[:, diagonal, diagonal] += np.where(inside, ridge[:, None], 1.0)
    return hessian


def _step(
    rows: ClassRows, used: BoolArray, beta: FloatArray, eta: FloatArray, ridge: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return Newton steps and the gains they promise."""
    gradient = (rows.uphill(eta) - ridge[:, None] * beta) * np.tile(used, rows.n_others)
    step = np.linalg.solve(_hessian(rows, used, eta, ridge), gradient[:, :, None])[:, :, 0]
    return np.asarray(step, dtype=np.float64), np.einsum("mf,mf->m", step, gradient)


def _damped(
    rows: ClassRows,
    beta: FloatArray,
    eta: FloatArray,
    step: FloatArray,
    losses: FloatArray,
    ridge: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the share of each step that does not raise the penalised loss, and its losses."""
    before = losses + 0.5 * ridge * (beta**2).sum(axis=1)
    size: FloatArray = np.ones(len(beta))
    change = rows.predictors(step)
    for _ in range(20):
        losses = rows.losses_at(eta + size[:, None, None] * change)
        at = beta + size[:, None] * step
        after = losses + 0.5 * ridge * (at**2).sum(axis=1)
        worse = after > before + 1e-12 * np.abs(before)
        if not worse.any():
            break
        size[worse] /= 2
    else:
        losses = rows.losses_at(eta + size[:, None, None] * change)
    return size, losses
