"""Platt, beta and quadratic calibration: logistic regression on a few functions of the logit."""

from dataclasses import dataclass

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.checks import row_weights
from foldwise.combine.calibration.logits import CalibrationMap, margins_of, probabilities_of
from foldwise.combine.logistic_regression import RIDGE, logistic_coefficients


@dataclass(frozen=True)
class Platt(CalibrationMap):
    """``slope * logit + intercept``.

    Attributes
    ----------
    slope : float
        Not negative, so that the order of the rows stays.
    intercept : float
        The shift.
    """

    slope: float
    intercept: float

    def _calibrated(self, logits: FloatArray) -> FloatArray:
        return probabilities_of(self.slope * margins_of(logits) + self.intercept)


def fit_platt(
    logits: FloatArray,
    y: IntArray,
    sample_weight: FloatArray | None = None,
    *,
    ridge: float = RIDGE,
) -> Platt:
    """Fit slope and intercept by the log-loss.

    Parameters
    ----------
    logits : ndarray of shape (n_samples,) or (n_samples, 1)
        Log-odds of the second class, or any score that grows with them.
    y : ndarray of int of shape (n_samples,)
        0 or 1.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    ridge : float, default=0.01
        Half of it times the squared distance to (1, 0) is added to the sum of the losses.

    Returns
    -------
    Platt
        The map.

    Notes
    -----
    It reads logits, not probabilities, so that changing nothing is one of its possibilities.

    References
    ----------
    .. [1] Platt (1999). Probabilistic outputs for support vector machines.

    Examples
    --------
    >>> import numpy as np
    >>> shifted = np.log([0.2, 0.2, 0.2, 0.8, 0.8, 0.8]) - np.log([0.8, 0.8, 0.8, 0.2, 0.2, 0.2])
    >>> fit_platt(shifted, np.array([0, 0, 1, 1, 1, 1])).predict(shifted[:1]).round(2)
    array([[0.67, 0.33]])
    """
    margins = margins_of(logits)
    columns = np.column_stack([margins, np.ones(len(margins))])
    weight = row_weights(len(y), sample_weight)
    found = logistic_coefficients(columns, y, weight, (1, 0), ridge=ridge, non_negative=(0,))
    return Platt(*found.tolist())


@dataclass(frozen=True)
class Beta(CalibrationMap):
    """``a * log(p) - b * log(1 - p) + c``.

    Attributes
    ----------
    a, b : float
        Not negative, so that the order of the rows stays.
    c : float
        The shift.
    """

    a: float
    b: float
    c: float

    def _calibrated(self, logits: FloatArray) -> FloatArray:
        return probabilities_of(_two_logarithms(logits) @ np.array([self.a, self.b, self.c]))


def fit_beta(
    logits: FloatArray,
    y: IntArray,
    sample_weight: FloatArray | None = None,
    *,
    ridge: float = RIDGE,
) -> Beta:
    """Fit the three parameters of beta calibration by the log-loss.

    Parameters
    ----------
    logits : ndarray of shape (n_samples,) or (n_samples, 1)
        Log-odds of the second class.
    y : ndarray of int of shape (n_samples,)
        0 or 1.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    ridge : float, default=0.01
        Half of it times the squared distance to (1, 1, 0) is added to the sum of the losses.

    Returns
    -------
    Beta
        The map.

    References
    ----------
    .. [1] Kull, Silva Filho, Flach (2017). Beta calibration: a well-founded and easily
       implemented improvement on logistic calibration for binary classifiers.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=20_000)
    >>> y = (rng.uniform(size=20_000) < p**2).astype(int)
    >>> fit_beta(np.log(p / (1 - p)), y).predict(np.zeros(1)).round(2)
    array([[0.75, 0.25]])
    """
    columns, weight = _two_logarithms(logits), row_weights(len(y), sample_weight)
    found = logistic_coefficients(columns, y, weight, (1, 1, 0), ridge=ridge, non_negative=(0, 1))
    return Beta(*found.tolist())


def _two_logarithms(logits: FloatArray) -> FloatArray:
    """Return ``log(p)``, ``-log(1 - p)`` and ones, a column each."""
    margins = margins_of(logits)
    log_p, minus_log_q = -np.logaddexp(0.0, -margins), np.logaddexp(0.0, margins)
    return np.column_stack([log_p, minus_log_q, np.ones(len(margins))])


@dataclass(frozen=True)
class Quadratic(CalibrationMap):
    """``c + a * logit + b * logit**2``.

    Attributes
    ----------
    c, a, b : float
        The coefficients.
    lowest, highest : float
        The logits seen in the fit; those beyond count as the ends, since a parabola turns.
    """

    c: float
    a: float
    b: float
    lowest: float
    highest: float

    def _calibrated(self, logits: FloatArray) -> FloatArray:
        margins = np.clip(margins_of(logits), self.lowest, self.highest)
        return probabilities_of(self.c + self.a * margins + self.b * margins**2)


def fit_quadratic(
    logits: FloatArray,
    y: IntArray,
    sample_weight: FloatArray | None = None,
    *,
    ridge: float = RIDGE,
) -> Quadratic:
    """Fit the three coefficients by the log-loss.

    Parameters
    ----------
    logits : ndarray of shape (n_samples,) or (n_samples, 1)
        Log-odds of the second class.
    y : ndarray of int of shape (n_samples,)
        0 or 1.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    ridge : float, default=0.01
        Half of it times the squared distance to (0, 1, 0) is added to the sum of the losses.

    Returns
    -------
    Quadratic
        The map. It need not keep the order of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.array([-2.0, -1.0, 0.0, 1.0, 2.0] * 40)
    >>> y = np.tile([0, 0, 0, 1, 1], 40)
    >>> fit_quadratic(z, y).predict(z[:5])[:, 1].round(1)
    array([0., 0., 0., 1., 1.])
    """
    margins, weight = margins_of(logits), row_weights(len(y), sample_weight)
    columns = np.column_stack([np.ones(len(margins)), margins, margins**2])
    c, a, b = logistic_coefficients(columns, y, weight, (0, 1, 0), ridge=ridge).tolist()
    seen = margins[weight > 0]
    return Quadratic(c, a, b, float(seen.min()), float(seen.max()))
