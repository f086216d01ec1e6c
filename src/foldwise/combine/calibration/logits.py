"""The two forms in which calibration reads predictions, and how they become probabilities.

Logits of two classes are one number a row, the log-odds of the second class; those of several
classes are one column a class, up to a constant in each row.
"""

from abc import ABC, abstractmethod

import numpy as np
from scipy.special import expit, logsumexp, softmax

from foldwise.arrays import FloatArray

# Far beyond any probability, and squares of it are still exact enough.
LARGEST = 1e6


def probabilities_of(logits: FloatArray) -> FloatArray:
    """Return the probabilities that logits stand for.

    Parameters
    ----------
    logits : ndarray of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
        Log-odds of the second of two classes, or a column for each of several.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Rows sum to one.

    See Also
    --------
    fit_temperature : Such logits, made less sure.

    Examples
    --------
    >>> import numpy as np
    >>> probabilities_of(np.array([0.0, np.log(3.0)]))
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """
    if logits.ndim == 1 or logits.shape[1] == 1:
        margins = logits.reshape(len(logits))
        return np.column_stack([expit(-margins), expit(margins)])
    return softmax(logits, axis=1)


class CalibrationMap(ABC):
    """A fitted map from logits to probabilities."""

    @abstractmethod
    def _calibrated(self, logits: FloatArray) -> FloatArray:
        """Return the probabilities of all classes."""

    def predict(self, logits: FloatArray) -> FloatArray:
        """Return calibrated probabilities.

        Parameters
        ----------
        logits : ndarray of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
            As in the fit: log-odds of the second of two classes, or a column a class.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to one.
        """
        return self._calibrated(logits)


def margins_of(logits: FloatArray) -> FloatArray:
    """Return the log-odds of the second of two classes, one a row, within bounds."""
    if logits.ndim == 2 and logits.shape[1] == 2:
        logits = np.subtract(logits[:, 1], logits[:, 0])
    return np.clip(logits.reshape(len(logits)), -LARGEST, LARGEST)


def columns_of(logits: FloatArray) -> FloatArray:
    """Return centred logits with one column a class, within bounds."""
    if logits.ndim == 1 or logits.shape[1] <= 2:
        margins = margins_of(logits)
        return np.column_stack([-0.5 * margins, 0.5 * margins])
    inside = np.clip(logits, -LARGEST, LARGEST)
    return inside - inside.mean(axis=1, keepdims=True)


def against_the_rest(logits: FloatArray, code: int) -> FloatArray:
    """Return the log-odds of one of several classes against all others together."""
    inside = np.clip(logits, -LARGEST, LARGEST)
    others = np.delete(inside, code, axis=1)
    return inside[:, code] - logsumexp(others, axis=1)


def both(positive: FloatArray) -> FloatArray:
    """Return the probabilities of two classes from that of the second."""
    return np.column_stack([1.0 - positive, positive])
