"""Temperature, vector and matrix scaling: a linear map of the logits."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import log_softmax, softmax

from foldwise.arrays import FloatArray, IntArray
from foldwise.checks import row_weights
from foldwise.combine.calibration.logits import (
    CalibrationMap,
    columns_of,
    margins_of,
    probabilities_of,
)
from foldwise.combine.logistic_regression import RIDGE, logistic_coefficients

LARGEST_SLOPE = 1e12


@dataclass(frozen=True)
class Temperature(CalibrationMap):
    """Logits times ``1 / T``.

    Attributes
    ----------
    slope : float
        ``1 / T``, not negative: the order of the classes in a row stays.
    """

    slope: float

    def _calibrated(self, logits: FloatArray) -> FloatArray:
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
    The loss is convex in ``1 / T``: Newton steps, for several classes Brent's between
    ever closer bounds, each O(n_samples * n_classes). Where the logits point the wrong way,
    ``1 / T`` is zero.

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
    weight = row_weights(len(y), sample_weight)
    if logits.ndim == 1 or logits.shape[1] <= 2:
        margins = margins_of(logits)[:, None]
        found = logistic_coefficients(margins, y, weight, (1.0,), ridge=ridge, non_negative=(0,))
        return Temperature(float(found[0]))
    columns = columns_of(logits)
    own = float(weight @ columns[np.arange(len(y)), y])

    def rise(slope: float) -> float:
        mean = np.einsum("nk,nk->n", softmax(slope * columns, axis=1), columns)
        return float(weight @ mean - own + ridge * (slope - 1.0))

    high = 1.0
    while rise(high) < 0 and high < LARGEST_SLOPE:
        high *= 2.0
    if rise(0.0) >= 0 or rise(high) < 0:
        return Temperature(0.0 if rise(0.0) >= 0 else high)
    return Temperature(float(brentq(rise, 0.0, high, xtol=1e-300, rtol=1e-14)))


@dataclass(frozen=True, eq=False)
class AffineScaling(CalibrationMap):
    """``logits @ matrix.T + intercept``.

    Attributes
    ----------
    matrix : ndarray of shape (n_classes, n_classes)
        Diagonal for vector scaling.
    intercept : ndarray of shape (n_classes,)
        The shift of each class.
    """

    matrix: FloatArray
    intercept: FloatArray

    def _calibrated(self, logits: FloatArray) -> FloatArray:
        return probabilities_of(columns_of(logits) @ self.matrix.T + self.intercept)


def fit_vector_scaling(
    logits: FloatArray, y: IntArray, sample_weight: FloatArray | None = None
) -> AffineScaling:
    """Fit a temperature, then a slope and a shift for each class.

    Parameters
    ----------
    logits : ndarray of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
        A column a class; one for two classes.
    y : ndarray of int of shape (n_samples,)
        Class codes.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.

    Returns
    -------
    AffineScaling
        The map; its matrix is diagonal.

    Notes
    -----
    With k classes, ``k`` times the squared distance of the slopes to those of the temperature
    and of the shifts to zero is added to the sum of the rows' log-losses: what a class does not
    show clearly is left to the temperature.

    References
    ----------
    .. [1] Berta, Holzmüller, Bach, Jordan (2025). Structured matrix scaling for multi-class
       calibration.

    Examples
    --------
    >>> import numpy as np
    >>> logits = np.tile(np.log([[0.6, 0.3, 0.1]]), (300, 1))
    >>> y = np.repeat([0, 1, 2], 100)
    >>> fit_vector_scaling(logits, y).predict(logits[:1]).round(1)
    array([[0.3, 0.3, 0.3]])
    """
    return _fit(logits, y, sample_weight, crossed=False)


def fit_matrix_scaling(
    logits: FloatArray, y: IntArray, sample_weight: FloatArray | None = None
) -> AffineScaling:
    """Fit a temperature, then a slope and a shift for each class and a slope for each pair.

    Parameters
    ----------
    logits : ndarray of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
        A column a class; one for two classes.
    y : ndarray of int of shape (n_samples,)
        Class codes.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.

    Returns
    -------
    AffineScaling
        The map.

    Notes
    -----
    As vector scaling, with ``k * (k - 1)`` times the squares of the off-diagonal slopes added.

    References
    ----------
    .. [1] Berta, Holzmüller, Bach, Jordan (2025). Structured matrix scaling for multi-class
       calibration.

    Examples
    --------
    >>> import numpy as np
    >>> logits = np.log([[0.8, 0.1, 0.1], [0.1, 0.5, 0.4], [0.1, 0.4, 0.5]] * 200)
    >>> y = np.tile([0, 1, 2, 0, 1, 1], 100)
    >>> fit_matrix_scaling(logits, y).predict(logits[:3]).round(1)
    array([[1. , 0. , 0. ],
           [0. , 1. , 0. ],
           [0. , 0.5, 0.5]])
    """
    return _fit(logits, y, sample_weight, crossed=True)


def _fit(
    logits: FloatArray, y: IntArray, sample_weight: FloatArray | None, *, crossed: bool
) -> AffineScaling:
    slope = fit_temperature(logits, y, sample_weight).slope
    columns, weight = columns_of(logits), row_weights(len(y), sample_weight)
    k = columns.shape[1]
    scaled, share = slope * columns, weight / weight.sum()
    wanted = np.eye(k)[y] * share[:, None]
    penalty = np.where(np.eye(k, dtype=bool), k, k * (k - 1) if crossed else 0) / weight.sum()
    free = np.full((k, k), True) if crossed else np.eye(k, dtype=bool)

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        change, shift = np.zeros((k, k)), flat[-k:]
        change[free] = flat[:-k]
        logs = log_softmax(scaled + scaled @ change.T + shift, axis=1)
        excess = np.exp(logs) * share[:, None] - wanted
        value = -np.sum(wanted * logs) + np.sum(penalty * change**2)
        slopes = excess.T @ scaled + 2.0 * penalty * change
        shifts = excess.sum(axis=0) + 2.0 * k / weight.sum() * shift
        value += k / weight.sum() * shift @ shift
        return float(value), np.concatenate([slopes[free], shifts])

    start = np.zeros(int(free.sum()) + k)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-13}).x
    change = np.zeros((k, k))
    change[free] = found[:-k]
    return AffineScaling(slope * (np.eye(k) + change), found[-k:])
