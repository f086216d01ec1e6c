"""The convex weights with the least quadratic loss."""

import numpy as np
from scipy.optimize import nnls

from foldwise.arrays import FloatArray


def simplex_minimum(rows: FloatArray) -> FloatArray:
    """Return the weights w >= 0, summing to one, with the smallest ``|rows @ w|``.

    One more row, ``scale * (sum(w) - 1)``, turns it into non-negative least squares. The
    direction of its solution is the answer exactly, whatever the scale: for w = s v with v on
    the simplex the best s gives a loss that grows with ``|rows @ v|`` alone.

    Shapes: ``rows`` (n_rows, n_models).

    Examples
    --------
    >>> import numpy as np
    >>> simplex_minimum(np.array([[1.0, -3.0]]))
    array([0.75, 0.25])
    """
    n_models = rows.shape[1]
    scale = float(np.sqrt(np.mean(np.sum(rows**2, axis=0))))
    if not scale > 0:
        return np.full(n_models, 1.0 / n_models)
    augmented = np.vstack([rows / scale, np.ones(n_models)])
    weights, _ = nnls(augmented, np.r_[np.zeros(len(rows)), 1.0], maxiter=30 * n_models)
    return weights / weights.sum()


def triangle(rows: FloatArray) -> FloatArray:
    """Return a small matrix with the same ``|rows @ w|`` for every w.

    Examples
    --------
    >>> import numpy as np
    >>> abs(triangle(np.array([[3.0], [4.0]])))
    array([[5.]])
    """
    return np.asarray(np.linalg.qr(rows, mode="r"))


def pull_to_mean(n_models: int, strength: float) -> FloatArray:
    """Return rows with ``|rows @ w|**2 = strength * |w - mean weights|**2`` on the simplex.

    Examples
    --------
    >>> pull_to_mean(2, 4.0)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return np.sqrt(strength) * (np.eye(n_models) - 1.0 / n_models)
