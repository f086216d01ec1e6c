"""Minimise a quadratic with an elastic-net penalty: the inner problem of every path."""

import warnings
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, optimize
from sklearn.exceptions import ConvergenceWarning

from foldwise._sklearn import enet_coordinate_descent_gram
from foldwise.arrays import BoolArray, FloatArray
from foldwise.paths.pivoting import ActiveSet

EPOCHS_BETWEEN_CHECKS = 10
MAX_EPOCHS = 100_000
# Inverting the Gram matrix of more columns than this costs more than coordinate descent.
MOST_COLUMNS_TO_INVERT = 1000
# The kernel asks for a generator but draws from it only in its random order, which we never use.
_UNUSED_GENERATOR = np.random.RandomState(0)


@dataclass(frozen=True)
class PenalisedQuadratic:
    """``w'Qw/2 - q'w``, and how its penalised minimiser is wanted.

    Shapes: ``Q`` (p, p), ``q`` (p,).
    """

    Q: FloatArray
    q: FloatArray
    yy: float  # squared norm of the target
    non_negative: bool
    gap: float  # duality gap at which a solve that is not exact stops

    def solve(self, l1: FloatArray, l2: FloatArray, start: FloatArray) -> FloatArray:
        """Return the minimiser of ``w'Qw/2 - q'w + sum(l1 |w|) + sum(l2 w^2)/2``.

        ``l1, l2``: Penalties of each coefficient: all ``l1`` zero, or none but those of free
        columns, which have ``l1 == l2 == 0``: they are regressed out of the others and know no
        sign constraint.
        """
        free = (l1 == 0) & (l2 == 0)
        if free.any():
            return self._solve_around(free, l1, l2, start)
        if not l1.any():
            return (non_negative_ridge if self.non_negative else ridge)(self.Q, self.q, l2)
        level = float(l1.max())
        unit = level / l1
        scaled = self.Q if (unit == 1).all() else self.Q * np.outer(unit, unit)
        if l2.any():
            scaled = scaled + np.diag(l2 * unit**2)
        return unit * replace(self, Q=scaled, q=self.q * unit).lasso(level, start / unit)

    def lasso(self, level: float, start: FloatArray) -> FloatArray:
        """Return the lasso solution: exact if pivoting finds it, else to within ``gap``."""
        if np.count_nonzero(start) <= MOST_COLUMNS_TO_INVERT:
            active = ActiveSet(self.Q, self.q, self.non_negative)
            active.start_from(start)
            found = active.solve(level, np.arange(len(self.q)), self.Q)
            if found is not None:
                return found
        return self.descend(level, start)

    def descend(self, level: float, start: FloatArray) -> FloatArray:
        """Run scikit-learn's coordinate descent until the duality gap is small enough."""
        # The kernel knows the target only by its squared norm, and scales its tolerance by it.
        scale = max(self.yy, np.finfo(float).tiny)
        problem = (level, 0.0, self.Q, self.q, np.array([np.sqrt(scale)]))
        epochs, tol = EPOCHS_BETWEEN_CHECKS, self.gap / scale
        w = np.array(start)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for _ in range(MAX_EPOCHS // epochs):
                w, reached, _, _ = enet_coordinate_descent_gram(
                    w, *problem, epochs, tol, _UNUSED_GENERATOR, False, self.non_negative
                )
                if reached <= self.gap:
                    break
        return w

    def _solve_around(
        self, free: BoolArray, l1: FloatArray, l2: FloatArray, start: FloatArray
    ) -> FloatArray:
        """Regress the free columns out of the rest, solve the rest, then put them back."""
        w, rest = np.zeros(len(self.q)), ~free
        (Q, q, yy), refit = regress_out(self.Q, self.q, self.yy, free)
        if rest.any():
            w[rest] = replace(self, Q=Q, q=q, yy=yy).solve(l1[rest], l2[rest], start[rest])
        w[free] = refit[:, -1] - refit[:, :-1] @ w[rest]
        return w


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


def regress_out(
    Q: FloatArray, q: FloatArray, yy: float, free: BoolArray
) -> tuple[tuple[FloatArray, FloatArray, float], FloatArray]:
    """Return the moments of the other columns beside the free ones, and how to refit these."""
    rest = ~free
    across = Q[np.ix_(free, rest)]
    refit = np.asarray(linalg.lstsq(Q[np.ix_(free, free)], np.c_[across, q[free]])[0])
    left = Q[np.ix_(rest, rest)] - across.T @ refit[:, :-1]
    remaining = max(yy - float(q[free] @ refit[:, -1]), 0.0)
    return (left, q[rest] - across.T @ refit[:, -1], remaining), refit
