"""Weights of models from their predictions, scores or likelihoods."""

from typing import Any

import numpy as np
from scipy.optimize import nnls
from scipy.special import softmax

from foldwise.arrays import FloatArray
from foldwise.checks import row_weights

DRAWS_AT_ONCE = 2_000_000


def mean_weights(n_models: int) -> FloatArray:
    """Return the weights of the plain mean.

    Parameters
    ----------
    n_models : int
        Number of models.

    Returns
    -------
    ndarray of shape (n_models,)
        Equal weights that sum to one.

    Examples
    --------
    >>> mean_weights(4)
    array([0.25, 0.25, 0.25, 0.25])
    """
    return np.full(n_models, 1.0 / n_models)


def best_weights(scores: FloatArray) -> FloatArray:
    """Return all weight on the model with the greatest score.

    Parameters
    ----------
    scores : ndarray of shape (n_models,)
        Greater is better; NaN never wins.

    Returns
    -------
    ndarray of shape (n_models,)
        A one and zeros. Ties go to the first model.

    Examples
    --------
    >>> import numpy as np
    >>> best_weights(np.array([1.0, 3.0, 3.0]))
    array([0., 1., 0.])
    """
    weights = np.zeros(len(scores))
    weights[int(np.argmax(np.where(np.isnan(scores), -np.inf, scores)))] = 1.0
    return weights


def nnls_weights(
    predictions: FloatArray, y: FloatArray, sample_weight: FloatArray | None = None
) -> FloatArray:
    """Return the non-negative weights with the least squared error.

    Parameters
    ----------
    predictions : ndarray of shape (n_samples, n_models)
        Out-of-fold predictions, one column a model.
    y : ndarray of shape (n_samples,)
        Targets.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.

    Returns
    -------
    ndarray of shape (n_models,)
        Weights >= 0; they need not sum to one.

    Notes
    -----
    The rows are first reduced to a triangle by a QR decomposition, so that the active-set
    search costs nothing for many rows: O(n_samples * n_models**2) in all.

    References
    ----------
    .. [1] Breiman, L. (1996). Stacked regressions. Machine Learning 24.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1.0, 2.0, 3.0])
    >>> nnls_weights(np.column_stack([2 * y, -y]), y).round(3)
    array([0.5, 0. ])
    """
    if sample_weight is not None:
        root = np.sqrt(sample_weight)
        predictions, y = predictions * root[:, None], y * root
    _, triangle = np.linalg.qr(np.column_stack([predictions, y]))
    weights, _ = nnls(triangle[:, :-1], triangle[:, -1])
    return weights


def bic_weights(
    log_likelihoods: FloatArray,
    n_parameters: FloatArray,
    n_samples: float,
    prior: FloatArray | None = None,
) -> FloatArray:
    """Return approximate posterior probabilities of models.

    Parameters
    ----------
    log_likelihoods : ndarray of shape (n_models,)
        Log-likelihood of each model at its maximum, all on the same rows.
    n_parameters : ndarray of shape (n_models,)
        Number of fitted parameters of each model.
    n_samples : float
        Number of rows.
    prior : ndarray of shape (n_models,) or None
        Prior probabilities up to a factor; None for equal ones.

    Returns
    -------
    ndarray of shape (n_models,)
        Proportional to ``prior * exp(-(BIC - min BIC) / 2)`` with
        ``BIC = -2 loglik + d log(n)``; they sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> bic_weights(np.array([-10.0, -10.0]), np.array([1, 3]), n_samples=9).round(6)
    array([0.9, 0.1])
    """
    evidence = np.asarray(log_likelihoods) - np.asarray(n_parameters) / 2 * np.log(n_samples)
    if prior is not None:
        with np.errstate(divide="ignore"):
            evidence = evidence + np.log(prior)
    return np.asarray(softmax(evidence))


def pseudo_bma_weights(
    log_densities: FloatArray, sample_weight: FloatArray | None = None
) -> FloatArray:
    """Return weights proportional to each model's predictive likelihood.

    Parameters
    ----------
    log_densities : ndarray of shape (n_samples, n_models)
        Log predictive density, or probability, of each held-out row under each model.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows; one of two counts as two rows.

    Returns
    -------
    ndarray of shape (n_models,)
        They sum to one, and with many rows nearly all goes to one model.

    References
    ----------
    .. [1] Yao, Vehtari, Simpson, Gelman (2018). Using stacking to average Bayesian predictive
       distributions. Bayesian Analysis 13.

    Examples
    --------
    >>> import numpy as np
    >>> pseudo_bma_weights(np.log([[0.5, 0.25], [0.5, 0.5]])).round(3)
    array([0.667, 0.333])
    """
    weight = row_weights(len(log_densities), sample_weight)
    return np.asarray(softmax(weight @ log_densities))


def pseudo_bma_plus_weights(
    log_densities: FloatArray,
    sample_weight: FloatArray | None = None,
    *,
    n_draws: int = 1000,
    random_state: Any = None,
) -> FloatArray:
    """Return pseudo-BMA weights averaged over a Bayesian bootstrap of the rows.

    Parameters
    ----------
    log_densities : ndarray of shape (n_samples, n_models)
        Log predictive density, or probability, of each held-out row under each model.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows; one of two counts as two rows.
    n_draws : int, default=1000
        Number of reweightings of the rows, Dirichlet(1, ..., 1).
    random_state : int, Generator or None
        Seed.

    Returns
    -------
    ndarray of shape (n_models,)
        They sum to one.

    Notes
    -----
    O(n_draws * n_samples * n_models), in pieces of bounded memory.

    References
    ----------
    .. [1] Yao, Vehtari, Simpson, Gelman (2018). Using stacking to average Bayesian predictive
       distributions. Bayesian Analysis 13.

    Examples
    --------
    >>> import numpy as np
    >>> logs = np.log(np.tile([[0.5, 0.4], [0.2, 0.3]], (20, 1)))
    >>> pseudo_bma_plus_weights(logs, random_state=0).round(1)
    array([0.1, 0.9])
    """
    rng = np.random.default_rng(random_state)
    weight = row_weights(len(log_densities), sample_weight)
    used = weight > 0
    shape, logs = weight[used], log_densities[used]
    # What all models share cancels, and left in it would cost digits.
    logs = logs - logs.max(axis=1, keepdims=True)
    total = np.zeros(logs.shape[1])
    step = max(1, DRAWS_AT_ONCE // len(logs))
    for start in range(0, n_draws, step):
        size = (min(step, n_draws - start), len(logs))
        drawn = rng.exponential(size=size) if sample_weight is None else rng.gamma(shape, size=size)
        drawn *= shape.sum() / drawn.sum(axis=1, keepdims=True)
        total += softmax(drawn @ logs, axis=1).sum(axis=0)
    return total / n_draws
