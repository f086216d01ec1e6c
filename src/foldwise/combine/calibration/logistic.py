"""Logistic regression on a few columns, pulled weakly towards known coefficients.

The pull is what defines a calibration map where the data do not: with one class only, constant
or perfectly separating logits it leads back to the map that changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
from scipy.special import expit

from foldwise.arrays import FloatArray, IntArray

# A normal prior with a standard deviation of ten around "change nothing".
RIDGE = 0.01
MOST_STEPS = 100
MOST_HALVINGS = 60
TOLERANCE = 1e-14


def logistic_coefficients(
    columns: FloatArray,
    y: IntArray,
    weight: FloatArray,
    towards: Sequence[float],
    *,
    ridge: float = RIDGE,
    non_negative: Sequence[int] = (),
) -> FloatArray:
    """Return the coefficients of a penalised logistic regression.

    Damped Newton steps from zero, O(n_samples * n_columns**2) each. The few constraints are
    met by trying every subset of them as equalities; the problem is convex, so the best
    feasible one is the answer.

    Shapes: ``columns`` (n_samples, n_columns).

    Examples
    --------
    >>> import numpy as np
    >>> z = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> logistic_coefficients(
    ...     np.column_stack([z, np.ones(4)]), np.array([0, 1, 0, 1]), np.ones(4), [1, 0]
    ... ).round(2) + 0.0
    array([0.42, 0.  ])
    """
    problem = _Problem(columns, y, weight, np.asarray(towards, dtype=np.float64), ridge)
    subsets = (combinations(non_negative, size) for size in range(len(non_negative) + 1))
    best, lowest = np.zeros(columns.shape[1]), np.inf
    for fixed in chain.from_iterable(subsets):
        free = np.setdiff1d(np.arange(columns.shape[1]), np.array(fixed, dtype=np.intp))
        found = problem.minimise(free)
        if (found[list(non_negative)] < 0).any():
            continue
        value = problem.value(found)
        if value < lowest:
            best, lowest = found, value
        if not fixed:
            break
    return best


@dataclass(frozen=True)
class _Problem:
    """The penalised loss."""

    columns: FloatArray
    y: IntArray
    weight: FloatArray
    towards: FloatArray
    ridge: float

    def value(self, coefficients: FloatArray) -> float:
        eta = self.columns @ coefficients
        losses = np.logaddexp(0.0, eta) - self.y * eta
        pull = 0.5 * self.ridge * np.sum((coefficients - self.towards) ** 2)
        return float(self.weight @ losses + pull)

    def minimise(self, free: IntArray) -> FloatArray:
        """Return the minimiser over some coefficients, the others zero."""
        at = np.zeros(self.columns.shape[1])
        value = self.value(at)
        for _ in range(MOST_STEPS):
            step, gain = self._newton(at, free)
            if gain <= TOLERANCE * (1.0 + abs(value)):
                break
            moved = self._downhill(at, step, value, gain)
            if moved is None:
                break
            at, value = moved
        return at

    def _newton(self, at: FloatArray, free: IntArray) -> tuple[FloatArray, float]:
        """Return the step and twice the decrease it promises."""
        part = self.columns[:, free]
        p = expit(self.columns @ at)
        gradient = part.T @ (self.weight * (p - self.y)) + self.ridge * (at - self.towards)[free]
        curvature = part.T @ ((self.weight * p * (1.0 - p))[:, None] * part)
        curvature[np.diag_indices(len(free))] += self.ridge
        # Columns may differ by many orders; a unit diagonal keeps all of them in the solution.
        size = np.sqrt(np.diag(curvature))
        size = np.where(size > 0, size, 1.0)
        even = curvature / size / size[:, None]
        step = np.zeros(len(at))
        step[free] = -np.linalg.lstsq(even, gradient / size, rcond=None)[0] / size
        return step, float(-gradient @ step[free])

    def _downhill(
        self, at: FloatArray, step: FloatArray, value: float, gain: float
    ) -> tuple[FloatArray, float] | None:
        length = 1.0
        for _ in range(MOST_HALVINGS):
            moved = at + length * step
            found = self.value(moved)
            if found <= value - 1e-4 * length * gain:
                return moved, found
            length *= 0.5
        return None
