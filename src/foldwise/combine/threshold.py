"""The probability from which on the second of two classes should be predicted."""

from collections.abc import Callable

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.checks import check_word, row_weights

Counts = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _accuracy(tn: FloatArray, fp: FloatArray, fn: FloatArray, tp: FloatArray) -> FloatArray:
    return _ratio(tn + tp, tn + fp + fn + tp)


def _balanced(tn: FloatArray, fp: FloatArray, fn: FloatArray, tp: FloatArray) -> FloatArray:
    # A class without rows does not count, as in scikit-learn.
    present = (tn + fp > 0).astype(np.float64) + (fn + tp > 0)
    return _ratio(_ratio(tn, tn + fp) + _ratio(tp, fn + tp), present)


def _f1(_: FloatArray, fp: FloatArray, fn: FloatArray, tp: FloatArray) -> FloatArray:
    return _ratio(2.0 * tp, 2.0 * tp + fp + fn)


def _jaccard(_: FloatArray, fp: FloatArray, fn: FloatArray, tp: FloatArray) -> FloatArray:
    return _ratio(tp, tp + fp + fn)


def _matthews(tn: FloatArray, fp: FloatArray, fn: FloatArray, tp: FloatArray) -> FloatArray:
    product = np.sqrt((tp + fp) * (tp + fn)) * np.sqrt((tn + fp) * (tn + fn))
    return _ratio(tp * tn - fp * fn, product)


METRICS: dict[str, Counts] = {
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced,
    "f1": _f1,
    "jaccard": _jaccard,
    "matthews_corrcoef": _matthews,
}


def thresholds_between(probabilities: FloatArray) -> FloatArray:
    """Return one threshold for every way to cut the rows in two, in rising order."""
    values = np.unique(probabilities)
    below = np.concatenate([[0.0], values])
    above = np.concatenate([values, [max(1.0, np.nextafter(values[-1], 2.0))]])
    middle = 0.5 * (below + above)
    # The middle of neighbouring floats may be the lower one, which must stay below.
    middle = np.where(middle > below, middle, above)
    return np.where((below < 0.5) & (above >= 0.5), 0.5, middle)


def best_threshold(
    probabilities: FloatArray,
    y: IntArray,
    metric: str | Counts = "balanced_accuracy",
    sample_weight: FloatArray | None = None,
) -> tuple[float, float]:
    """Return the threshold with the greatest value of a metric, and that value.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples,)
        Of the second class, best by models that had not seen the rows.
    y : ndarray of int of shape (n_samples,)
        0 or 1.
    metric : str or callable, default="balanced_accuracy"
        "accuracy", "balanced_accuracy", "f1", "jaccard", "matthews_corrcoef", or a function of
        the arrays (true negatives, false positives, false negatives, true positives), one
        entry a threshold, that returns what is to be maximised.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.

    Returns
    -------
    threshold, value : float
        The second class is to be predicted from the threshold on. Of equally good ones the
        one nearest to 0.5. The value is that of the best of many on the same rows, so it
        flatters; judge a threshold on rows that did not choose it.

    Notes
    -----
    All thresholds at once from cumulated counts, O(n_samples * log n_samples).

    See Also
    --------
    foldwise.StackingClassifier : Finds its ``threshold`` so, anew inside every judged fold.

    Examples
    --------
    A missed positive that costs five false alarms:

    >>> import numpy as np
    >>> p = np.array([0.1, 0.2, 0.3, 0.4, 0.9])
    >>> y = np.array([0, 1, 0, 1, 1])
    >>> best_threshold(p, y, lambda tn, fp, fn, tp: -(5 * fn + fp))
    (0.15..., -1.0)
    """
    if isinstance(metric, str):
        check_word("best_threshold", "metric", metric, METRICS, also="a function of four counts")
        metric = METRICS[metric]
    weight = row_weights(len(y), sample_weight)
    values, place = np.unique(probabilities, return_inverse=True)
    negative = np.bincount(place, weights=weight * (y == 0), minlength=len(values))
    positive = np.bincount(place, weights=weight * (y == 1), minlength=len(values))
    tn = np.concatenate([[0.0], np.cumsum(negative)])
    fn = np.concatenate([[0.0], np.cumsum(positive)])
    found = np.asarray(metric(tn, tn[-1] - tn, fn, fn[-1] - fn), dtype=np.float64)
    return pick_threshold(thresholds_between(probabilities), found)


def pick_threshold(thresholds: FloatArray, values: FloatArray) -> tuple[float, float]:
    """Return the threshold with the greatest value, nearest to 0.5 among equals."""
    values = np.where(np.isnan(values), -np.inf, values)
    top = values.max()
    good = np.flatnonzero(values >= top - 1e-12 * max(1.0, abs(top) if np.isfinite(top) else 1.0))
    best = good[np.argmin(np.abs(thresholds[good] - 0.5))]
    return float(thresholds[best]), float(values[best])
