"""Minimise a quadratic with an elastic-net penalty: the inner problem of every path."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize
from sklearn.exceptions import ConvergenceWarning

from foldwise._sklearn import enet_coordinate_descent_gram

FloatArray = NDArray[np.float64]

EPOCHS_BETWEEN_CHECKS = 10
MAX_EPOCHS = 100_000
# The kernel asks for a generator but draws from it only in its random order, which we never use.
_UNUSED_GENERATOR = np.random.RandomState(0)


def solve_quadratic(
    Q: FloatArray,
    q: FloatArray,
    yy: float,
    l1: FloatArray,
    l2: FloatArray,
    start: FloatArray,
    *,
    non_negative: bool,
    gap: float,
) -> FloatArray:
    """Return the minimiser of ``w'Qw/2 - q'w + sum(l1 |w|) + sum(l2 w^2)/2``.

    Parameters
    ----------
    Q, q, yy : ndarray of shape (p, p), ndarray of shape (p,), float
        Second moments of some columns, with a target, and of the target.
    l1, l2 : ndarray of shape (p,)
        Penalties of each coefficient. A column with ``l1 == l2 == 0`` is free: it is regressed
        out of the others and knows no sign constraint.
    start : ndarray of shape (p,)
        Where to begin.
    non_negative : bool
        Whether penalised coefficients must not be negative.
    gap : float
        Duality gap at which to stop.

    Returns
    -------
    ndarray of shape (p,)
        The coefficients.
    """
    free = (l1 == 0) & (l2 == 0)
    if free.any():
        return _without_free(Q, q, yy, l1, l2, start, free, non_negative, gap)
    if not l1.any():
        return non_negative_ridge(Q, q, l2) if non_negative else ridge(Q, q, l2)
    if (l1 == l1[0]).all() and (l2 == l2[0]).all():
        return _descend(Q, q, yy, l1[0], l2[0], start, non_negative, gap)
    return _rescaled(Q, q, yy, l1, l2, start, non_negative, gap)


def ridge(Q: FloatArray, q: FloatArray, l2: FloatArray) -> FloatArray:
    """Return the minimiser of ``w'Qw/2 - q'w + sum(l2 w^2)/2``, of least norm if not unique."""
    system = Q + np.diag(l2)
    try:
        return np.asarray(linalg.cho_solve(linalg.cho_factor(system, lower=True), q))
    except linalg.LinAlgError:
        return np.asarray(linalg.lstsq(system, q)[0])


def non_negative_ridge(Q: FloatArray, q: FloatArray, l2: FloatArray) -> FloatArray:
    """Return the minimiser of :func:`ridge` among non-negative coefficients."""
    root = linalg.cholesky(Q + np.diag(l2), lower=True)
    return np.asarray(optimize.nnls(root.T, linalg.solve_triangular(root, q, lower=True))[0])


def _without_free(
    Q: FloatArray,
    q: FloatArray,
    yy: float,
    l1: FloatArray,
    l2: FloatArray,
    start: FloatArray,
    free: NDArray[np.bool_],
    non_negative: bool,
    gap: float,
) -> FloatArray:
    """Regress the free columns out of the rest, solve the rest, then put them back."""
    rest = ~free
    w = np.zeros(len(q))
    across = Q[np.ix_(free, rest)]
    projected = np.asarray(linalg.lstsq(Q[np.ix_(free, free)], np.c_[across, q[free]])[0])
    if rest.any():
        w[rest] = solve_quadratic(
            np.ascontiguousarray(Q[np.ix_(rest, rest)] - across.T @ projected[:, :-1]),
            q[rest] - across.T @ projected[:, -1],
            max(yy - float(q[free] @ projected[:, -1]), 0.0),
            l1[rest],
            l2[rest],
            start[rest],
            non_negative=non_negative,
            gap=gap,
        )
    w[free] = projected[:, -1] - projected[:, :-1] @ w[rest]
    return w


def _rescaled(
    Q: FloatArray,
    q: FloatArray,
    yy: float,
    l1: FloatArray,
    l2: FloatArray,
    start: FloatArray,
    non_negative: bool,
    gap: float,
) -> FloatArray:
    """Measure each coefficient in units that make all its penalties equal to the largest."""
    level = l1.max()
    unit = level / l1
    scaled = Q * np.outer(unit, unit)
    scaled[np.diag_indices_from(scaled)] += l2 * unit**2
    return unit * _descend(scaled, q * unit, yy, level, 0.0, start / unit, non_negative, gap)


def _descend(
    Q: FloatArray,
    q: FloatArray,
    yy: float,
    l1: float,
    l2: float,
    start: FloatArray,
    non_negative: bool,
    gap: float,
) -> FloatArray:
    """Run scikit-learn's coordinate descent until the duality gap is small enough."""
    # The kernel knows the target only by its squared norm, and scales its tolerance by it.
    scale = max(yy, np.finfo(float).tiny)
    target, tol = np.array([np.sqrt(scale)]), gap / scale
    w = np.array(start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for _ in range(MAX_EPOCHS // EPOCHS_BETWEEN_CHECKS):
            w, reached, _, _ = enet_coordinate_descent_gram(
                w,
                l1,
                l2,
                Q,
                q,
                target,
                EPOCHS_BETWEEN_CHECKS,
                tol,
                _UNUSED_GENERATOR,
                False,
                non_negative,
            )
            if reached <= gap:
                break
    return w
