"""Platt scaling on logits: a logistic regression of the class on them."""

from dataclasses import dataclass

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.combine.calibration.logistic import RIDGE, logistic_coefficients
from foldwise.combine.calibration.logits import margins_of, probabilities_of, row_weights


@dataclass(frozen=True)
class Platt:
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

    def predict(self, logits: FloatArray) -> FloatArray:
        """Return calibrated probabilities.

        Parameters
        ----------
        logits : ndarray of shape (n_samples,) or (n_samples, 1)
            Log-odds of the second class.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Rows sum to one.
        """
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
    slope, intercept = logistic_coefficients(
        np.column_stack([margins, np.ones(len(margins))]),
        y,
        row_weights(y, sample_weight),
        (1.0, 0.0),
        ridge=ridge,
        non_negative=(0,),
    )
    return Platt(float(slope), float(intercept))
