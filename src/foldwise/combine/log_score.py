"""Stacking of predictive densities: the convex weights with the greatest log score."""

import numpy as np

from foldwise.arrays import FloatArray
from foldwise.combine.quadratic import pull_to_mean, simplex_minimum
from foldwise.combine.shapes import row_shares

MOST_STEPS = 100
GAP = 1e-10


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
    if n_models == 1 or not len(densities):
        return weights
    pull = pull_to_mean(n_models, 2 * alpha)
    for _ in range(MOST_STEPS):
        ratios = densities / (densities @ weights)[:, None]
        gradient = pull.T @ (pull @ weights) - shares @ ratios
        if gradient @ weights - gradient.min() <= GAP:
            break
        target = _newton_point(ratios, shares, pull)
        moved = _line_search(densities, shares, pull, weights, target - weights)
        if moved is None:
            break
        weights = moved
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
