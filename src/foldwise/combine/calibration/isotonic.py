"""Isotonic and Venn-Abers calibration: rising step functions of the logits."""

from dataclasses import dataclass

import numpy as np
from sklearn.isotonic import IsotonicRegression

from foldwise.arrays import FloatArray, IntArray
from foldwise.checks import row_weights
from foldwise.combine.calibration.logits import CalibrationMap, both, margins_of


@dataclass(frozen=True, eq=False)
class Isotonic(CalibrationMap):
    """A rising line through some points, never 0 or 1.

    Attributes
    ----------
    logits, probabilities : ndarray of shape (n_points,)
        The points, from left to right.
    """

    logits: FloatArray
    probabilities: FloatArray

    def _calibrated(self, logits: FloatArray) -> FloatArray:
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
    weight = row_weights(len(y), sample_weight)
    seen = weight > 0
    steps = IsotonicRegression(out_of_bounds="clip")
    steps.fit(margins_of(logits)[seen], y[seen].astype(np.float64), weight[seen])
    away = 0.5 / (weight.sum() + 1.0)
    probabilities = np.clip(steps.y_thresholds_, away, 1.0 - away)
    return Isotonic(np.asarray(steps.X_thresholds_), probabilities)


@dataclass(frozen=True, eq=False)
class VennAbers(CalibrationMap):
    """Two rising step functions; it predicts the minimax choice for the log-loss between them.

    Attributes
    ----------
    logits : ndarray of shape (n_points,)
        The distinct logits of the fit, in order.
    lower : ndarray of shape (n_points + 1,)
        The value at a new row after so many points, were it of the first class.
    upper : ndarray of shape (n_points + 1,)
        The same, were it of the second class.
    """

    logits: FloatArray
    lower: FloatArray
    upper: FloatArray

    def bounds(self, logits: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the two probabilities of the second class, one of which is calibrated.

        Parameters
        ----------
        logits : ndarray of shape (n_samples,) or (n_samples, 1)
            Log-odds of the second class.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples,)
            The wider apart, the less is known.
        """
        margins = margins_of(logits)
        return (
            self.lower[np.searchsorted(self.logits, margins, side="right")],
            self.upper[np.searchsorted(self.logits, margins, side="left")],
        )

    def _calibrated(self, logits: FloatArray) -> FloatArray:
        # The minimax choice for the log-loss between the bounds.
        lower, upper = self.bounds(logits)
        return both(upper / (1.0 - lower + upper))


def fit_venn_abers(
    logits: FloatArray, y: IntArray, sample_weight: FloatArray | None = None
) -> VennAbers:
    """Prepare the two isotonic fits for every place a new row may fall.

    Parameters
    ----------
    logits : ndarray of shape (n_samples,) or (n_samples, 1)
        Log-odds of the second class, of rows the model has not seen; only their order counts.
    y : ndarray of int of shape (n_samples,)
        0 or 1.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows; the new row weighs one.

    Returns
    -------
    VennAbers
        The map.

    Notes
    -----
    An isotonic fit is the slope of the greatest convex minorant of the cumulated labels. A new
    row of the second class lifts everything to its right by one: the slope at it is the
    steepest line from below the points on its left that stays under those on its right. It
    changes only where a point falls under the line, so the cost is O(n_samples) for each
    distinct value.

    References
    ----------
    .. [1] Vovk, Petej, Fedorova (2015). Large-scale probabilistic predictors with and without
       guarantees of validity. NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> fitted = fit_venn_abers(z, np.array([0, 0, 1, 1]))
    >>> lower, upper = fitted.bounds(np.array([1.5]))
    >>> lower.round(2), upper.round(2), fitted.predict(np.array([1.5]))[:, 1].round(2)
    (array([0.5]), array([1.]), array([0.67]))
    """
    margins, weight = margins_of(logits), row_weights(len(y), sample_weight)
    seen = weight > 0
    points, place = np.unique(margins[seen], return_inverse=True)
    total = np.bincount(place, weights=weight[seen]).astype(np.float64)
    ones = np.bincount(place, weights=weight[seen] * y[seen]).astype(np.float64)
    upper = _slopes_with_a_one(total, ones)
    lower = 1.0 - _slopes_with_a_one(total[::-1], (total - ones)[::-1])[::-1]
    return VennAbers(points, lower, upper)


def _slopes_with_a_one(total: FloatArray, ones: FloatArray) -> FloatArray:
    """Return the isotonic value of a row of label one put after so many of the points."""
    right = np.concatenate([[0.0], np.cumsum(total)])
    height = np.concatenate([[0.0], np.cumsum(ones)])
    slopes = np.empty(len(right))
    anchor = 0
    while anchor < len(right):
        # The lifted point of the anchor itself is reached by a slope of one.
        rise = height[anchor:] + 1.0 - height[anchor]
        slope = float(np.min(rise / (right[anchor:] + 1.0 - right[anchor])))
        line = height[anchor] + slope * (right[anchor + 1 :] - right[anchor])
        below = np.flatnonzero(height[anchor + 1 :] < line)
        after = anchor + 1 + int(below[0]) if len(below) else len(right)
        slopes[anchor:after] = slope
        anchor = after
    return slopes
