"""Beta calibration: the two logarithms of a probability get slopes of their own."""

from dataclasses import dataclass

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.combine.calibration.logistic import RIDGE, logistic_coefficients
from foldwise.combine.calibration.logits import margins_of, probabilities_of, row_weights


@dataclass(frozen=True)
class Beta:
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
        return probabilities_of(_columns(logits) @ np.array([self.a, self.b, self.c]))


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
    a, b, c = logistic_coefficients(
        _columns(logits),
        y,
        row_weights(y, sample_weight),
        (1.0, 1.0, 0.0),
        ridge=ridge,
        non_negative=(0, 1),
    )
    return Beta(float(a), float(b), float(c))


def _columns(logits: FloatArray) -> FloatArray:
    margins = margins_of(logits)
    log_p, minus_log_q = -np.logaddexp(0.0, -margins), np.logaddexp(0.0, margins)
    return np.column_stack([log_p, minus_log_q, np.ones(len(margins))])
