"""Newton steps over the coefficients of all classes at once."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import logsumexp, softmax

from foldwise.arrays import FloatArray, IntArray
from foldwise.losses.loss import LEAST_CURVATURE
from foldwise.paths.newton import INNER, KEEP_WHILE, MAX_STEPS, Problem, damping
from foldwise.paths.quadratic import solve_quadratic


class JointNewton:
    """The multinomial problem over some columns, an intercept before them.

    A fresh curvature costs O(C^2 n a^2) for a columns. Steps converge quadratically, where
    going from class to class converges slowly because a shift of all classes changes nothing.

    ``targets``: One for the class of each row, zero for the others. Shape (C, n).
    """

    def __init__(self, problem: Problem, targets: FloatArray, columns: IntArray) -> None:
        self.problem, self.targets = problem, targets
        D = problem.dictionary.columns(columns)
        D = D.toarray() if sparse.issparse(D) else D
        self.X = np.column_stack([np.ones(len(D)), D])
        self.factor = np.r_[0.0, problem.penalty.factor[columns]]

    def settle(
        self, theta: FloatArray, eta: FloatArray, lam: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return coefficients and predictors, stepped until a step promises next to nothing."""
        Q, before = None, np.inf
        for _ in range(MAX_STEPS):
            Q = self._curvature(eta) if Q is None else Q
            theta, eta, promised, size = self._step(theta, eta, lam, Q)
            if promised <= self.problem.gap:
                break
            if size < 1 or promised > KEEP_WHILE * before:
                Q, promised = None, np.inf
            before = promised
        return theta, eta

    def _step(
        self, theta: FloatArray, eta: FloatArray, lam: float, Q: FloatArray
    ) -> tuple[FloatArray, FloatArray, float, float]:
        weights, flat = self.problem.weights, theta.ravel()
        error = softmax(eta, axis=0) - self.targets
        gradient = ((weights * error) @ self.X).ravel()
        moved = self._minimise(Q, flat, gradient, error, lam).reshape(theta.shape)
        direction = (moved - theta) @ self.X.T
        promised = float(gradient @ (moved.ravel() - flat))
        promised += self._penalty(moved, lam) - self._penalty(theta, lam)

        def objective(size: float) -> float:
            there = eta + size * direction
            losses = logsumexp(there, axis=0) - (self.targets * there).sum(axis=0)
            return float(weights @ losses) + self._penalty(theta + size * (moved - theta), lam)

        size = damping(objective, promised)
        theta = moved if size == 1 else theta + size * (moved - theta)
        return theta, eta + size * direction, -promised, size

    def _minimise(
        self, Q: FloatArray, theta: FloatArray, gradient: FloatArray, error: FloatArray, lam: float
    ) -> FloatArray:
        penalty, n_classes = self.problem.penalty, len(self.targets)
        # The squared norm of the working response: its part outside the columns is bounded by
        # the squared errors over the probabilities.
        outside = np.sum(error**2 / (np.abs(error + self.targets) + LEAST_CURVATURE), axis=0)
        norm = theta @ Q @ theta - 2 * theta @ gradient + self.problem.weights @ outside
        return solve_quadratic(
            Q,
            Q @ theta - gradient,
            float(norm),
            np.tile(lam * penalty.l1_ratio * self.factor, n_classes),
            np.tile(lam * (1.0 - penalty.l1_ratio) * self.factor, n_classes),
            theta,
            non_negative=penalty.non_negative,
            gap=INNER * self.problem.gap,
        )

    def _curvature(self, eta: FloatArray) -> FloatArray:
        p, size = softmax(eta, axis=0), self.X.shape[1]
        Q = np.empty((len(p), size, len(p), size))
        for k in range(len(p)):
            for other in range(k, len(p)):
                shared = p[k] * ((k == other) - p[other]) + LEAST_CURVATURE * (k == other)
                block = self.X.T @ ((self.problem.weights * shared)[:, None] * self.X)
                Q[k, :, other], Q[other, :, k] = block, block.T
        return Q.reshape(len(p) * size, -1)

    def _penalty(self, theta: FloatArray, lam: float) -> float:
        ratio = self.problem.penalty.l1_ratio
        each = self.factor * (ratio * np.abs(theta) + 0.5 * (1.0 - ratio) * theta**2)
        return lam * float(each.sum())
