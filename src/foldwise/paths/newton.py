"""Paths for any smooth loss by proximal Newton steps over working sets of columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from foldwise.paths.gram import weighted_products
from foldwise.paths.losses import Loss
from foldwise.paths.penalty import Penalty
from foldwise.paths.quadratic import solve_quadratic

FloatArray = NDArray[np.float64]

MAX_STEPS = 100
HALVINGS = 30
ARMIJO = 1e-4
# The quadratic of a step is solved to this fraction of the tolerance asked of the whole.
INNER = 0.1
KKT_SLACK = 1e-6


@dataclass
class Predictor:
    """One linear predictor: its coefficients, intercept and value on every row."""

    w: FloatArray
    intercept: float
    eta: FloatArray
    gradient: FloatArray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def zero(cls, offset: FloatArray, n_columns: int) -> Predictor:
        """Return the predictor that is the offset alone."""
        return cls(np.zeros(n_columns), 0.0, offset.copy(), np.zeros(n_columns))


class Dictionary:
    """The columns of a dense or sparse dictionary, gathered a few at a time."""

    def __init__(self, D: Any) -> None:
        self.by_column = D.tocsc() if sparse.issparse(D) else np.asarray(D, dtype=float)
        self.shape = D.shape

    def columns(self, which: NDArray[np.intp]) -> Any:
        """Return the given columns."""
        picked = self.by_column[:, which]
        return picked.tocsr() if sparse.issparse(picked) else picked

    def transposed_times(self, rows: FloatArray) -> FloatArray:
        """Return the product of every column with ``rows``."""
        return np.asarray(self.by_column.T @ rows)


@dataclass
class Problem:
    """Rows, loss and penalty of one path; the weights sum to one."""

    dictionary: Dictionary
    weights: FloatArray
    penalty: Penalty
    gap: float

    def refresh(self, at: Predictor, loss: Loss, y: FloatArray) -> None:
        """Recompute the gradient of the mean loss over all columns."""
        at.gradient = self.dictionary.transposed_times(self.weights * loss.slope(y, at.eta))

    def step(
        self, at: Predictor, loss: Loss, y: FloatArray, lam: float, columns: NDArray[np.intp]
    ) -> float:
        """Move ``at`` by one damped Newton step over ``columns``; return what it promised.

        The intercept is free and is minimised out of the quadratic.
        """
        D = self.dictionary.columns(columns)
        slope = self.weights * loss.slope(y, at.eta)
        curvature = self.weights * loss.curvature(y, at.eta)
        mass = curvature.sum()
        centre = np.asarray(D.T @ curvature).ravel() / mass
        gradient = np.asarray(D.T @ slope).ravel()
        w = at.w[columns]
        moved = self._minimise_model(D, w, slope, curvature, centre, gradient, lam, columns)
        change = moved - w
        shift = -slope.sum() / mass - float(centre @ change)
        direction = np.asarray(D @ change).ravel() + shift
        new = at.w.copy()
        new[columns] = moved
        promised = float(gradient @ change) + float(slope.sum() * shift)
        promised += self.penalty.value(new, lam) - self.penalty.value(at.w, lam)
        size = self._line_search(at, new, direction, loss, y, lam, promised)
        at.w = at.w + size * (new - at.w) if size < 1 else new
        at.intercept += size * shift
        at.eta = at.eta + size * direction
        return -promised

    def _minimise_model(
        self,
        D: Any,
        w: FloatArray,
        slope: FloatArray,
        curvature: FloatArray,
        centre: FloatArray,
        gradient: FloatArray,
        lam: float,
        columns: NDArray[np.intp],
    ) -> FloatArray:
        if not len(columns):
            return w
        Q = weighted_products(D, curvature, centre)
        q = Q @ w - (gradient - centre * slope.sum())
        fitted = np.asarray(D @ w).ravel() - slope / curvature
        fitted -= (curvature @ fitted) / curvature.sum()
        return solve_quadratic(
            Q,
            q,
            float(curvature @ fitted**2),
            self.penalty.l1(lam)[columns],
            self.penalty.l2(lam)[columns],
            w,
            non_negative=self.penalty.non_negative,
            gap=INNER * self.gap,
        )

    def _line_search(
        self,
        at: Predictor,
        new: FloatArray,
        direction: FloatArray,
        loss: Loss,
        y: FloatArray,
        lam: float,
        promised: float,
    ) -> float:
        before = float(self.weights @ loss.value(y, at.eta)) + self.penalty.value(at.w, lam)
        # Below rounding error of the objective a descent cannot be seen, only trusted.
        rounding = 1e-14 * abs(before)
        size = 1.0
        for _ in range(HALVINGS):
            w = at.w + size * (new - at.w)
            after = float(self.weights @ loss.value(y, at.eta + size * direction))
            after += self.penalty.value(w, lam)
            if after <= before + ARMIJO * size * promised + rounding:
                return size
            size *= 0.5
        return 0.0


def solve_one(
    problem: Problem, at: Predictor, loss: Loss, y: FloatArray, lam: float, last: float
) -> None:
    """Bring ``at`` to the optimum at ``lam``, starting from the one at ``last``."""
    working = problem.penalty.may_enter(at.w, at.gradient, lam, last)
    while True:
        columns = np.flatnonzero(working)
        for _ in range(MAX_STEPS):
            if problem.step(at, loss, y, lam, columns) <= problem.gap:
                break
        problem.refresh(at, loss, y)
        slack = KKT_SLACK * lam
        violated = problem.penalty.violated(at.gradient, lam, slack) & ~working
        if not violated.any():
            return
        working |= violated
