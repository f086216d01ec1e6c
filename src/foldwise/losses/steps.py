"""How far to go: one step along a direction, or one for each leaf of a tree."""

import numpy as np
from scipy.optimize import brentq

from foldwise.arrays import FloatArray, IntArray
from foldwise.losses.loss import Loss
from foldwise.losses.numbers import leaf_sums

LONGEST_STEP = 1024.0


def line_step(
    loss: Loss, y: FloatArray, raw: FloatArray, direction: FloatArray, weight: FloatArray
) -> float:
    """Return the step α ≥ 0 that minimises Σ w l(y, F + α h); it never raises the loss.

    Doubles from the Newton step (or 1) until the slope turns, then finds its root: some ten
    evaluations of the gradient. For a loss that is not convex, a local minimum.

    Shapes: ``raw`` (n_samples,) or (n_samples, n_outputs).
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
    hessian = loss.hessian(y, raw)
    curvature = 0.0 if hessian is None else float(np.sum(weighted * hessian * direction))
    guess = -start / curvature if curvature > 0 else 1.0
    far = float(np.clip(guess * (1 + 1e-9), 1e-12, LONGEST_STEP))
    while slope(far) < 0 and far < LONGEST_STEP:
        far = min(2 * far, LONGEST_STEP)
    step = far if slope(far) < 0 else float(brentq(slope, 0.0, far, xtol=1e-12 * far, rtol=1e-10))
    before, after = loss.value(y, raw), loss.value(y, raw + step * direction)
    return step if weight @ after <= weight @ before else 0.0


def leaf_steps(
    loss: Loss, y: FloatArray, raw: FloatArray, weight: FloatArray, leaf: IntArray, n_leaves: int
) -> FloatArray:
    """Return for each leaf a step v that does not raise Σ w l(y, F + v) over its rows.

    The loss's own formula where it has one, else one Newton step −G/H, else a search. A step that
    would raise the leaf's loss is halved until it does not.
    """
    steps = loss.leaf_steps(y, raw, weight, leaf, n_leaves)
    if steps is None:
        hessian = loss.hessian(y, raw)
        if hessian is None:
            steps = searched_steps(loss, y, raw, weight, leaf, n_leaves)
        else:
            steps = newton_steps(loss.gradient(y, raw), hessian, weight, leaf, n_leaves)
    return safe_steps(loss, y, raw, weight, leaf, steps)


def newton_steps(
    gradient: FloatArray, hessian: FloatArray, weight: FloatArray, leaf: IntArray, n_leaves: int
) -> FloatArray:
    """Return −G/H of each leaf, 0 where H vanishes."""
    total = -leaf_sums(weight * gradient, leaf, n_leaves)
    curvature = leaf_sums(weight * hessian, leaf, n_leaves)
    return np.divide(total, curvature, out=np.zeros(n_leaves), where=curvature > 1e-150)


def safe_steps(
    loss: Loss,
    y: FloatArray,
    raw: FloatArray,
    weight: FloatArray,
    leaf: IntArray,
    steps: FloatArray,
) -> FloatArray:
    """Return the steps, halved in every leaf whose loss they would raise.

    Thirty halvings at most, then 0. Costs two evaluations of the loss when no step overshoots.
    """
    n_leaves = len(steps)
    before = leaf_sums(weight * loss.value(y, raw), leaf, n_leaves)
    slack = 1e-12 * np.abs(before)
    steps = np.where(np.isfinite(steps), steps, 0.0)
    for _ in range(30):
        with np.errstate(over="ignore", invalid="ignore"):
            after = leaf_sums(weight * loss.value(y, raw + steps[leaf]), leaf, n_leaves)
        worse = ~(after <= before + slack)
        if not worse.any():
            return steps
        steps = np.where(worse, steps / 2, steps)
    return np.where(worse, 0.0, steps)


def searched_steps(
    loss: Loss, y: FloatArray, raw: FloatArray, weight: FloatArray, leaf: IntArray, n_leaves: int
) -> FloatArray:
    """Return the root of each leaf's slope, by doubling and then bisecting all leaves at once.

    About seventy evaluations of the gradient; right for convex losses.
    """

    def slopes(steps: FloatArray) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            return leaf_sums(weight * loss.gradient(y, raw + steps[leaf]), leaf, n_leaves)

    uphill = slopes(np.zeros(n_leaves))
    direction, near, far = -np.sign(uphill), np.zeros(n_leaves), np.ones(n_leaves)
    for _ in range(20):
        short = slopes(direction * far) * uphill > 0
        if not short.any():
            break
        near, far = np.where(short, far, near), np.where(short, 2 * far, far)
    for _ in range(50):
        middle = (near + far) / 2
        short = slopes(direction * middle) * uphill > 0
        near, far = np.where(short, middle, near), np.where(short, far, middle)
    return direction * (near + far) / 2
