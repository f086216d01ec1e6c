"""The exact lasso solution of a Gram matrix by exchanging blocks of columns."""

import numpy as np
from scipy import linalg

from foldwise.arrays import BoolArray, FloatArray, IntArray

# A column that keeps less than this of its variance beside the others is made of them.
DEPENDENT = 1e-9
# Exchanges that do not lower the number of wrong columns before giving up.
PATIENCE = 5
# Relative to lambda: how far a correlation may exceed it, and how exact the equations must be.
EXCESS = 1e-9
ROUNDING = 1e-8


class ActiveSet:
    """Columns in use, their signs, and the inverse of their Gram matrix.

    Adding or dropping m columns costs O(m a^2) with a columns in use, in matrix products. All
    columns whose coefficient has the wrong sign, or whose correlation exceeds lambda, are
    exchanged at once (block principal pivoting); a few rounds solve a lambda near the last one.

    ``Q``, ``q``: Second moments of the columns (p, p), and with the target.

    References
    ----------
    .. [1] Kim, J. and Park, H. (2010). Fast active-set-type algorithms for L1-regularized linear
       regression. AISTATS.
    """

    def __init__(self, Q: FloatArray, q: FloatArray, non_negative: bool) -> None:
        self.Q, self.q, self.non_negative = Q, q, non_negative
        self.start_from(np.zeros(len(q)))

    def start_from(self, w: FloatArray) -> None:
        """Take in the columns that ``w`` uses, but for those made of others, and no more."""
        self.columns: IntArray = np.zeros(0, dtype=np.intp)
        self.signs: FloatArray = np.zeros(0)
        self.inverse: FloatArray = np.zeros((0, 0))
        used = np.flatnonzero(w)
        self.add(used, np.sign(w[used]))

    def solve(self, lam: float, candidates: IntArray, Q: FloatArray) -> FloatArray | None:
        """Return the lasso solution at ``lam`` over ``candidates``, or None if not found."""
        fewest, patience = np.inf, PATIENCE
        while patience:
            w, correlation = self._coefficients(lam, candidates, Q)
            places = np.searchsorted(candidates, self.columns)
            if self._rounding(lam, correlation[places]) > ROUNDING:
                return None
            correlation[places] = 0.0
            pull = correlation if self.non_negative else np.abs(correlation)
            entering = np.flatnonzero(pull > lam * (1.0 + EXCESS))
            flipped = w[places] * self.signs < 0
            n_wrong = len(entering) + int(flipped.sum())
            if not n_wrong:
                return w
            patience = PATIENCE if n_wrong < fewest else patience - 1
            fewest = min(fewest, n_wrong)
            self.drop(flipped)
            self.add(candidates[entering], np.sign(correlation[entering]))
        return None

    def _coefficients(
        self, lam: float, candidates: IntArray, Q: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the solution with the present columns and signs, and what it leaves over."""
        places = np.searchsorted(candidates, self.columns)
        q, w = self.q[candidates], np.zeros(len(candidates))
        w[places] = self.inverse @ (self.q[self.columns] - lam * self.signs)
        correlation = q - Q @ w
        if self._rounding(lam, correlation[places]) > ROUNDING:
            w[places] += self.inverse @ (correlation[places] - lam * self.signs)
            correlation = q - Q @ w
        return w, correlation

    def _rounding(self, lam: float, correlation: FloatArray) -> float:
        """Return by how much the equations of the active columns are missed."""
        return float(np.abs(correlation - lam * self.signs).max(initial=0.0)) / lam

    def add(self, new: IntArray, signs: FloatArray) -> None:
        """Take columns in, but for those made of others."""
        if not len(new):
            return
        across = self.Q[np.ix_(self.columns, new)]
        fitted = self.inverse @ across
        own = self.Q[np.ix_(new, new)]
        left = own - across.T @ fitted
        chosen, root = _independent(left, own.diagonal())
        fitted = fitted[:, chosen]
        unit = linalg.solve_triangular(root, np.eye(len(chosen)), lower=True, check_finite=False)
        self.inverse = _bordered(self.inverse, fitted @ unit.T, unit)
        self.columns = np.concatenate([self.columns, new[chosen]])
        self.signs = np.concatenate([self.signs, signs[chosen]])

    def drop(self, gone: BoolArray) -> None:
        """Let some of the columns in use go."""
        if not gone.any():
            return
        n_stay = len(gone) - int(gone.sum())
        # Moving the few that go to the end leaves the rest in place, as a view.
        low, high = np.flatnonzero(gone[:n_stay]), n_stay + np.flatnonzero(~gone[n_stay:])
        inverse = self.inverse
        for rows in (inverse, inverse.T, self.columns, self.signs):
            rows[low], rows[high] = rows[high], rows[low]
        kept, across = inverse[:n_stay, :n_stay], inverse[:n_stay, n_stay:]
        kept -= across @ np.linalg.solve(inverse[n_stay:, n_stay:], across.T)
        self.inverse = kept
        self.columns, self.signs = self.columns[:n_stay], self.signs[:n_stay]


def _bordered(inverse: FloatArray, half: FloatArray, unit: FloatArray) -> FloatArray:
    """Return the inverse of a matrix grown by new rows and columns.

    ``unit`` is the inverse Cholesky root of what the new columns keep beside the old, ``half``
    their regression on the old in those units.
    """
    a, m = half.shape
    grown = np.empty((a + m, a + m))
    np.matmul(half, half.T, out=grown[:a, :a])
    grown[:a, :a] += inverse
    grown[:a, a:] = -half @ unit
    grown[a:, :a] = grown[:a, a:].T
    grown[a:, a:] = unit.T @ unit
    return grown


def _independent(left: FloatArray, before: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the columns that keep some of the variance they had before, beside one another.

    With them comes the Cholesky root of what they keep. Where rounding leaves it without one,
    more of the variance must be kept.
    """
    scale = np.sqrt(np.where(before > 0, before, np.inf))
    kept = DEPENDENT
    while True:
        _, order, rank, _ = linalg.lapack.dpstrf(left / np.outer(scale, scale), tol=kept)
        chosen = np.sort(order[:rank] - 1)
        try:
            return chosen, np.linalg.cholesky(left[np.ix_(chosen, chosen)])
        except np.linalg.LinAlgError:
            kept *= 100
