"""Quantiles of mixtures of Student's t distributions."""

import numpy as np
from scipy.special import stdtr, stdtrit

from foldwise.subset.moments import FloatArray


def mixture_quantile(
    level: float, weights: FloatArray, means: FloatArray, scales: FloatArray, df: FloatArray
) -> FloatArray:
    """Return a quantile of one mixture a row.

    Parameters
    ----------
    level : float
        Probability, between 0 and 1.
    weights : ndarray of shape (n_parts,)
        Weights of the parts; they sum to one.
    means, scales : ndarray of shape (n_rows, n_parts)
        Centres and scales of the parts.
    df : ndarray of shape (n_parts,)
        Degrees of freedom.

    Returns
    -------
    ndarray of shape (n_rows,)
        Found by bisection between the lowest and the highest quantile of the parts, to about
        twelve digits of the distance between them.

    Examples
    --------
    >>> two_sided = np.array([[-1.0, 1.0]])
    >>> weights, df = np.array([0.5, 0.5]), np.array([5.0, 5.0])
    >>> bool(abs(mixture_quantile(0.5, weights, two_sided, np.ones((1, 2)), df)[0]) < 1e-9)
    True
    """
    ends = means + scales * stdtrit(df, level)
    low, high = ends.min(axis=1), ends.max(axis=1)
    for _ in range(42):
        middle = (low + high) / 2
        below = stdtr(df, (middle[:, None] - means) / scales) @ weights < level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2
