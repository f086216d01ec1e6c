"""Logistic regression on a few columns, pulled weakly towards known coefficients.

The pull is what defines a calibration map where the data do not: with one class only, constant
or perfectly separating logits it leads back to the map that changes nothing.
"""

from collections.abc import Sequence
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

FloatArray = NDArray[np.float64]
# A normal prior with a standard deviation of ten around "change nothing".
RIDGE = 0.01
MOST_STEPS = 100
MOST_HALVINGS = 60
TOLERANCE = 1e-14


def logistic_coefficients(
    columns: FloatArray,
    y: NDArray[np.intp],
    weight: FloatArray,
    towards: Sequence[float],
    *,
    ridge: float = RIDGE,
    non_negative: Sequence[int] = (),
) -> FloatArray:
    """Return the coefficients of a penalised logistic regression.

    Parameters
    ----------
    columns : ndarray of shape (n_samples, n_columns)
        A few columns; a column of ones for an intercept.
    y : ndarray of int of shape (n_samples,)
        0 or 1.
    weight : ndarray of shape (n_samples,)
        Weights of the rows.
    towards : sequence of float
        The coefficients the penalty pulls to.
    ridge : float
        Half of it times the squared distance is added to the sum of the rows' log-losses.
    non_negative : sequence of int
        Columns whose coefficient must not be negative.

    Returns
    -------
    ndarray of shape (n_columns,)
        The minimiser.

    Notes
    -----
    Damped Newton steps from zero, O(n_samples * n_columns**2) each. The few constraints are
    met by trying every subset of them as equalities; the problem is convex, so the best
    feasible one is the answer.

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


class _Problem:
    """The penalised loss with columns scaled to unit mean square."""

    def __init__(
        self,
        columns: FloatArray,
        y: NDArray[np.intp],
        weight: FloatArray,
        towards: FloatArray,
        ridge: float,
    ) -> None:
        scale = np.sqrt(np.mean(columns**2, axis=0))
        self.scale = np.where(scale > 0, scale, 1.0)
        self.columns, self.y, self.weight = columns / self.scale, y, weight
        self.towards, self.ridge = towards * self.scale, ridge / self.scale**2

    def value(self, coefficients: FloatArray) -> float:
        """Return the objective at coefficients in the given scale."""
        return self._objective(coefficients * self.scale)

    def _objective(self, scaled: FloatArray) -> float:
        eta = self.columns @ scaled
        losses = np.logaddexp(0.0, eta) - self.y * eta
        return float(self.weight @ losses + 0.5 * self.ridge @ (scaled - self.towards) ** 2)

    def minimise(self, free: NDArray[np.intp]) -> FloatArray:
        """Return the minimiser over some coefficients, the others zero, in the given scale."""
        scaled = np.zeros(self.columns.shape[1])
        value = self._objective(scaled)
        for _ in range(MOST_STEPS):
            step, gain = self._newton(scaled, free)
            if gain <= TOLERANCE * (1.0 + abs(value)):
                break
            moved = self._downhill(scaled, step, value, gain)
            if moved is None:
                break
            scaled, value = moved
        return scaled / self.scale

    def _newton(self, scaled: FloatArray, free: NDArray[np.intp]) -> tuple[FloatArray, float]:
        """Return the step and twice the decrease it promises."""
        part = self.columns[:, free]
        p = expit(self.columns @ scaled)
        pull = self.ridge[free] * (scaled - self.towards)[free]
        gradient = part.T @ (self.weight * (p - self.y)) + pull
        curvature = part.T @ ((self.weight * p * (1.0 - p))[:, None] * part)
        curvature[np.diag_indices(len(free))] += self.ridge[free]
        step = np.zeros(len(scaled))
        step[free] = -np.linalg.lstsq(curvature, gradient, rcond=None)[0]
        return step, float(-gradient @ step[free])

    def _downhill(
        self, scaled: FloatArray, step: FloatArray, value: float, gain: float
    ) -> tuple[FloatArray, float] | None:
        length = 1.0
        for _ in range(MOST_HALVINGS):
            moved = scaled + length * step
            found = self._objective(moved)
            if found <= value - 1e-4 * length * gain:
                return moved, found
            length *= 0.5
        return None
