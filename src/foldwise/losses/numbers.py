"""The losses of a number: squared, absolute, Huber, quantile, Poisson, Tweedie."""

from typing import Any

import numpy as np
from scipy.special import xlogy

from foldwise.arrays import FloatArray, IntArray
from foldwise.checks import check_number
from foldwise.errors import invalid_data
from foldwise.losses.loss import Loss, check_known

# exp() of a larger raw prediction only overflows in solvers that try long steps.
LARGEST_EXPONENT = 30.0
# Huber's constant for 95 % efficiency under normal errors.
HUBER_CONSTANT = 1.345
NORMAL_CONSISTENT = 1.4826


def leaf_sums(values: FloatArray, leaf: IntArray, n_leaves: int) -> FloatArray:
    """Return the sum of the values in each leaf."""
    return np.bincount(leaf, weights=values, minlength=n_leaves).astype(np.float64, copy=False)


def leaf_quantiles(
    values: FloatArray, weight: FloatArray, level: float, leaf: IntArray, n_leaves: int
) -> FloatArray:
    """Return the weighted quantile of the values in each leaf.

    The smallest value up to which at least ``level`` of the leaf's weight lies, averaged with the
    next one where that is met exactly; 0 for a leaf without weight.
    """
    kept = np.flatnonzero(weight > 0)
    order = kept[np.lexsort((values[kept], leaf[kept]))]
    result = np.zeros(n_leaves)
    if not len(order):
        return result
    sorted_leaf, sorted_values, mass = leaf[order], values[order], np.cumsum(weight[order])
    ends = np.searchsorted(sorted_leaf, np.arange(n_leaves), side="right")
    starts = np.searchsorted(sorted_leaf, np.arange(n_leaves), side="left")
    filled = ends > starts
    starts, ends = starts[filled], ends[filled]
    before = np.where(starts > 0, mass[starts - 1], 0.0)
    wanted = before + level * (mass[ends - 1] - before)
    slack = 1e-12 * mass[-1]  # sums of weights are exact only up to rounding
    low = np.clip(np.searchsorted(mass, wanted - slack), starts, ends - 1)
    high = np.clip(np.searchsorted(mass, wanted + slack, side="right"), starts, ends - 1)
    result[filled] = (sorted_values[low] + sorted_values[high]) / 2
    return result


def _quantile(values: FloatArray, weight: FloatArray, level: float) -> FloatArray:
    return np.asarray(leaf_quantiles(values, weight, level, np.zeros(len(values), int), 1)[0])


def robust_spread(y: FloatArray, weight: FloatArray) -> float:
    """Return the standard deviation that the median distance from the median stands for."""
    away = np.abs(y - _quantile(y, weight, 0.5))
    return NORMAL_CONSISTENT * float(_quantile(away, weight, 0.5))


