"""Prediction intervals and sets by CV+, from the hold-out stacks.

Where rows have weights, a row counts as many times as it weighs, a new row once. Weights whose sum
is smaller than their number are no counts; they are brought to a mean of one.
"""

from collections.abc import Sequence

import numpy as np

from foldwise.arrays import BoolArray, FloatArray

BISECTIONS = 60
Weights = Sequence[FloatArray] | None


def cv_plus_interval(
    centres: FloatArray, residuals: Sequence[FloatArray], coverage: float, weights: Weights = None
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of CV+ intervals.

    With n residuals, the upper end is the ceil((1 - alpha)(n + 1))-th smallest of all
    ``centre of the row's fold + residual``. It is found by bisection on its count, which
    needs memory for the new rows only: O(n_folds * n_samples * log n) a step. The residuals of
    each fold are sorted, and so are their weights.

    Shapes: ``centres`` (n_folds, n_samples).

    References
    ----------
    .. [1] Barber, Candès, Ramdas, Tibshirani (2021). Predictive inference with the
       jackknife+. Annals of Statistics 49.

    Examples
    --------
    >>> import numpy as np
    >>> cv_plus_interval(np.zeros((1, 1)), [np.arange(1.0, 10.0)], 0.8)
    (array([-8.]), array([8.]))
    """
    counts, rank = _counts(residuals, weights, coverage)
    return -_upper(-centres, residuals, counts, rank), _upper(centres, residuals, counts, rank)


def _counts(
    misfits: Sequence[FloatArray], weights: Weights, coverage: float
) -> tuple[list[FloatArray], float]:
    """Return how many rows each fold's first misfits stand for, and how many must be held."""
    each = [np.ones(len(own)) for own in misfits] if weights is None else list(weights)
    total, n = sum(own.sum() for own in each), sum(len(own) for own in each)
    scale = max(1.0, n / total)
    counts = [np.concatenate([[0.0], np.cumsum(scale * own)]) for own in each]
    return counts, coverage * (scale * total + 1) - 1e-9


def _upper(
    centres: FloatArray, residuals: Sequence[FloatArray], counts: Sequence[FloatArray], rank: float
) -> FloatArray:
    if rank > sum(own[-1] for own in counts):
        return np.full(centres.shape[1], np.inf)
    smallest, largest = min(r[0] for r in residuals), max(r[-1] for r in residuals)
    low, high = centres.min(axis=0) + smallest, centres.max(axis=0) + largest
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        count = np.zeros(centres.shape[1])
        for centre, own, number in zip(centres, residuals, counts, strict=True):
            count += number[np.searchsorted(own, middle - centre, side="right")]
        enough = count >= rank
        high, low = np.where(enough, middle, high), np.where(enough, low, middle)
    return high


def quantile_interval(
    centre: FloatArray, residuals: Sequence[FloatArray], coverage: float, weights: Weights = None
) -> tuple[FloatArray, FloatArray]:
    """Return the deployed prediction plus and minus one quantile of all residuals."""
    width = _quantile(residuals, coverage, weights)
    return centre - width, centre + width


def quantile_set(
    probabilities: FloatArray,
    misfits: Sequence[FloatArray],
    coverage: float,
    weights: Weights = None,
) -> BoolArray:
    """Return the classes whose misfit is within one quantile of all hold-out misfits.

    Shapes: ``probabilities`` (n_samples, n_classes), returns (n_samples, n_classes).
    """
    return 1.0 - probabilities <= _quantile(misfits, coverage, weights)


def _quantile(misfits: Sequence[FloatArray], coverage: float, weights: Weights) -> float:
    every = np.concatenate(misfits)
    order = np.argsort(every, kind="stable")
    joined = None if weights is None else [np.concatenate(weights)[order]]
    (count,), rank = _counts([every[order]], joined, coverage)
    place = int(np.searchsorted(count[1:], rank))
    return float(every[order][place]) if place < len(every) else float("inf")


def cv_plus_set(
    probabilities: FloatArray,
    misfits: Sequence[FloatArray],
    coverage: float,
    weights: Weights = None,
) -> BoolArray:
    """Return which classes belong to the CV+ prediction set of each row.

    Shapes: ``probabilities`` (n_folds, n_samples, n_classes), returns (n_samples, n_classes).

    References
    ----------
    .. [1] Romano, Sesia, Candès (2020). Classification with valid and adaptive coverage.

    Examples
    --------
    >>> import numpy as np
    >>> cv_plus_set(np.array([[[0.9, 0.1]]]), [np.linspace(0, 0.5, 9)], 0.8)
    array([[ True, False]])
    """
    counts, rank = _counts(misfits, weights, coverage)
    count = np.zeros(probabilities.shape[1:])
    for given, own, number in zip(probabilities, misfits, counts, strict=True):
        count += number[np.searchsorted(own, 1.0 - given, side="left")]
    inside: BoolArray = count < rank
    best = probabilities.mean(axis=0).argmax(axis=1)
    inside[np.arange(len(best)), best] = True
    return inside
