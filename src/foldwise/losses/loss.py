"""What a loss must say, and a loss made of the user's own functions."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from foldwise.arrays import FloatArray, IntArray
from foldwise.checks import unknown_word
from foldwise.errors import Plain, invalid_data, invalid_parameter

# Curvatures below this are raised to it, as glmnet does, so that a row whose probability has
# reached 0 or 1 cannot make a Newton step infinite.
LEAST_CURVATURE = 1e-5


class Loss:
    """Base class of all losses of a raw prediction F.

    A loss of your own needs ``value`` and ``gradient``; ``hessian`` and ``inverse_link`` are
    optional. Rows come first everywhere; weights are applied by the caller.

    Attributes
    ----------
    name : str
        What the loss is called in messages.
    n_outputs : int
        How many raw predictions a row has; 1 means ``raw`` is one-dimensional.

    See Also
    --------
    CustomLoss : The same from plain functions.
    """

    name = "custom"
    n_outputs = 1

    def value(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the loss of each row, shape (n_samples,)."""
        raise NotImplementedError

    def gradient(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the derivative of the loss in ``raw``, shaped like ``raw``."""
        raise NotImplementedError

    def hessian(self, y: FloatArray, raw: FloatArray) -> FloatArray | None:
        """Return the second derivative, shaped like ``raw``, or None if there is none to use."""
        return None

    def curvature(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return a positive second derivative, or a bound on it, for solvers that divide by it."""
        hessian = self.hessian(y, raw)
        return np.ones_like(raw) if hessian is None else np.maximum(hessian, LEAST_CURVATURE)

    def least(self, y: FloatArray) -> FloatArray:
        """Return the smallest loss each row could have: zero unless the loss knows better."""
        return np.zeros_like(y)

    def inverse_link(self, raw: FloatArray) -> FloatArray:
        """Return the prediction (a mean or a probability) a raw prediction stands for."""
        return raw

    def constant(self, y: FloatArray, weight: FloatArray) -> FloatArray:
        """Return the best constant raw prediction F⁰, shape () or (n_outputs,)."""
        return searched_constant(self, y, weight)

    def adapted(self, y: FloatArray, raw: FloatArray, weight: FloatArray) -> "Loss":
        """Return the loss that these raw predictions call for; Huber's sets its threshold here."""
        return self

    def leaf_steps(
        self, y: FloatArray, raw: FloatArray, weight: FloatArray, leaf: IntArray, n_leaves: int
    ) -> FloatArray | None:
        """Return the best step of each leaf where there is a formula for it, else None."""
        return None

    def check_targets(self, owner: str, y: FloatArray) -> None:
        """Raise if ``y`` holds targets this loss cannot take."""


class CustomLoss(Loss):
    """A loss made of the user's own functions.

    Parameters
    ----------
    value : callable
        ``value(y, raw)`` gives the loss of each row.
    gradient : callable
        ``gradient(y, raw)`` gives its derivative in ``raw``.
    hessian : callable, optional
        ``hessian(y, raw)`` gives the second derivative. Without it the leaves of a tree are
        found by search.
    inverse_link : callable, optional
        ``inverse_link(raw)`` gives the prediction. By default a regressor predicts ``raw``
        itself, a classifier the logistic function of ``raw``.

    Examples
    --------
    >>> import numpy as np
    >>> loss = CustomLoss(lambda y, raw: np.cosh(raw - y) - 1, lambda y, raw: np.sinh(raw - y))
    >>> y = np.array([0.0, 1.0, 5.0])
    >>> float(loss.constant(y, np.ones(3)).round(3))
    2.353
    """

    def __init__(
        self,
        value: Callable[[FloatArray, FloatArray], FloatArray],
        gradient: Callable[[FloatArray, FloatArray], FloatArray],
        hessian: Callable[[FloatArray, FloatArray], FloatArray | None] | None = None,
        inverse_link: Callable[[FloatArray], FloatArray] | None = None,
    ) -> None:
        self._value = value
        self._gradient = gradient
        self._hessian = hessian
        self._inverse_link = inverse_link

    def value(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the loss of each row."""
        return self._value(y, raw)

    def gradient(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the derivative of the loss in ``raw``."""
        return self._gradient(y, raw)

    def hessian(self, y: FloatArray, raw: FloatArray) -> FloatArray | None:
        """Return the second derivative, or None if none was given."""
        return None if self._hessian is None else self._hessian(y, raw)

    def inverse_link(self, raw: FloatArray) -> FloatArray:
        """Return the prediction a raw prediction stands for."""
        return raw if self._inverse_link is None else self._inverse_link(raw)

    @property
    def has_link(self) -> bool:
        """Whether the user said how a raw prediction becomes a prediction."""
        return self._inverse_link is not None


def total_loss(loss: Loss, y: FloatArray, raw: FloatArray, weight: FloatArray) -> float:
    """Return the weighted mean loss."""
    return float(weight @ loss.value(y, raw) / weight.sum())


def searched_constant(loss: Loss, y: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the constant with the lowest loss, found by search from the mean of ``y``."""
    start = float(np.average(y, weights=weight))

    def objective(constant: FloatArray) -> tuple[float, FloatArray]:
        raw = np.full(len(y), constant[0])
        slope = float(weight @ loss.gradient(y, raw) / weight.sum())
        return total_loss(loss, y, raw, weight), np.array([slope])

    return np.asarray(minimize(objective, [start], jac=True, method="L-BFGS-B").x[0])


def check_known(owner: str, loss: Any, names: Iterable[str]) -> None:
    """Raise unless the loss is one of the names."""
    known = list(names)
    if not isinstance(loss, str) or loss not in known:
        raise unknown_word(owner, "loss", loss, known, "be a known name or a Loss")


def check_loss(owner: str, loss: Loss, y: FloatArray, raw: FloatArray) -> None:
    """Raise if a user's loss gives wrong shapes, no finite numbers or a downhill gradient.

    The sign is tried by a tiny step against the gradient, which must not raise the loss.
    """
    value, gradient, hessian = loss.value(y, raw), loss.gradient(y, raw), loss.hessian(y, raw)
    parts: list[tuple[str, Any, tuple[int, ...]]] = [
        ("value", value, y.shape),
        ("gradient", gradient, raw.shape),
        ("hessian", raw if hessian is None else hessian, raw.shape),
    ]
    for part, array, shape in parts:
        if np.shape(array) != shape:
            must = f"return an array of shape {shape} from {part}(y, raw)"
            got = Plain(f"shape {np.shape(array)}")
            fix = "Return one number a row, without summing."
            raise invalid_parameter(owner, "loss", must=must, got=got, fix=fix)
        if not np.isfinite(array).all():
            must = f"give finite numbers from {part}(y, raw)"
            got = Plain(f"{int((~np.isfinite(array)).sum())} that are not")
            fix = "Check that y is in the loss's range."
            raise invalid_data(owner, "loss", must=must, got=got, fix=fix)
    steepest = np.abs(gradient).max()
    if steepest <= 1e-8:
        return
    # Targets of a tiny spread need a tinier step, or it leads past the minimum.
    spread = min(1.0, float(np.ptp(np.append(y, raw))))
    steps = [1e-6 * size * gradient / steepest for size in (spread, 1.0)]
    rises = [float(np.sum(loss.value(y, raw - step) - value)) for step in steps]
    if all(r > 0.5 * float(np.sum(gradient * s)) for r, s in zip(rises, steps, strict=True)):
        must = "have the derivative of value(y, raw) in raw as its gradient"
        got = Plain("a loss that rises against its gradient")
        raise invalid_parameter(owner, "loss", must=must, got=got, fix="Check the gradient's sign.")
