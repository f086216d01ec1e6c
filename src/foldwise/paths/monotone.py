"""The limit of forward stagewise with ever smaller steps: the monotone lasso."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, optimize

from foldwise.arrays import FloatArray
from foldwise.paths.gram import CentredMoments
from foldwise.paths.pivoting import ActiveSet
from foldwise.paths.rows import checked_rows
from foldwise.paths.stagewise import StagewisePath
from foldwise.paths.threads import one_blas_thread

# Relative to the largest correlation: how near counts as equal to it.
TIE = 1e-9


@one_blas_thread
def monotone_lasso_path(
    D: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    offset: Any = None,
    lambda_min_ratio: float = 1e-3,
    max_events: int = 10_000,
) -> StagewisePath:
    """Return the path of forward stagewise squared-error fitting as its steps go to zero.

    The path is piecewise linear. At every point the columns that move have the largest
    correlation with the residual, in units of their size, and move in its direction; among all
    such moves theirs lowers the squared error fastest per unit of distance.

    Parameters
    ----------
    D : ndarray or scipy sparse of shape (n, p)
        The dictionary.
    y : array-like of shape (n,)
        The target.
    sample_weight : array-like of shape (n,) or None
        Weights of the rows.
    offset : array-like of shape (n,) or None
        Subtracted from the target.
    lambda_min_ratio : float, default=1e-3
        End where the largest correlation has fallen to this share of its first value.
    max_events : int, default=10_000
        End after so many corners of the path at the latest.

    Returns
    -------
    StagewisePath
        The corners of the path; ``at`` gives the points between.

    Notes
    -----
    Each corner solves a small non-negative least-squares problem among the tied columns,
    O(a^3) with a of them. With orthogonal columns the path is that of the lasso.

    References
    ----------
    .. [1] Hastie, Taylor, Tibshirani and Walther (2007). Forward stagewise regression and the
       monotone lasso. Electronic Journal of Statistics 1, 1-29.

    Examples
    --------
    >>> import numpy as np
    >>> D, y = np.eye(4)[:, :2], np.array([4.0, 1.0, 0.0, 0.0])
    >>> path = monotone_lasso_path(D, y, lambda_min_ratio=1e-9)
    >>> path.coefs[-1].round(6)
    array([4., 1.])
    """
    rows = checked_rows(D, y, "squared", sample_weight, offset, None)
    return monotone_path_of_moments(rows.moments(), lambda_min_ratio, max_events)


def monotone_path_of_moments(
    moments: CentredMoments, lambda_min_ratio: float, max_events: int
) -> StagewisePath:
    """Return the monotone-lasso path of some moments; see :func:`monotone_lasso_path`."""
    diagonal = moments.Q.diagonal()
    size = np.sqrt(np.where(diagonal > 0, diagonal, np.inf))
    Q, left = moments.Q / np.outer(size, size), moments.q / size
    w, level = np.zeros(len(left)), float(np.abs(left).max(initial=0.0))
    end = lambda_min_ratio * level
    levels, corners, rates = [level], [w], np.zeros(len(left))
    while level > end * (1.0 + TIE) and len(levels) <= max_events:
        rates = _rates(Q, left, level, rates)
        fall = Q @ rates
        step = min(_next_tie(left, fall, level), level - end)
        w, left, level = w + step * rates, left - step * fall, level - step
        levels.append(level)
        corners.append(w)
    coefs = np.array(corners) / size
    walked = np.abs(np.diff(coefs, axis=0, prepend=coefs[:1])).sum(axis=1)
    intercepts = moments.mean_y - coefs @ moments.mean_d
    return StagewisePath(np.array(levels), coefs, intercepts, np.cumsum(walked))


def _rates(Q: FloatArray, left: FloatArray, level: float, before: FloatArray) -> FloatArray:
    """Return how fast each coefficient moves as the largest correlation falls by one.

    The tied columns that move keep their correlations equal, those that stay fall faster: the
    optimality conditions of non-negative least squares in the directions of the correlations.
    """
    tied = np.flatnonzero(np.abs(left) >= level * (1.0 - TIE))
    signs = np.sign(left[tied])
    turned = Q[np.ix_(tied, tied)] * np.outer(signs, signs)
    active = ActiveSet(turned, np.full(len(tied), 2.0), non_negative=True)
    active.start_from(np.maximum(before[tied] * signs, 0.0))
    found = active.solve(1.0, np.arange(len(tied)), turned)
    rates = np.zeros(len(left))
    rates[tied] = signs * (_non_negative(turned) if found is None else found)
    return rates


def _non_negative(Q: FloatArray) -> FloatArray:
    """Return the minimiser of ``w'Qw/2 - sum(w)`` over ``w >= 0`` for a singular Q too."""
    values, vectors = linalg.eigh(Q)
    kept = values > 1e-12 * values[-1]
    root = vectors[:, kept] * np.sqrt(values[kept])
    target = (vectors[:, kept] / np.sqrt(values[kept])).T @ np.ones(len(Q))
    return np.asarray(optimize.nnls(root.T, target)[0])


def _next_tie(left: FloatArray, fall: FloatArray, level: float) -> float:
    """Return by how much the level can fall until another column is tied with it."""
    steps = np.full(2 * len(left), np.inf)
    for half, sign in enumerate((1.0, -1.0)):
        gain, slack = 1.0 - sign * fall, level - sign * left
        below = (slack > TIE * level) & (gain > TIE)
        steps[half * len(left) : (half + 1) * len(left)][below] = slack[below] / gain[below]
    return float(steps.min(initial=np.inf))
