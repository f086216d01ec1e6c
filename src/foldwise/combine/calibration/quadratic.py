"""Quadratic calibration: a logistic regression on the logit and its square."""

from dataclasses import dataclass

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.combine.calibration.logistic import RIDGE, logistic_coefficients
from foldwise.combine.calibration.logits import margins_of, probabilities_of, row_weights


@dataclass(frozen=True)
class Quadratic:
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
    margins, weight = margins_of(logits), row_weights(y, sample_weight)
    c, a, b = logistic_coefficients(
        np.column_stack([np.ones(len(margins)), margins, margins**2]),
        y,
        weight,
        (0.0, 1.0, 0.0),
        ridge=ridge,
    )
    seen = margins[weight > 0]
    return Quadratic(float(c), float(a), float(b), float(seen.min()), float(seen.max()))
