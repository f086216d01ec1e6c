"""Do probabilities mean what they say? Curves, one number, and the loss in two parts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.isotonic import IsotonicRegression

from foldwise.arrays import FloatArray, IntArray
from foldwise.checks import check_word, row_weights
from foldwise.combine.calibration.logits import both
from foldwise.combine.calibration.scaling import fit_temperature


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """What was predicted and what came, bin by bin.

    Attributes
    ----------
    predicted, observed : ndarray of shape (n_bins,)
        The mean probability, and the share of rows for which it came true.
    weight : ndarray of shape (n_bins,)
        The share of all rows in the bin; they sum to one.
    lower, upper : ndarray of shape (n_bins,)
        Wilson's 95 % interval of the observed share.
    """

    predicted: FloatArray
    observed: FloatArray
    weight: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True)
class LossParts:
    """A mean loss in parts: ``total = calibration + refinement``.

    Attributes
    ----------
    total : float
        The mean loss.
    calibration : float
        What recalibration would save: not negative.
    refinement : float
        What is left then, ``uncertainty - resolution``.
    uncertainty : float
        The loss of always predicting the shares of the classes.
    resolution : float
        What the predictions save over that, once recalibrated.
    """

    total: float
    calibration: float
    refinement: float
    uncertainty: float
    resolution: float


def reliability_curve(
    probabilities: FloatArray,
    y: IntArray,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    sample_weight: FloatArray | None = None,
) -> ReliabilityCurve:
    """Compare predicted probabilities with how often they come true.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples,), (n_samples, 2) or (n_samples, n_classes)
        Of the second of two classes, or of all classes. For more than two, the probability of
        the most probable class is compared with how often it is the right one.
    y : ndarray of int of shape (n_samples,)
        Class codes.
    n_bins : int, default=10
        The most bins; equal probabilities are never parted, and empty bins are left out.
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins of equal weight, or of equal width.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.

    Returns
    -------
    ReliabilityCurve
        One point a bin, from left to right.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([0.2, 0.2, 0.2, 0.2, 0.8, 0.8])
    >>> curve = reliability_curve(p, np.array([0, 0, 0, 1, 1, 1]), n_bins=2)
    >>> curve.predicted, curve.observed
    (array([0.2, 0.8]), array([0.25, 1.  ]))
    """
    check_word("reliability_curve", "strategy", strategy, ["quantile", "uniform"])
    believed, true = _believed(probabilities, y)
    weight = row_weights(len(y), sample_weight)
    place = _places(believed, weight, n_bins, strategy)
    total = np.bincount(place, weights=weight, minlength=n_bins)
    filled = total > 0
    total = total[filled]
    predicted = np.bincount(place, weight * believed, minlength=n_bins)[filled] / total
    observed = np.bincount(place, weight * true, minlength=n_bins)[filled] / total
    squares = np.bincount(place, weights=weight**2, minlength=n_bins)[filled]
    lower, upper = _wilson(observed, total**2 / squares)
    return ReliabilityCurve(predicted, observed, total / total.sum(), lower, upper)


def expected_calibration_error(
    probabilities: FloatArray,
    y: IntArray,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    sample_weight: FloatArray | None = None,
) -> float:
    """Return the mean distance between predicted and observed shares.

    Parameters
    ----------
    probabilities, y, n_bins, strategy, sample_weight
        As in :func:`reliability_curve`.

    Returns
    -------
    float
        The weighted mean over the bins, 0 at best. It depends on the bins and is above zero by
        chance; :func:`decompose_loss` needs none.

    References
    ----------
    .. [1] Naeini, Cooper, Hauskrecht (2015). Obtaining well calibrated probabilities using
       Bayesian binning. AAAI.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([0.2, 0.2, 0.2, 0.2, 0.8, 0.8])
    >>> round(expected_calibration_error(p, np.array([0, 0, 0, 1, 1, 1])), 4)
    0.1
    """
    bins: dict[str, Any] = {"n_bins": n_bins, "strategy": strategy}
    curve = reliability_curve(probabilities, y, sample_weight=sample_weight, **bins)
    return float(curve.weight @ np.abs(curve.predicted - curve.observed))


def decompose_loss(
    probabilities: FloatArray,
    y: IntArray,
    loss: str = "log_loss",
    *,
    sample_weight: FloatArray | None = None,
) -> LossParts:
    """Split a loss into what recalibration would save and what is left.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples,), (n_samples, 2) or (n_samples, n_classes)
        Of the second of two classes, or of all classes.
    y : ndarray of int of shape (n_samples,)
        Class codes.
    loss : {"log_loss", "brier"}, default="log_loss"
        What is split. For several classes the Brier score sums over the classes, for two it is
        that of the second.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.

    Returns
    -------
    LossParts
        ``total = calibration + refinement`` and ``refinement = uncertainty - resolution``.

    Notes
    -----
    Two classes are recalibrated by the isotonic fit to these very rows, which is optimal for
    both losses among rising functions, the given one included; where predictions take few
    values and the observed shares rise, this is Murphy's decomposition. Several classes are
    recalibrated by the best temperature for the log-loss.

    References
    ----------
    .. [1] Dimitriadis, Gneiting, Jordan (2021). Stable reliability diagrams for probabilistic
       classifiers. PNAS 118.
    .. [2] Berta, Holzmüller, Jordan, Bach (2025). Rethinking early stopping: refine, then
       calibrate.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([0.2, 0.2, 0.2, 0.2, 0.8, 0.8])
    >>> parts = decompose_loss(p, np.array([0, 0, 0, 1, 1, 1]), "brier")
    >>> round(parts.total, 4), round(parts.calibration, 4), round(parts.refinement, 4)
    (0.14, 0.015, 0.125)
    """
    check_word("decompose_loss", "loss", loss, _LOSSES)
    given = both(probabilities) if probabilities.ndim == 1 else probabilities
    weight = row_weights(len(y), sample_weight)
    share = weight / weight.sum()
    shares = np.bincount(y, weights=share, minlength=given.shape[1])
    better = _recalibrated(given, y, weight)
    of = _LOSSES[loss]
    total, refinement = float(share @ of(given, y)), float(share @ of(better, y))
    uncertainty = float(share @ of(np.tile(shares, (len(y), 1)), y))
    return LossParts(total, total - refinement, refinement, uncertainty, uncertainty - refinement)


def _believed(probabilities: FloatArray, y: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the probability that is examined, and whether it came true."""
    if probabilities.ndim == 1:
        return probabilities, (y == 1).astype(np.float64)
    if probabilities.shape[1] == 2:
        return probabilities[:, 1], (y == 1).astype(np.float64)
    top = probabilities.argmax(axis=1)
    return probabilities[np.arange(len(y)), top], (top == y).astype(np.float64)


