"""Isotonic calibration: the rising step function with the least squared error."""

from dataclasses import dataclass

import numpy as np
from sklearn.isotonic import IsotonicRegression

from foldwise.arrays import FloatArray, IntArray
from foldwise.combine.calibration.logits import both, margins_of, row_weights


@dataclass(frozen=True, eq=False)
class Isotonic:
    """A rising line through some points.

    Attributes
    ----------
    logits, probabilities : ndarray of shape (n_points,)
        The points, from left to right.
    """

    logits: FloatArray
    probabilities: FloatArray

    def predict(self, logits: FloatArray) -> FloatArray:
        """Return calibrated probabilities.

        Parameters
        ----------
        logits : ndarray of shape (n_samples,) or (n_samples, 1)
            Log-odds of the second class.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Rows sum to one; never 0 or 1.
        """
        return both(np.interp(margins_of(logits), self.logits, self.probabilities))


def fit_isotonic(
    logits: FloatArray, y: IntArray, sample_weight: FloatArray | None = None
) -> Isotonic:
    """Fit a rising function of the logits.

    Parameters
    ----------
    logits : ndarray of shape (n_samples,) or (n_samples, 1)
        Log-odds of the second class; only their order and spacing count.
    y : ndarray of int of shape (n_samples,)
        0 or 1.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.

    Returns
    -------
    Isotonic
        The map, linear between the points.

    Notes
    -----
    scikit-learn's isotonic regression, kept ``0.5 / (n + 1)`` away from 0 and 1 (n is the sum
    of the weights), so that one surprise does not cost an infinite log-loss.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> fit_isotonic(z, np.array([0, 1, 0, 1])).predict(z)[:, 1]
    array([0.1, 0.5, 0.5, 0.9])
    """
    weight = row_weights(y, sample_weight)
    seen = weight > 0
    steps = IsotonicRegression(out_of_bounds="clip")
    steps.fit(margins_of(logits)[seen], y[seen].astype(np.float64), weight[seen])
    away = 0.5 / (weight.sum() + 1.0)
    probabilities = np.clip(steps.y_thresholds_, away, 1.0 - away)
    return Isotonic(np.asarray(steps.X_thresholds_), probabilities)
