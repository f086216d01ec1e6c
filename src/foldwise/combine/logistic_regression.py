"""Logistic regression on a few columns, pulled towards known coefficients, by Newton's method.

The pull is what defines a calibration map where the data do not: with one class only, constant
or perfectly separating logits it leads back to the map that changes nothing.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, combinations

import numpy as np
from scipy.special import expit

from foldwise.arrays import Array, FloatArray, IntArray

# A normal prior with a standard deviation of ten around "change nothing".
RIDGE = 0.01
MOST_STEPS = 100
MOST_HALVINGS = 60
TOLERANCE = 1e-14

Value = Callable[[FloatArray], float]
Newton = Callable[[FloatArray], tuple[FloatArray, float]]


def newton_minimum(
    at: FloatArray,
    value: Value,
    newton: Newton,
    tolerance: float = TOLERANCE,
    relative: float = 0.0,
) -> FloatArray:
    """Return where Newton's method with halved steps ends.

    ``newton`` returns the step and twice the decrease it promises; no more is done once that is
    below ``tolerance + relative * abs(value)``.
    """
    now = value(at)
    for _ in range(MOST_STEPS):
        step, gain = newton(at)
        if gain <= tolerance + relative * abs(now):
            break
        length = 1.0
        # Not "greater than": what is not a number must be left behind too.
        while not (then := value(at + length * step)) <= now - 1e-4 * length * gain:
            length *= 0.5
            if length < 0.5**MOST_HALVINGS:
                return at
        at, now = at + length * step, then
    return at


def logistic_coefficients(
    columns: FloatArray,
    y: Array,
    weight: FloatArray,
    towards: Sequence[float] | FloatArray,
    *,
    ridge: float | FloatArray = RIDGE,
    non_negative: Sequence[int] = (),
    start: FloatArray | None = None,
    tolerance: float | None = None,
) -> FloatArray:
    """Return the coefficients of a penalised logistic regression.

    Damped Newton steps, from zero if nothing is said, O(n_samples * n_columns**2) each. The few
    constraints are met by trying every subset of them as equalities; the problem is convex, so
    the best feasible one is the answer.

    Shapes: ``columns`` (n_samples, n_columns).
    """
    n_columns = columns.shape[1]
    centre, pull = np.asarray(towards, dtype=np.float64), np.broadcast_to(ridge, n_columns)
    stop = (TOLERANCE, TOLERANCE) if tolerance is None else (tolerance, 0.0)

    def value(at: FloatArray) -> float:
        eta = columns @ at
        losses = np.logaddexp(0.0, eta) - y * eta
        return float(weight @ losses + 0.5 * (pull @ (at - centre) ** 2))

    def newton(at: FloatArray, free: IntArray) -> tuple[FloatArray, float]:
        part = columns[:, free]
        p = expit(columns @ at)
        gradient = part.T @ (weight * (p - y)) + (pull * (at - centre))[free]
        curvature = part.T @ ((weight * p * (1.0 - p))[:, None] * part)
        curvature[np.diag_indices(len(free))] += pull[free]
        # Columns may differ by many orders; a unit diagonal keeps all of them in the solution.
        size = np.sqrt(np.diag(curvature))
        size = np.where(size > 0, size, 1.0)
        even = curvature / size / size[:, None]
        step = np.zeros(n_columns)
        step[free] = -np.linalg.lstsq(even, gradient / size, rcond=None)[0] / size
        return step, float(-gradient @ step[free])

    best, lowest = np.zeros(n_columns), np.inf
    subsets = (combinations(non_negative, size) for size in range(len(non_negative) + 1))
    for fixed in chain.from_iterable(subsets):
        free = np.setdiff1d(np.arange(n_columns), np.array(fixed, dtype=np.intp))
        first = np.zeros(n_columns) if start is None else start
        found = newton_minimum(first, value, partial(newton, free=free), *stop)
        if (found[list(non_negative)] < 0).any():
            continue
        if (reached := value(found)) < lowest:
            best, lowest = found, reached
        if not fixed:
            break
    return best
