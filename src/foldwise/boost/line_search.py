"""How far to go along one direction."""

import numpy as np
from scipy.optimize import brentq

from foldwise.arrays import FloatArray
from foldwise.boost.loss import Loss

LONGEST_STEP = 1024.0


def line_step(
    loss: Loss, y: FloatArray, raw: FloatArray, direction: FloatArray, weight: FloatArray
) -> float:
    """Return the step α ≥ 0 that minimises Σ w l(y, F + α h); it never raises the loss.

    Doubles from the Newton step (or 1) until the slope turns, then finds its root: some ten
    evaluations of the gradient. For a loss that is not convex, a local minimum.

    Shapes: ``raw`` (n_samples,) or (n_samples, n_outputs).

    Examples
    --------
    >>> import numpy as np
    >>> from foldwise.boost.regression_losses import Squared
    >>> y, h = np.array([2.0, 4.0]), np.array([1.0, 2.0])
    >>> round(line_step(Squared(), y, np.zeros(2), h, np.ones(2)), 9)
    2.0
    """
    spread = (-1,) + (1,) * (raw.ndim - 1)
    weighted = direction * weight.reshape(spread)

    def slope(step: float) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            result = float(np.sum(weighted * loss.gradient(y, raw + step * direction)))
        return result if np.isfinite(result) else 1e300

    start = slope(0.0)
    if not start < 0:
        return 0.0
    far = _first_guess(loss, y, raw, direction, weighted, start)
    while slope(far) < 0 and far < LONGEST_STEP:
        far = min(2 * far, LONGEST_STEP)
    step = far if slope(far) < 0 else float(brentq(slope, 0.0, far, xtol=1e-12 * far, rtol=1e-10))
    before, after = loss.value(y, raw), loss.value(y, raw + step * direction)
    return step if weight @ after <= weight @ before else 0.0


def _first_guess(
    loss: Loss,
    y: FloatArray,
    raw: FloatArray,
    direction: FloatArray,
    weighted: FloatArray,
    slope: float,
) -> float:
    hessian = loss.hessian(y, raw)
    curvature = 0.0 if hessian is None else float(np.sum(weighted * hessian * direction))
    guess = -slope / curvature if curvature > 0 else 1.0
    return float(np.clip(guess * (1 + 1e-9), 1e-12, LONGEST_STEP))
