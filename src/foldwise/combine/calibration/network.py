"""Calibration by a small network over the logits."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from foldwise.arrays import FloatArray, IntArray
from foldwise.checks import row_weights
from foldwise.combine.calibration.logits import CalibrationMap, columns_of, probabilities_of
from foldwise.combine.calibration.scaling import fit_temperature

HIDDEN = 8
PENALTY = 0.5
MOST_STEPS = 200


@dataclass(frozen=True, eq=False)
class Network(CalibrationMap):
    """The logits at a temperature, plus what one hidden layer makes of them.

    Attributes
    ----------
    into : ndarray of shape (n_classes, n_hidden)
        Weights of the hidden units.
    thresholds : ndarray of shape (n_hidden,)
        Their intercepts.
    out : ndarray of shape (n_hidden, n_classes)
        From the hidden units to the change of the logits.
    shift : ndarray of shape (n_classes,)
        Added to the logits.
    slope : float
        One over the temperature.
    scale : float
        Logits are divided by it before they enter the layer.
    lowest, highest : ndarray of shape (n_classes,)
        The logits seen in the fit; those beyond count as the ends.
    """

    into: FloatArray
    thresholds: FloatArray
    out: FloatArray
    shift: FloatArray
    slope: float
    scale: float
    lowest: FloatArray
    highest: FloatArray

    def _calibrated(self, logits: FloatArray) -> FloatArray:
        columns = np.clip(columns_of(logits), self.lowest, self.highest)
        hidden = np.tanh(columns / self.scale @ self.into + self.thresholds)
        return probabilities_of(self.slope * columns + hidden @ self.out + self.shift)


def fit_network(
    logits: FloatArray, y: IntArray, sample_weight: FloatArray | None = None
) -> Network:
    """Fit a network with one hidden layer of eight units by the log-loss.

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
    Network
        The map. It need not keep the order of the rows.

    Notes
    -----
    The temperature is fitted first. The network adds to the logits, and half the squares of its
    weights are added to the sum of the rows' losses, so few rows change little. The start is
    always the same: the same data give the same network.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.tile([-4.0, 0.0, 4.0], 100)
    >>> y = np.tile([0, 1, 1], 100)
    >>> fit_network(z, y).predict(np.zeros(1)).round(1)
    array([[0., 1.]])
    """
    columns, weight = columns_of(logits), row_weights(len(y), sample_weight)
    k, total, slope = columns.shape[1], weight.sum(), fit_temperature(logits, y, weight).slope
    scale = float(np.sqrt(weight @ np.mean(columns**2, axis=1) / total)) or 1.0
    inputs, wanted = columns / scale, np.eye(k)[y] * (weight / total)[:, None]

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        into, thresholds, out, shift = _parts(flat, k)
        hidden = np.tanh(inputs @ into + thresholds)
        logs = log_softmax(slope * columns + hidden @ out + shift, axis=1)
        excess = np.exp(logs) * (weight / total)[:, None] - wanted
        back = (excess @ out.T) * (1.0 - hidden**2)
        gradient = [inputs.T @ back, back.sum(axis=0), hidden.T @ excess, excess.sum(axis=0)]
        value = -np.sum(wanted * logs) + PENALTY / total * flat @ flat
        steep = np.concatenate([part.ravel() for part in gradient])
        return float(value), steep + 2.0 * PENALTY / total * flat

    start = np.random.default_rng(0).normal(scale=0.5, size=2 * k * HIDDEN + HIDDEN + k)
    options = {"maxiter": MOST_STEPS, "ftol": 1e-10}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    seen = columns[weight > 0]
    return Network(*_parts(found, k), slope, scale, seen.min(axis=0), seen.max(axis=0))


def _parts(flat: FloatArray, k: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    ends = np.cumsum([k * HIDDEN, HIDDEN, HIDDEN * k])
    into, thresholds, out, shift = np.split(flat, ends)
    return into.reshape(k, HIDDEN), thresholds, out.reshape(HIDDEN, k), shift
