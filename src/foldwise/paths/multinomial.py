"""Paths of the multinomial loss: all classes at once, or class after class where they are many."""

from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.special import softmax

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.losses import Logistic
from foldwise.losses.loss import LEAST_CURVATURE
from foldwise.paths.newton import INNER, KEEP_WHILE, MAX_STEPS, NewtonSolver, Predictors, damping
from foldwise.paths.quadratic import PenalisedQuadratic


class JointNewton:
    """The multinomial problem over some columns, an intercept before them.

    A fresh curvature costs O(C^2 n a^2) for a columns. Steps converge quadratically, where
    going from class to class converges slowly because a shift of all classes changes nothing.

    ``targets``: One for the class of each row, zero for the others. Shape (C, n).
    """

    def __init__(self, solver: NewtonSolver, targets: FloatArray, columns: IntArray) -> None:
        self.solver, self.targets = solver, targets
        D = solver.dictionary[:, columns]
        D = D.toarray() if sparse.issparse(D) else D
        self.X = np.column_stack([np.ones(len(D)), D])
        factor = np.tile(np.r_[0.0, solver.penalty.factor[columns]], len(targets))
        every = np.ones(len(factor), dtype=bool)
        self.penalty = replace(solver.penalty, factor=factor, allowed=every)

    def settle(
        self, theta: FloatArray, eta: FloatArray, lam: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return coefficients and predictors, stepped until a step promises next to nothing."""
        Q, before = None, np.inf
        for _ in range(MAX_STEPS):
            Q = self._curvature(eta) if Q is None else Q
            theta, eta, promised, size = self._step(theta, eta, lam, Q)
            if promised <= self.solver.gap:
                break
            if size < 1 or promised > KEEP_WHILE * before:
                Q, promised = None, np.inf
            before = promised
        return theta, eta

    def _step(
        self, theta: FloatArray, eta: FloatArray, lam: float, Q: FloatArray
    ) -> tuple[FloatArray, FloatArray, float, float]:
        weights, flat = self.solver.weights, theta.ravel()
        error = softmax(eta, axis=0) - self.targets
        gradient = ((weights * error) @ self.X).ravel()
        moved = self._minimise(Q, flat, gradient, error, lam)
        change = moved - flat
        direction = change.reshape(theta.shape) @ self.X.T
        promised = float(gradient @ change)
        promised += self.penalty.value(moved, lam) - self.penalty.value(flat, lam)

        def objective(size: float) -> float:
            there = eta + size * direction
            losses = _log_sum(there) - (self.targets * there).sum(axis=0)
            return float(weights @ losses) + self.penalty.value(flat + size * change, lam)

        size = damping(objective, promised)
        moved = moved if size == 1 else flat + size * change
        return moved.reshape(theta.shape), eta + size * direction, -promised, size

    def _minimise(
        self, Q: FloatArray, theta: FloatArray, gradient: FloatArray, error: FloatArray, lam: float
    ) -> FloatArray:
        # The squared norm of the working response: its part outside the columns is bounded by
        # the squared errors over the probabilities.
        outside = np.sum(error**2 / (np.abs(error + self.targets) + LEAST_CURVATURE), axis=0)
        norm = theta @ Q @ theta - 2 * theta @ gradient + self.solver.weights @ outside
        q, gap = Q @ theta - gradient, INNER * self.solver.gap
        problem = PenalisedQuadratic(Q, q, float(norm), self.penalty.non_negative, gap)
        return problem.solve(self.penalty.l1(lam), self.penalty.l2(lam), theta)

    def _curvature(self, eta: FloatArray) -> FloatArray:
        p, size = softmax(eta, axis=0), self.X.shape[1]
        Q = np.empty((len(p), size, len(p), size))
        for k in range(len(p)):
            for other in range(k, len(p)):
                shared = p[k] * ((k == other) - p[other]) + LEAST_CURVATURE * (k == other)
                block = self.X.T @ ((self.solver.weights * shared)[:, None] * self.X)
                Q[k, :, other], Q[other, :, k] = block, block.T
        return Q.reshape(len(p) * size, -1)


# Up to here the curvature between all classes is worth its price.
MOST_JOINT_COEFFICIENTS = 800
CYCLES_BEFORE_JOINT = 4


class Classes(Predictors):
    """One predictor per class; the loss of each is logistic with the others as an offset."""

    def __init__(self, solver: NewtonSolver, codes: IntArray, offset: FloatArray) -> None:
        targets = (codes == np.arange(len(offset))[:, None]).astype(float)
        super().__init__(solver, Logistic(), targets, offset)
        self.eta = offset.copy()

    def step(self, k: int, lam: float, columns: IntArray) -> float:
        """Move class ``k`` by one Newton step; return what it promised."""
        at, others = self.predictors[k], self._others(k)
        at.eta = self.eta[k] - others
        promised = self.solver.step(at, lam, columns)
        self.eta[k] = at.eta + others
        return promised

    def refresh(self) -> None:
        """Recompute every class's gradient, and centre the intercepts, which are free to shift."""
        middle = float(np.mean([at.intercept for at in self.predictors]))
        for at in self.predictors:
            at.intercept -= middle
        self.eta -= middle
        for k, at in enumerate(self.predictors):
            at.eta = self.eta[k] - self._others(k)
            self.solver.refresh(at)

    def settle(self, lam: float, working: list[BoolArray]) -> None:
        """Step until no step promises anything: in turn, and jointly if that takes long."""
        union = np.flatnonzero(np.any(working, axis=0))
        joint = (len(union) + 1) * len(self.predictors) <= MOST_JOINT_COEFFICIENTS
        settled = self._settle_in_turn(lam, working, CYCLES_BEFORE_JOINT if joint else MAX_STEPS)
        if joint and not settled:
            self._settle_jointly(lam, union)
        self.refresh()

    def _settle_jointly(self, lam: float, columns: IntArray) -> None:
        targets = np.array([at.y for at in self.predictors])
        joint = JointNewton(self.solver, targets, columns)
        theta = np.array([np.r_[at.intercept, at.w[columns]] for at in self.predictors])
        theta, self.eta = joint.settle(theta, self.eta, lam)
        for at, each in zip(self.predictors, theta, strict=True):
            at.intercept, at.w = each[0], np.zeros_like(at.w)
            at.w[columns] = each[1:]
            at.curvature = None

    def _settle_in_turn(self, lam: float, working: list[BoolArray], cycles: int) -> bool:
        columns = [np.flatnonzero(each) for each in working]
        for at in self.predictors:
            at.promised = np.inf
        for _ in range(cycles):
            promised = sum(self.step(k, lam, columns[k]) for k in range(len(columns)))
            if promised <= self.solver.gap:
                return True
        return False

    def _others(self, k: int) -> FloatArray:
        return _log_sum(np.delete(self.eta, k, axis=0))


def _log_sum(eta: FloatArray) -> FloatArray:
    """Return the logarithm of the sum of the exponentials, class by class.

    SciPy's ``logsumexp`` spends longer on its arguments than on a thousand rows.
    """
    return np.asarray(np.logaddexp.reduce(eta, axis=0))
