"""Temperature scaling: all logits divided by one number."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from foldwise.arrays import FloatArray, IntArray
from foldwise.combine.calibration.logistic import RIDGE, logistic_coefficients
from foldwise.combine.calibration.logits import (
    columns_of,
    margins_of,
    probabilities_of,
    row_weights,
)

MOST_STEPS = 200
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Temperature:
    """Logits times ``1 / T``.

    Attributes
    ----------
    slope : float
        ``1 / T``, not negative: the order of the classes in a row stays.
    """

    slope: float

    def predict(self, logits: FloatArray) -> FloatArray:
        """Return calibrated probabilities.

        Parameters
        ----------
        logits : ndarray of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
            As in the fit.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to one.
        """
        return probabilities_of(self.slope * columns_of(logits))


def fit_temperature(
    logits: FloatArray,
    y: IntArray,
    sample_weight: FloatArray | None = None,
    *,
    ridge: float = RIDGE,
) -> Temperature:
    """Fit the temperature by the log-loss.

    Parameters
    ----------
    logits : ndarray of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
        Log-odds of the second of two classes, or a column for each of several.
    y : ndarray of int of shape (n_samples,)
        Class codes.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    ridge : float, default=0.01
        Half of it times ``(1 / T - 1)**2`` is added to the sum of the rows' losses.

    Returns
    -------
    Temperature
        The map.

    Notes
    -----
    The loss is convex in ``1 / T``: Newton steps, for several classes between ever closer
    bounds, each O(n_samples * n_classes). Where the logits point the wrong way, ``1 / T`` is zero.

    References
    ----------
    .. [1] Guo, Pleiss, Sun, Weinberger (2017). On calibration of modern neural networks.

    Examples
    --------
    >>> import numpy as np
    >>> sure = np.array([4.0, 4.0, 4.0, -4.0, -4.0, -4.0])
    >>> fit_temperature(sure, np.array([1, 1, 0, 0, 0, 1])).predict(sure).round(2)[0]
    array([0.33, 0.67])
    """
    weight = row_weights(y, sample_weight)
    if logits.ndim == 1 or logits.shape[1] <= 2:
        slopes = logistic_coefficients(
            margins_of(logits)[:, None], y, weight, (1.0,), ridge=ridge, non_negative=(0,)
        )
        return Temperature(float(slopes[0]))
    columns = columns_of(logits)
    own = float(weight @ columns[np.arange(len(y)), y])

    def derivatives(slope: float) -> tuple[float, float]:
        p = softmax(slope * columns, axis=1)
        mean = np.einsum("nk,nk->n", p, columns)
        square = np.einsum("nk,nk->n", p, columns**2)
        first = weight @ mean - own + ridge * (slope - 1.0)
        return float(first), float(weight @ (square - mean**2) + ridge)

    return Temperature(_rising_root(derivatives))


def _rising_root(derivatives: Callable[[float], tuple[float, float]]) -> float:
    """Return where a rising function crosses zero, not below zero."""
    if derivatives(0.0)[0] >= 0:
        return 0.0
    low, high = 0.0, 1.0
    while derivatives(high)[0] < 0 and high < 1e12:
        low, high = high, 2.0 * high
    at = high
    for _ in range(MOST_STEPS):
        first, second = derivatives(at)
        low, high = (at, high) if first < 0 else (low, at)
        new = at - first / second if second > 0 else low
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - at) <= TOLERANCE * max(abs(at), 1e-300):
            return new
        at = new
    return at
