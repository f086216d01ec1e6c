"""The logarithmic pool: weighted sums of the models' logits, with shared or per-class weights."""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, softmax

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.checks import row_weights
from foldwise.combine.logistic_regression import (
    Newton,
    Value,
    logistic_coefficients,
    newton_minimum,
)

TOLERANCE = 1e-11


@dataclass(frozen=True)
class LogitPool:
    """Probabilities from weighted sums of logits.

    Attributes
    ----------
    weights : ndarray of shape (n_models,) or (n_classes, n_models)
        One weight a model, or one a class and model.
    intercepts : ndarray of shape (n_classes,)
        One a class.
    """

    weights: FloatArray
    intercepts: FloatArray

    def predict(self, logits: FloatArray) -> FloatArray:
        """Return probabilities.

        Parameters
        ----------
        logits : ndarray of shape (n_samples, n_models) or (n_samples, n_models, n_classes)
            As in :func:`logit_pool`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to one.
        """
        return np.asarray(softmax(_sums(_two_sided(logits), self.weights, self.intercepts), axis=1))


def logit_pool(
    logits: FloatArray,
    y: Array,
    sample_weight: FloatArray | None = None,
    *,
    C: float = 1.0,
    shared: bool = True,
    start: LogitPool | None = None,
) -> LogitPool:
    """Return the pool of logits with the least penalised log-loss.

    Parameters
    ----------
    logits : ndarray of shape (n_samples, n_models) or (n_samples, n_models, n_classes)
        Out-of-fold logits of the second of two classes, or centred log-probabilities of each.
    y : ndarray of shape (n_samples,)
        Class codes.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    C : float, default=1.0
        Freedom: the penalty is ``(|w - 1/M|**2 + |b|**2) / (2 C)``, so that little of it leaves
        the geometric mean.
    shared : bool, default=True
        Whether the classes share one weight a model; else each class has its own.
    start : LogitPool or None
        Where to start, e.g. the solution for another C; the end is the same.

    Returns
    -------
    LogitPool
        Weights and intercepts.

    Notes
    -----
    Newton's method. With shared weights a step costs O(n_samples * n_classes * (n_models**2 +
    n_classes)) whatever the number of classes, where multinomial regression on all columns has
    n_classes**2 * n_models coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> logits = np.array([[2.0, 0.1], [1.0, -0.1], [-1.0, 0.1], [-2.0, -0.1]])
    >>> pool = logit_pool(logits, np.array([1, 1, 0, 0]))
    >>> pool.weights.round(2)
    array([1.25, 0.47])
    """
    n_models = logits.shape[1]
    weight = row_weights(len(logits), sample_weight)
    codes, tolerance = np.asarray(y, dtype=np.intp), TOLERANCE * float(weight.sum())
    if shared and (logits.ndim == 2 or logits.shape[2] == 1):
        centre = np.r_[np.full(n_models, 1.0 / n_models), 0.0]
        first = centre if start is None else np.r_[start.weights, np.diff(start.intercepts)]
        columns = np.column_stack([logits.reshape(-1, n_models), np.ones(len(logits))])
        # Two intercepts of opposite signs have half the square of their difference.
        ridge = np.r_[np.ones(n_models), 0.5] / C
        theta = logistic_coefficients(
            columns, codes, weight, centre, ridge=ridge, start=first, tolerance=tolerance
        )
        return LogitPool(theta[:-1], np.array([-theta[-1] / 2, theta[-1] / 2]))
    sides = _two_sided(logits)
    n_classes = sides.shape[2]
    shape = (n_models,) if shared else (n_classes, n_models)
    centre = np.r_[np.full(int(np.prod(shape)), 1.0 / n_models), np.zeros(n_classes)]
    first = centre if start is None else np.r_[start.weights.ravel(), start.intercepts]
    value, newton = _several_classes(sides, codes, weight, C, centre)
    theta = newton_minimum(first, value, newton, tolerance)
    return LogitPool(theta[:-n_classes].reshape(shape), theta[-n_classes:])


def _several_classes(
    sides: FloatArray, codes: IntArray, weight: FloatArray, C: float, centre: FloatArray
) -> tuple[Value, Newton]:
    """Return the goal for several classes; the last parameters are their intercepts."""
    n, n_models, n_classes = sides.shape
    truth = np.eye(n_classes)[codes]
    shared = len(centre) == n_models + n_classes

    def sums(theta: FloatArray) -> FloatArray:
        weights = theta[:-n_classes] if shared else theta[:-n_classes].reshape(n_classes, n_models)
        return _sums(sides, weights, theta[-n_classes:])

    def loss(theta: FloatArray) -> float:
        fit = log_softmax(sums(theta), axis=1)[np.arange(n), codes]
        return float(((theta - centre) ** 2).sum() / (2 * C) - weight @ fit)

    def newton(theta: FloatArray) -> tuple[FloatArray, float]:
        given = softmax(sums(theta), axis=1)
        gradient, hessian = _derivatives(sides, given, given - truth, weight, shared)
        gradient = gradient + (theta - centre) / C
        hessian[np.diag_indices_from(hessian)] += 1.0 / C
        step = np.asarray(np.linalg.solve(hessian, gradient), dtype=np.float64)
        return -step, float(gradient @ step)

    return loss, newton


def _two_sided(logits: FloatArray) -> FloatArray:
    if logits.ndim == 3 and logits.shape[2] == 1:
        logits = logits[:, :, 0]
    return np.stack([-logits / 2, logits / 2], axis=2) if logits.ndim == 2 else logits


def _sums(sides: FloatArray, weights: FloatArray, intercepts: FloatArray) -> FloatArray:
    if weights.ndim == 1:
        return np.tensordot(sides, weights, axes=(1, 0)) + intercepts
    return np.einsum("nmc,cm->nc", sides, weights) + intercepts


def _derivatives(
    sides: FloatArray, given: FloatArray, error: FloatArray, weight: FloatArray, shared: bool
) -> tuple[FloatArray, FloatArray]:
    """Return gradient and Hessian of the log-loss, weights first, then intercepts."""
    n, n_models, n_classes = sides.shape
    counted = weight[:, None] * given
    between = np.diag(counted.sum(axis=0)) - given.T @ counted
    down = weight @ error
    if shared:
        slope = np.einsum("nmc,nc->m", sides, weight[:, None] * error)
        mean = np.einsum("nmc,nc->nm", sides, given)
        apart = (sides - mean[:, :, None]) * np.sqrt(counted)[:, None, :]
        flat = apart.transpose(1, 0, 2).reshape(n_models, -1)
        cross = np.einsum("nmc,nc->mc", apart, np.sqrt(counted))
        return np.r_[slope, down], np.block([[flat @ flat.T, cross], [cross.T, between]])
    slope = np.einsum("nmc,nc->cm", sides, weight[:, None] * error)
    tilted = (sides * given[:, None, :]).transpose(0, 2, 1).reshape(n, n_classes * n_models)
    within = -tilted.T @ (weight[:, None] * tilted)
    cross = -tilted.T @ counted
    for c in range(n_classes):
        own = slice(c * n_models, (c + 1) * n_models)
        within[own, own] += sides[:, :, c].T @ (counted[:, c, None] * sides[:, :, c])
        cross[own, c] += sides[:, :, c].T @ counted[:, c]
    return np.r_[slope.ravel(), down], np.block([[within, cross], [cross.T, between]])
