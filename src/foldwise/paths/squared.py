"""The path of squared-error coefficients from moments alone."""

import numpy as np
from scipy import linalg

from foldwise.arrays import BoolArray, FloatArray
from foldwise.paths.gram import CentredMoments
from foldwise.paths.newton import KKT_SLACK
from foldwise.paths.penalty import Penalty
from foldwise.paths.pivoting import ActiveSet
from foldwise.paths.quadratic import PenalisedQuadratic, regress_out

# Columns are gathered for lambdas down to this share of the present one.
LOOK_AHEAD = 0.9


class MomentsPath:
    """Follows the path of some moments from the largest lambda down.

    Free columns are regressed out and columns that may not enter are left out at the start; the
    others are measured in units in which they all pay the same.

    Each lambda is solved over the columns the strong rule keeps; the others are then checked
    and, if one was left out wrongly, let in. The solution is that of the full problem. The lasso
    is solved exactly by pivoting, each lambda starting from the last; where that fails, and for
    elastic nets with many columns, by coordinate descent to ``tol``.

    ``tol``: Duality gap, in units of the target's variance, at which a solve that is not exact
    stops.
    """

    def __init__(self, moments: CentredMoments, penalty: Penalty, tol: float) -> None:
        self.n_columns = len(moments.q)
        self.free = penalty.free
        self.paying = np.flatnonzero(~penalty.free & penalty.allowed)
        self.refit = np.zeros((0, len(self.paying) + 1))
        Q, q, self.yy = moments.Q, moments.q, moments.yy
        if self.free.any() or len(self.paying) < self.n_columns:
            inside = np.flatnonzero(penalty.allowed)
            kept = Q[np.ix_(inside, inside)], q[inside], self.yy
            (Q, q, self.yy), self.refit = regress_out(*kept, self.free[inside])
        # A squared penalty is made uniform by the root of what makes an absolute one uniform.
        factor = penalty.factor[self.paying]
        self.factor = factor if penalty.l1_ratio else np.sqrt(factor)
        if (self.factor != 1).any():
            Q, q = Q / np.outer(self.factor, self.factor), q / self.factor
        self.Q, self.q = np.ascontiguousarray(Q), q
        self.penalty = Penalty.uniform(penalty.l1_ratio, len(q), penalty.non_negative)
        self.gap = tol * moments.yy
        self.active = ActiveSet(self.Q, self.q, penalty.non_negative)
        self._use(np.zeros(len(q)))
        self.working = np.zeros(len(q), dtype=bool)
        self.last = self.largest

    @property
    def largest(self) -> float:
        """The smallest lambda at which only free columns are used."""
        return self.penalty.largest_lambda(-self.q)

    def follow(self, lambdas: FloatArray, max_nonzero: int | None = None) -> FloatArray:
        """Return the coefficients at each lambda, ending before they are too many."""
        if not self.penalty.l1_ratio and not self.penalty.non_negative:
            return np.array([self._in_own_units(w) for w in self._ridge(lambdas)])
        path: list[FloatArray] = []
        for lam in lambdas:
            self.solve(lam)
            if max_nonzero is not None and np.count_nonzero(self.w) > max_nonzero:
                break
            path.append(self._in_own_units(self.w))
        return np.array(path).reshape(len(path), self.n_columns)

    def _in_own_units(self, scaled: FloatArray) -> FloatArray:
        w = np.zeros(self.n_columns)
        w[self.paying] = scaled / self.factor
        w[self.free] = self.refit[:, -1] - self.refit[:, :-1] @ w[self.paying]
        return w

    def _ridge(self, lambdas: FloatArray) -> FloatArray:
        """Return the ridge solutions of all lambdas from one eigendecomposition."""
        values, vectors = linalg.eigh(self.Q)
        shrunk = (self.q @ vectors) / (np.maximum(values, 0.0) + lambdas[:, None])
        return np.asarray(shrunk @ vectors.T)

    def solve(self, lam: float) -> None:
        """Move to the solution at ``lam``, not larger than the last."""
        wanted = self.penalty.may_enter(self.w, self.gradient, lam, max(self.last, lam))
        if (wanted & ~self.working).any():
            ahead = LOOK_AHEAD * lam
            self._work_on(self.penalty.may_enter(self.w, self.gradient, ahead, max(self.last, lam)))
        while True:
            if self.working.any():
                w = np.zeros_like(self.w)
                exact = self.penalty.l1_ratio == 1
                w[self.columns] = self._lasso(lam) if exact else self._elastic_net(lam)
                self._use(w)
            slack = KKT_SLACK * lam
            violated = self.penalty.violated(self.gradient, lam, slack) & ~self.working
            if not violated.any():
                break
            self._work_on(self.working | violated)
        self.last = lam

    def _work_on(self, working: BoolArray) -> None:
        self.working, self.columns = working, np.flatnonzero(working)
        self.Q_working = self.Q[np.ix_(self.columns, self.columns)]

    def _lasso(self, lam: float) -> FloatArray:
        found = self.active.solve(lam, self.columns, self.Q_working)
        if found is None:
            found = self._quadratic().descend(lam, self.w[self.columns])
            whole = np.zeros_like(self.w)
            whole[self.columns] = found
            self.active.start_from(whole)
        return found

    def _elastic_net(self, lam: float) -> FloatArray:
        columns = self.columns
        l1, l2 = self.penalty.l1(lam)[columns], self.penalty.l2(lam)[columns]
        if self.penalty.l1_ratio:
            l2 = l2 / self.factor[columns]
        return self._quadratic().solve(l1, l2, self.w[columns])

    def _quadratic(self) -> PenalisedQuadratic:
        q, positive = self.q[self.columns], self.penalty.non_negative
        return PenalisedQuadratic(self.Q_working, q, self.yy, positive, self.gap)

    def _use(self, w: FloatArray) -> None:
        used = np.flatnonzero(w)
        self.w, self.gradient = w, w[used] @ self.Q[used] - self.q
