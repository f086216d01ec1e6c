"""Weights of models from their predictions."""

import numpy as np
from scipy.optimize import nnls

from foldwise.arrays import FloatArray


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
