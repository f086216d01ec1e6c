"""Convex weights: non-negative, summing to one, for squared error, log-loss and any loss."""

from collections.abc import Callable

import numpy as np

from foldwise.arrays import Array, FloatArray
from foldwise.combine.averages import weighted_mean
from foldwise.combine.log_score import log_score_weights
from foldwise.combine.quadratic import pull_to_mean, simplex_minimum, triangle
from foldwise.combine.shapes import one_column_a_model, truth_probabilities
from foldwise.errors import did_you_mean, invalid_parameter

AnyLoss = Callable[[FloatArray], float]
SMALLEST_STEP = 1 / 256


def simplex_weights(
    predictions: FloatArray,
    y: Array,
    sample_weight: FloatArray | None = None,
    *,
    loss: str | AnyLoss = "squared",
    alpha: float = 0.0,
) -> FloatArray:
    """Return the convex weights with the least loss.

    Parameters
    ----------
    predictions : ndarray of shape (n_samples, n_models) or (n_samples, n_models, width)
        Out-of-fold predictions; for classes the probability of the second of two, or of each.
    y : ndarray of shape (n_samples,) or (n_samples, width)
        Targets, or class codes.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    loss : {"squared", "log"} or callable, default="squared"
        Squared error (the Brier score for probabilities), log-loss, or a function from a
        combined prediction to a number to be made small.
    alpha : float, default=0.0
        Pulls the weights towards the plain mean: ``alpha * |w - 1/M|**2`` is added to the
        loss, in units of the plain mean's squared error or, for log-loss, of one nat. Not for
        a loss of your own.

    Returns
    -------
    ndarray of shape (n_models,)
        Weights >= 0 that sum to one.

    Notes
    -----
    Squared error is solved exactly, log-loss by Newton's method to a duality gap of 1e-10, any
    other loss by a pattern search from the plain mean and the best model, whichever is better:
    the result is never worse than these.

    References
    ----------
    .. [1] Breiman, L. (1996). Stacked regressions. Machine Learning 24.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0.0, 1.0, 2.0])
    >>> simplex_weights(np.column_stack([y + 1, y - 3]), y).round(6)
    array([0.75, 0.25])
    """
    if callable(loss):
        return _searched(predictions, loss)
    if loss == "log":
        truth = truth_probabilities(predictions, y)
        return log_score_weights(np.log(truth), sample_weight, alpha=alpha)
    if loss != "squared":
        raise invalid_parameter(
            "simplex_weights",
            "loss",
            must="be 'squared', 'log' or a function",
            got=loss,
            fix=did_you_mean(loss, ["squared", "log"]),
        )
    columns, target, shares = one_column_a_model(predictions, y, sample_weight)
    errors = triangle((columns - target[:, None]) * np.sqrt(shares)[:, None])
    if alpha > 0:
        unit = float(np.sum(errors.mean(axis=1) ** 2))
        errors = np.vstack([errors, pull_to_mean(errors.shape[1], alpha * unit)])
    return simplex_minimum(errors)


def _searched(predictions: FloatArray, loss: AnyLoss) -> FloatArray:
    """Return weights from moves towards and away from single models, in halving steps."""

    def value(weights: FloatArray) -> float:
        found = float(loss(weighted_mean(predictions, weights)))
        return np.inf if np.isnan(found) else found

    n_models = predictions.shape[1]
    corners = np.eye(n_models)
    starts = [np.full(n_models, 1.0 / n_models), *corners]
    values = [value(start) for start in starts]
    lowest = int(np.argmin(values))
    weights, best, step = starts[lowest], values[lowest], 0.5
    while step >= SMALLEST_STEP:
        moved = False
        for move in _moves(weights, corners, step):
            now = value(move)
            if now < best - 1e-12 * abs(best):
                weights, best, moved = move, now, True
        step = step if moved else step / 2
    return weights


def _moves(weights: FloatArray, corners: FloatArray, step: float) -> list[FloatArray]:
    moves = [(1 - step) * weights + step * corner for corner in corners]
    for m in np.flatnonzero(weights):
        away = weights.copy()
        away[m] = max(0.0, away[m] - step)
        if away.sum() > 0:
            moves.append(away / away.sum())
    return moves
