"""Paths for any smooth loss by proximal Newton steps over working sets of columns."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.losses import Loss
from foldwise.paths.gram import weighted_products
from foldwise.paths.penalty import Penalty
from foldwise.paths.quadratic import PenalisedQuadratic


def by_column(D: Any) -> Any:
    """Return a dense or sparse dictionary as columns are gathered from it fastest."""
    return D.tocsc() if sparse.issparse(D) else np.asfortranarray(D, dtype=float)


@dataclass(frozen=True)
class Curvature:
    """Second moments of some columns, weighted by curvatures and centred."""

    columns: IntArray  # which columns of the dictionary, ascending
    D: Any  # those columns
    weights: FloatArray  # the curvatures
    mass: float  # their sum
    centre: FloatArray  # weighted means
    Q: FloatArray  # second moments about them

    @classmethod
    def at(cls, dictionary: Any, weights: FloatArray, columns: IntArray) -> "Curvature":
        """Return the curvature of ``columns``, computed afresh: O(n a^2)."""
        D, mass = dictionary[:, columns], float(weights.sum())
        centre = np.asarray(D.T @ weights) / mass
        return cls(columns, D, weights, mass, centre, weighted_products(D, weights, centre))

    def moved_to(self, dictionary: Any, columns: IntArray) -> "Curvature":
        """Return the same curvature for other columns: O(n a m) with m new ones."""
        if len(columns) == len(self.columns) and (columns == self.columns).all():
            return self
        kept = np.isin(columns, self.columns)
        if kept.sum() < 0.5 * len(columns):
            return Curvature.at(dictionary, self.weights, columns)
        D = dictionary[:, columns]
        centre = np.asarray(D.T @ self.weights) / self.mass
        Q = np.empty((len(columns), len(columns)))
        old = np.searchsorted(self.columns, columns[kept])
        Q[np.ix_(kept, kept)] = self.Q[np.ix_(old, old)]
        new = D[:, ~kept]
        weighted = (new.toarray() if sparse.issparse(new) else new) * self.weights[:, None]
        across = np.asarray(D.T @ weighted) - self.mass * np.outer(centre, centre[~kept])
        Q[:, ~kept] = across
        Q[~kept] = across.T
        return Curvature(columns, D, self.weights, self.mass, centre, Q)


MAX_STEPS = 100
HALVINGS = 30
ARMIJO = 1e-4
# A curvature is kept while each step promises at most this share of the step before.
KEEP_WHILE = 0.1
# The quadratic of a step is solved to this fraction of the tolerance asked of the whole.
INNER = 0.1
# Relative to lambda: how far a column left aside may pull without being let in.
KKT_SLACK = 1e-7


def damping(objective: Callable[[float], float], promised: float) -> float:
    """Return how much of a step to take: one, or halves of it until the objective falls enough."""
    before = objective(0.0)
    # A descent below the rounding error of the objective cannot be seen, only trusted.
    rounding = 1e-14 * abs(before)
    size = 1.0
    for _ in range(HALVINGS):
        if objective(size) <= before + ARMIJO * size * promised + rounding:
            return size
        size *= 0.5
    return 0.0


@dataclass
class Predictor:
    """One linear predictor of a target: its loss, coefficients and value on every row."""

    loss: Loss
    y: FloatArray
    eta: FloatArray
    w: FloatArray
    gradient: FloatArray
    intercept: float = 0.0
    curvature: Curvature | None = field(default=None, repr=False)
    promised: float = 0.0

    @classmethod
    def zero(cls, loss: Loss, y: FloatArray, offset: FloatArray, n_columns: int) -> "Predictor":
        """Return the predictor that is the offset alone."""
        return cls(loss, y, offset.copy(), np.zeros(n_columns), np.zeros(n_columns))


@dataclass
class NewtonSolver:
    """Rows, penalty and precision of one path; the weights sum to one."""

    dictionary: Any  # as :func:`by_column` returns it
    weights: FloatArray
    penalty: Penalty
    gap: float

    def refresh(self, at: Predictor) -> None:
        """Recompute the gradient of the mean loss over all columns."""
        slope = self.weights * at.loss.gradient(at.y, at.eta)
        at.gradient = np.asarray(self.dictionary.T @ slope)

    def step(self, at: Predictor, lam: float, columns: IntArray) -> float:
        """Move ``at`` by one damped Newton step over ``columns``; return what it promised.

        The intercept is free and is minimised out of the quadratic. Curvatures of an earlier
        step serve again while the steps shrink quickly: any curvature gives the same optimum.
        """
        if at.curvature is None:
            at.promised = np.inf
            weights = self.weights * at.loss.curvature(at.y, at.eta)
            at.curvature = Curvature.at(self.dictionary, weights, columns)
        model = at.curvature = at.curvature.moved_to(self.dictionary, columns)
        slope = self.weights * at.loss.gradient(at.y, at.eta)
        gradient = np.asarray(model.D.T @ slope)
        moved = self._minimise(model, at.w[columns], slope, gradient, lam)
        change = moved - at.w[columns]
        shift = -slope.sum() / model.mass - float(model.centre @ change)
        direction = np.asarray(model.D @ change) + shift
        new = at.w.copy()
        new[columns] = moved
        promised = float(gradient @ change + slope.sum() * shift)
        promised += self.penalty.value(new, lam) - self.penalty.value(at.w, lam)

        def objective(size: float) -> float:
            w = at.w + size * (new - at.w)
            losses = at.loss.value(at.y, at.eta + size * direction)
            return float(self.weights @ losses) + self.penalty.value(w, lam)

        size = damping(objective, promised)
        if size < 1 or -promised > KEEP_WHILE * at.promised:
            at.curvature = None
        at.w = at.w + size * (new - at.w) if size < 1 else new
        at.intercept += size * shift
        at.eta = at.eta + size * direction
        at.promised = -promised
        return -promised

    def _minimise(
        self, model: Curvature, w: FloatArray, slope: FloatArray, gradient: FloatArray, lam: float
    ) -> FloatArray:
        if not len(w):
            return w
        q = model.Q @ w - (gradient - model.centre * slope.sum())
        working = np.asarray(model.D @ w) - slope / model.weights
        working -= (model.weights @ working) / model.mass
        norm, positive = float(model.weights @ working**2), self.penalty.non_negative
        l1, l2 = self.penalty.l1(lam)[model.columns], self.penalty.l2(lam)[model.columns]
        return PenalisedQuadratic(model.Q, q, norm, positive, INNER * self.gap).solve(l1, l2, w)


class Predictors:
    """Linear predictors, one a target, that are brought to their optimum together."""

    def __init__(
        self, solver: NewtonSolver, loss: Loss, targets: FloatArray, offsets: FloatArray
    ) -> None:
        self.solver, n_columns = solver, solver.dictionary.shape[1]
        pairs = zip(targets, offsets, strict=True)
        self.predictors = [Predictor.zero(loss, y, offset, n_columns) for y, offset in pairs]

    def settle(self, lam: float, working: list[BoolArray]) -> None:
        """Step each over its working columns until steps promise next to nothing."""
        raise NotImplementedError

    def solve(self, lam: float, last: float) -> None:
        """Bring all to the optimum at ``lam``, starting from the one at ``last``."""
        penalty = self.solver.penalty
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


class OnePredictor(Predictors):
    """One linear predictor of one target."""

    @property
    def eta(self) -> FloatArray:
        """The predictor of every row."""
        return self.predictors[0].eta

    def settle(self, lam: float, working: list[BoolArray]) -> None:
        """Step until a step promises next to nothing, then refresh the gradient."""
        at, columns = self.predictors[0], np.flatnonzero(working[0])
        at.promised = np.inf
        for _ in range(MAX_STEPS):
            if self.solver.step(at, lam, columns) <= self.solver.gap:
                break
        self.solver.refresh(at)