class Squared(Loss):
    """Half the squared error, ½ (y − F)².

    Examples
    --------
    >>> import numpy as np
    >>> Squared().value(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    array([0., 2.])
    """

    name = "squared"

    def value(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the loss of each row."""
        return 0.5 * (y - raw) ** 2

    def gradient(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return F − y."""
        return raw - y

    def hessian(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return ones."""
        return np.ones_like(raw)

    def constant(self, y: FloatArray, weight: FloatArray) -> FloatArray:
        """Return the weighted mean."""
        return np.asarray(np.average(y, weights=weight))


class Quantile(Loss):
    """The pinball loss, whose minimum is a quantile.

    Parameters
    ----------
    level : float, default=0.5
        The quantile, strictly between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> float(Quantile(0.9).constant(np.arange(101.0), np.ones(101)))
    90.0
    """

    name = "quantile"

    def __init__(self, level: float = 0.5) -> None:
        self.level = level

    def value(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the loss of each row."""
        residual = y - raw
        return np.where(residual >= 0, self.level, self.level - 1) * residual

    def gradient(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return −level above the raw prediction's row, 1 − level below, 0 on it."""
        return np.where(y > raw, -self.level, np.where(y < raw, 1 - self.level, 0.0))

    def constant(self, y: FloatArray, weight: FloatArray) -> FloatArray:
        """Return the weighted quantile."""
        return _quantile(y, weight, self.level)

    def leaf_steps(
        self, y: FloatArray, raw: FloatArray, weight: FloatArray, leaf: IntArray, n_leaves: int
    ) -> FloatArray:
        """Return the quantile of each leaf's residuals."""
        return leaf_quantiles(y - raw, weight, self.level, leaf, n_leaves)


class Absolute(Quantile):
    """The absolute error ``|y − F|``, twice the pinball loss of the median.

    Examples
    --------
    >>> import numpy as np
    >>> Absolute().gradient(np.zeros(3), np.array([-2.0, 0.0, 5.0]))
    array([-1.,  0.,  1.])
    """

    name = "absolute"

    def __init__(self) -> None:
        super().__init__(0.5)

    def value(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the loss of each row."""
        return np.abs(y - raw)

    def gradient(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the sign of F − y."""
        return np.sign(raw - y)


class Huber(Loss):
    """Squared near zero, absolute beyond a threshold.

    Parameters
    ----------
    level : float, default=0.9
        The quantile of the absolute residuals that is the threshold.
    threshold : float or None, default=None
        A threshold that stays, at least 0. None: gradient boosting finds it anew for each round
        from the residuals that are left, and judges all rounds by the first; Newton boosted
        trees keep the first.

    References
    ----------
    .. [1] Friedman (2001). Greedy function approximation: a gradient boosting machine.

    Examples
    --------
    >>> import numpy as np
    >>> Huber(threshold=1.0).value(np.zeros(2), np.array([0.5, 3.0]))
    array([0.125, 2.5  ])
    """

    name = "huber"

    def __init__(self, level: float = 0.9, threshold: float | None = None) -> None:
        self.level = level
        self.threshold = threshold
        check_number("Huber", "level", level, above=0, below=1, try_=0.9)
        if threshold is not None:
            check_number("Huber", "threshold", threshold, least=0, try_=1.0)
        self._bound = np.inf if threshold is None else threshold

    def adapted(self, y: FloatArray, raw: FloatArray, weight: FloatArray) -> "Huber":
        """Return the loss with the threshold that the residuals call for, unless it has one."""
        if self.threshold is not None:
            return self
        return Huber(self.level, float(_quantile(np.abs(y - raw), weight, self.level)))

    def value(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the loss of each row."""
        size, bound = np.abs(y - raw), self._bound
        inner = np.minimum(size, bound)
        return inner * (size - 0.5 * inner)

    def gradient(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the clipped F − y."""
        return np.clip(raw - y, -self._bound, self._bound)

    def hessian(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return 1 within the threshold, 0 beyond it."""
        return (np.abs(y - raw) <= self._bound).astype(float)

    def curvature(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the curvature of the parabola that touches the loss and lies above it."""
        return self._bound / np.maximum(np.abs(y - raw), self._bound)

    def constant(self, y: FloatArray, weight: FloatArray) -> FloatArray:
        """Return the weighted median."""
        return _quantile(y, weight, 0.5)

    def leaf_steps(
        self, y: FloatArray, raw: FloatArray, weight: FloatArray, leaf: IntArray, n_leaves: int
    ) -> FloatArray:
        """Return each leaf's median residual plus the mean clipped distance from it."""
        residual = y - raw
        median = leaf_quantiles(residual, weight, 0.5, leaf, n_leaves)
        clipped = np.clip(residual - median[leaf], -self._bound, self._bound)
        mass = leaf_sums(weight, leaf, n_leaves)
        total = leaf_sums(weight * clipped, leaf, n_leaves)
        return median + np.divide(total, mass, out=np.zeros(n_leaves), where=mass > 0)


class Tweedie(Loss):
    """Half the Tweedie deviance of a positive mean exp(F), less what only depends on y.

    Parameters
    ----------
    power : float, default=1.5
        Power of the variance function, 1 ≤ power < 2.

    Examples
    --------
    >>> import numpy as np
    >>> float(Tweedie(1.5).inverse_link(np.float64(0.0)))
    1.0
    """

    name = "tweedie"

    def __init__(self, power: float = 1.5) -> None:
        self.power = power

    def _parts(self, y: FloatArray, raw: FloatArray) -> tuple[FloatArray, FloatArray]:
        return y * np.exp((1 - self.power) * raw), np.exp((2 - self.power) * raw)

    def value(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the loss of each row."""
        pull, push = self._parts(y, raw)
        return push / (2 - self.power) - pull / (1 - self.power)

    def gradient(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the derivative in the raw prediction."""
        pull, push = self._parts(y, raw)
        return push - pull

    def hessian(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the second derivative in the raw prediction."""
        pull, push = self._parts(y, raw)
        return (2 - self.power) * push - (1 - self.power) * pull

    def inverse_link(self, raw: FloatArray) -> FloatArray:
        """Return the mean, exp(F)."""
        return np.exp(raw)

    def constant(self, y: FloatArray, weight: FloatArray) -> FloatArray:
        """Return the log of the weighted mean."""
        return np.asarray(np.log(np.average(y, weights=weight)))

    def leaf_steps(
        self, y: FloatArray, raw: FloatArray, weight: FloatArray, leaf: IntArray, n_leaves: int
    ) -> FloatArray:
        """Return log(pull / push) of each leaf; −1, the Newton step, where all y are 0."""
        pull, push = self._parts(y, raw)
        pulls = leaf_sums(weight * pull, leaf, n_leaves)
        pushes = leaf_sums(weight * push, leaf, n_leaves)
        some = (pulls > 0) & (pushes > 0)
        steps = np.full(n_leaves, -1.0)
        steps[some] = np.log(pulls[some] / pushes[some])
        return steps

    def check_targets(self, owner: str, y: FloatArray) -> None:
        """Raise if a target is negative or none is positive."""
        if y.min() < 0 or y.max() <= 0:
            must = f"be at least 0, not all 0, for loss='{self.name}'"
            fix = "Use loss='squared' for such targets."
            raise invalid_data(owner, "y", must=must, got=float(y.min()), fix=fix)


class Poisson(Tweedie):
    """Half the Poisson deviance of a positive mean exp(F), less what only depends on y.

    Examples
    --------
    >>> import numpy as np
    >>> Poisson().gradient(np.array([0.0, 3.0]), np.zeros(2))
    array([ 1., -2.])
    """

    name = "poisson"

    def __init__(self) -> None:
        super().__init__(1.0)

    def value(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the loss of each row."""
        return self._parts(y, raw)[1] - y * raw

    def least(self, y: FloatArray) -> FloatArray:
        """Return the loss of a mean equal to the count."""
        return y - xlogy(y, y)


class CappedPoisson(Poisson):
    """The Poisson loss with a mean that ends at exp(30), so that no trial step overflows."""

    def _parts(self, y: FloatArray, raw: FloatArray) -> tuple[FloatArray, FloatArray]:
        return y, np.exp(np.minimum(raw, LARGEST_EXPONENT))


def regression_loss(owner: str, loss: Any, quantile: float, power: float) -> Loss:
    """Return the loss a regressor's parameters name."""
    if isinstance(loss, Loss):
        return loss
    known: dict[str, Loss] = {
        "squared": Squared(),
        "absolute": Absolute(),
        "huber": Huber(quantile),
        "quantile": Quantile(quantile),
        "poisson": Poisson(),
        "tweedie": Tweedie(power),
    }
    check_known(owner, loss, known)
    return known[loss]
