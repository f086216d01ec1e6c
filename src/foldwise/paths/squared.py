"""The path of squared-error coefficients from moments alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from foldwise.paths.gram import Moments
from foldwise.paths.penalty import Penalty
from foldwise.paths.quadratic import solve_quadratic

FloatArray = NDArray[np.float64]

KKT_SLACK = 1e-7


def largest_lambda_of_moments(moments: Moments, penalty: Penalty) -> float:
    """Return the smallest lambda at which only free columns are used."""
    w = _free_columns(moments, penalty)
    return penalty.largest_lambda(moments.Q @ w - moments.q)


def moments_path(
    moments: Moments,
    penalty: Penalty,
    lambdas: FloatArray,
    *,
    tol: float,
    max_nonzero: int | None = None,
) -> FloatArray:
    """Return the coefficients at each lambda, each solve starting from the last.

    Parameters
    ----------
    moments : Moments
        Centred second moments of the columns and the target.
    penalty : Penalty
        What the coefficients pay.
    lambdas : ndarray of shape (L,)
        Falling penalties.
    tol : float
        Duality gap at which a solve stops, in units of the target's variance.
    max_nonzero : int or None
        End the path before the first solution with more non-zero coefficients.

    Returns
    -------
    ndarray of shape (at most L, p)
        The coefficients.

    Notes
    -----
    Each lambda is solved over the columns the strong rule keeps; the others are then checked
    and, if one was left out wrongly, let in. The solution is that of the full problem.
    """
    solver = _Solver(moments, penalty, tol)
    path: list[FloatArray] = []
    last = max(lambdas[0], largest_lambda_of_moments(moments, penalty))
    for lam in lambdas:
        w = solver.solve(lam, last)
        if max_nonzero is not None and np.count_nonzero(w) > max_nonzero:
            break
        path.append(w)
        last = lam
    return np.array(path).reshape(len(path), len(moments.q))


def _free_columns(moments: Moments, penalty: Penalty) -> FloatArray:
    w = np.zeros(len(moments.q))
    free = np.flatnonzero(penalty.free)
    if len(free):
        none = np.zeros(len(free))
        Q, q = moments.Q[np.ix_(free, free)], moments.q[free]
        w[free] = solve_quadratic(Q, q, moments.yy, none, none, none, non_negative=False, gap=0.0)
    return w


class _Solver:
    """The current solution, its gradient, and the columns it is sought among."""

    def __init__(self, moments: Moments, penalty: Penalty, tol: float) -> None:
        self.moments, self.penalty = moments, penalty
        self.gap = tol * moments.yy
        self.slack = KKT_SLACK * np.sqrt(moments.yy * moments.Q.diagonal().max(initial=0.0))
        self.w = _free_columns(moments, penalty)
        self._refresh_gradient()
        self.working = np.zeros(len(self.w), dtype=bool)
        self._gather()

    def solve(self, lam: float, last: float) -> FloatArray:
        wanted = self.penalty.may_enter(self.w, self.gradient, lam, last)
        if (wanted & ~self.working).any():
            self.working = wanted
            self._gather()
        while True:
            self._solve_working(lam)
            violated = self.penalty.violated(self.gradient, lam, self.slack) & ~self.working
            if not violated.any():
                return self.w
            self.working |= violated
            self._gather()

    def _gather(self) -> None:
        self.columns = np.flatnonzero(self.working)
        self.Q = self.moments.Q[np.ix_(self.columns, self.columns)]

    def _solve_working(self, lam: float) -> None:
        columns = self.columns
        if not len(columns):
            return
        found = solve_quadratic(
            self.Q,
            self.moments.q[columns],
            self.moments.yy,
            self.penalty.l1(lam)[columns],
            self.penalty.l2(lam)[columns],
            self.w[columns],
            non_negative=self.penalty.non_negative,
            gap=self.gap,
        )
        self.w = np.zeros_like(self.w)
        self.w[columns] = found
        self._refresh_gradient()

    def _refresh_gradient(self) -> None:
        used = np.flatnonzero(self.w)
        self.gradient = self.w[used] @ self.moments.Q[used] - self.moments.q
