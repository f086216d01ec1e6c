"""Convex weights: non-negative, summing to one, for squared error, log score and any loss."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import nnls

from foldwise.arrays import Array, FloatArray
from foldwise.checks import check_word, row_shares
from foldwise.combine.averages import weighted_mean
from foldwise.combine.shapes import one_column_a_model, truth_probabilities

AnyLoss = Callable[[FloatArray], float]
SMALLEST_STEP = 1 / 256
MOST_STEPS = 100
GAP = 1e-10


def simplex_minimum(rows: FloatArray) -> FloatArray:
    """Return the weights w >= 0, summing to one, with the smallest ``|rows @ w|``.

    One more row, ``scale * (sum(w) - 1)``, turns it into non-negative least squares. The
    direction of its solution is the answer exactly, whatever the scale: for w = s v with v on
    the simplex the best s gives a loss that grows with ``|rows @ v|`` alone.

    Shapes: ``rows`` (n_rows, n_models).
    """
    n_models = rows.shape[1]
    scale = float(np.sqrt(np.mean(np.sum(rows**2, axis=0))))
    if not scale > 0:
        return np.full(n_models, 1.0 / n_models)
    augmented = np.vstack([rows / scale, np.ones(n_models)])
    weights, _ = nnls(augmented, np.r_[np.zeros(len(rows)), 1.0], maxiter=30 * n_models)
    return weights / weights.sum()


def triangle(rows: FloatArray) -> FloatArray:
    """Return a small matrix with the same ``|rows @ w|`` for every w."""
    return np.asarray(np.linalg.qr(rows, mode="r"))


def error_triangle(
    predictions: FloatArray, y: Array, sample_weight: FloatArray | None
) -> FloatArray:
    """Return a small matrix: ``|rows @ w|**2`` is the mean squared error of convex weights w."""
    columns, target, shares = one_column_a_model(predictions, y, sample_weight)
    return triangle((columns - target[:, None]) * np.sqrt(shares)[:, None])


def pull_to_mean(n_models: int, strength: float) -> FloatArray:
    """Return rows with ``|rows @ w|**2 = strength * |w - mean weights|**2`` on the simplex."""
    return np.sqrt(strength) * (np.eye(n_models) - 1.0 / n_models)


def log_score_weights(
    log_densities: FloatArray, sample_weight: FloatArray | None = None, *, alpha: float = 0.0
) -> FloatArray:
    """Return the weights of the mixture of models with the greatest log score.

    Parameters
    ----------
    log_densities : ndarray of shape (n_samples, n_models)
        Log predictive density, or probability, of each held-out row under each model; -inf
        where a model gives a row no chance.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    alpha : float, default=0.0
        Pulls towards equal weights: ``alpha * |w - 1/M|**2`` is taken from the mean log score.

    Returns
    -------
    ndarray of shape (n_models,)
        Weights >= 0 that sum to one and maximise ``mean(log(sum_m w_m p_m))``.

    Notes
    -----
    Newton's method: with r = p / (p @ w) the quadratic model of the loss at w is
    ``mean((r @ v - 2)**2) / 2``, so that every step is least squares over the simplex. It stops
    at a duality gap of 1e-10. O(n_samples * n_models**2) a step.

    References
    ----------
    .. [1] Yao, Vehtari, Simpson, Gelman (2018). Using stacking to average Bayesian predictive
       distributions. Bayesian Analysis 13.

    Examples
    --------
    >>> import numpy as np
    >>> densities = np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9]])
    >>> log_score_weights(np.log(densities)).round(4)
    array([0.7083, 0.2917])
    """
    shares = row_shares(len(log_densities), sample_weight)
    highest = log_densities.max(axis=1, keepdims=True)
    possible = np.isfinite(highest[:, 0]) & (shares > 0)
    shares = shares[possible]
    densities = np.exp(log_densities[possible] - highest[possible])
    n_models = densities.shape[1]
    weights = np.full(n_models, 1.0 / n_models)
    pull = pull_to_mean(n_models, 2 * alpha)

    def slopes(weights: FloatArray) -> tuple[FloatArray, float]:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = densities / (densities @ weights)[:, None]
            gradient = pull.T @ (pull @ weights) - shares @ ratios
        return ratios, float(gradient @ weights - gradient.min())

    ratios, gap = slopes(weights)
    for _ in range(MOST_STEPS):
        if gap <= GAP:
            break
        target = _newton_point(ratios, shares, pull)
        moved = _line_search(densities, shares, pull, weights, target - weights)
        before = gap
        ratios, gap = slopes(target if moved is None else moved)
        if moved is None and not gap < before:
            break
        # A fall of the loss that rounding hides is still seen in the gap, its square root.
        weights = target if moved is None else moved
    return weights


def _newton_point(ratios: FloatArray, shares: FloatArray, pull: FloatArray) -> FloatArray:
    rows = ratios - 2.0
    values, vectors = np.linalg.eigh(rows.T @ (shares[:, None] * rows) + pull.T @ pull)
    return simplex_minimum(np.sqrt(np.clip(values, 0.0, None))[:, None] * vectors.T)


def _line_search(
    densities: FloatArray,
    shares: FloatArray,
    pull: FloatArray,
    weights: FloatArray,
    direction: FloatArray,
) -> FloatArray | None:
    """Return a point with a lower loss, None if there is none to be found."""
    before, change = densities @ weights, densities @ direction

    def rise(step: float) -> float:
        with np.errstate(divide="ignore"):
            logs = np.log1p(np.maximum(step * change / before, -1.0))
        now, then = pull @ (weights + step * direction), pull @ weights
        return float(-(shares @ logs) + (now @ now - then @ then) / 2)

    step = 1.0
    while step > 1e-10:
        if rise(step) < 0:
            return np.clip(weights + step * direction, 0.0, None)
        step /= 2
    return None


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
    check_word("simplex_weights", "loss", loss, ["squared", "log"], also="a function")
    if loss == "log":
        truth = truth_probabilities(predictions, y)
        return log_score_weights(np.log(truth), sample_weight, alpha=alpha)
    errors = error_triangle(predictions, y, sample_weight)
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
