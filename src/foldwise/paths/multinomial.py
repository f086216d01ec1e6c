"""Paths of the multinomial loss: all classes at once, or class after class where they are many."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.losses import Logistic
from foldwise.paths.joint import JointNewton
from foldwise.paths.newton import KKT_SLACK, MAX_STEPS, Predictor, Problem

LOGISTIC = Logistic()
# Up to here the curvature between all classes is worth its price.
MOST_JOINT_COEFFICIENTS = 800
CYCLES_BEFORE_JOINT = 4


class Classes:
    """One predictor per class; the loss of each is logistic with the others as an offset."""

    def __init__(self, problem: Problem, codes: IntArray, offset: FloatArray) -> None:
        self.problem = problem
        self.targets = [(codes == k).astype(float) for k in range(len(offset))]
        self.predictors = [Predictor.zero(row, problem.dictionary.shape[1]) for row in offset]
        self.eta = offset.copy()

    def step(self, k: int, lam: float, columns: IntArray) -> float:
        """Move class ``k`` by one Newton step; return what it promised."""
        at, others = self.predictors[k], self._others(k)
        at.eta = self.eta[k] - others
        promised = self.problem.step(at, LOGISTIC, self.targets[k], lam, columns)
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
            self.problem.refresh(at, LOGISTIC, self.targets[k])

    def settle(self, lam: float, working: list[BoolArray]) -> None:
        """Step until no step promises anything: in turn, and jointly if that takes long."""
        union = np.flatnonzero(np.any(working, axis=0))
        joint = (len(union) + 1) * len(self.predictors) <= MOST_JOINT_COEFFICIENTS
        settled = self._settle_in_turn(lam, working, CYCLES_BEFORE_JOINT if joint else MAX_STEPS)
        if joint and not settled:
            self._settle_jointly(lam, union)
        self.refresh()

    def _settle_jointly(self, lam: float, columns: IntArray) -> None:
        joint = JointNewton(self.problem, np.array(self.targets), columns)
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
            if promised <= self.problem.gap:
                return True
        return False

    def solve(self, lam: float, last: float) -> None:
        """Bring all classes to the optimum at ``lam``, starting from the one at ``last``."""
        penalty = self.problem.penalty
        working = [penalty.may_enter(at.w, at.gradient, lam, last) for at in self.predictors]
        while True:
            self.settle(lam, working)
            missing = [
                penalty.violated(at.gradient, lam, KKT_SLACK * lam) & ~each
                for at, each in zip(self.predictors, working, strict=True)
            ]
            if not any(each.any() for each in missing):
                return
            working = [each | more for each, more in zip(working, missing, strict=True)]

    def _others(self, k: int) -> FloatArray:
        return np.asarray(logsumexp(np.delete(self.eta, k, axis=0), axis=0))