def _places(believed: FloatArray, weight: FloatArray, n_bins: int, strategy: str) -> IntArray:
    if strategy == "uniform":
        return np.minimum((believed * n_bins).astype(np.intp), n_bins - 1)
    _, place = np.unique(believed, return_inverse=True)
    each = np.bincount(place, weights=weight)
    # The middle of a value's weight decides, so that equal predictions stay together.
    middle = (np.cumsum(each) - 0.5 * each) / each.sum()
    return np.minimum((middle * n_bins).astype(np.intp), n_bins - 1)[place]


def _wilson(share: FloatArray, n: FloatArray) -> tuple[FloatArray, FloatArray]:
    z = float(ndtri(0.975))
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def _recalibrated(given: FloatArray, y: IntArray, weight: FloatArray) -> FloatArray:
    if given.shape[1] > 2:
        logs = np.log(np.clip(given, np.finfo(np.float64).tiny, None))
        return fit_temperature(logs, y, weight, ridge=0.0).predict(logs)
    # Ranks, since probabilities that differ by less than 1e-15 would be taken as equal.
    rank = np.unique(given[:, 1], return_inverse=True)[1]
    seen = weight > 0
    fit = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    fit.fit(rank[seen], y[seen].astype(np.float64), weight[seen])
    positive = fit.predict(rank)
    return both(positive)


def _log(probabilities: FloatArray, y: IntArray) -> FloatArray:
    tiny = np.finfo(np.float64).eps
    return -np.log(np.clip(probabilities[np.arange(len(y)), y], tiny, 1.0))


def _brier(probabilities: FloatArray, y: IntArray) -> FloatArray:
    if probabilities.shape[1] == 2:
        return (probabilities[:, 1] - y) ** 2
    wanted = np.eye(probabilities.shape[1])[y]
    return ((probabilities - wanted) ** 2).sum(axis=1)


_LOSSES = {"log_loss": _log, "brier": _brier}
