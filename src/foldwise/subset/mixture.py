"""Quantiles of mixtures of Student's t distributions."""

import numpy as np
from scipy.special import gammaln, stdtr, stdtrit

from foldwise.arrays import FloatArray


def mixture_quantile(
    level: float, weights: FloatArray, means: FloatArray, scales: FloatArray, df: FloatArray
) -> FloatArray:
    """Return a quantile of one mixture a row.

    Shapes: ``means, scales`` (n_rows, n_parts).

    Examples
    --------
    >>> two_sided = np.array([[-1.0, 1.0]])
    >>> weights, df = np.array([0.5, 0.5]), np.array([5.0, 5.0])
    >>> bool(abs(mixture_quantile(0.5, weights, two_sided, np.ones((1, 2)), df)[0]) < 1e-9)
    True
    """
    ends = means + scales * stdtrit(df, level)
    low, high = ends.min(axis=1), ends.max(axis=1)
    at = ends @ weights
    for _ in range(60):
        z = (at[:, None] - means) / scales
        excess = stdtr(df, z) @ weights - level
        low, high = np.where(excess < 0, at, low), np.where(excess > 0, at, high)
        new = at - excess / np.maximum((density(z, df) / scales) @ weights, 1e-300)
        new = np.where((low <= new) & (new <= high), new, (low + high) / 2)
        moved = np.abs(new - at)
        at = new
        if (moved <= 1e-12 * scales.max(axis=1)).all():
            break
    return at


def density(z: FloatArray, df: FloatArray) -> FloatArray:
    """Return the density of Student's t distribution."""
    constant = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(df * np.pi)
    return np.asarray(np.exp(constant - 0.5 * (df + 1) * np.log1p(z**2 / df)))
