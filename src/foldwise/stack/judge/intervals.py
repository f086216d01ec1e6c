"""Prediction intervals and sets by CV+, from the hold-out stacks."""

from collections.abc import Sequence

import numpy as np

from foldwise.arrays import BoolArray, FloatArray

BISECTIONS = 60


def cv_plus_interval(
    centres: FloatArray, residuals: Sequence[FloatArray], coverage: float
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of CV+ intervals.

    With n residuals, the upper end is the ceil((1 - alpha)(n + 1))-th smallest of all
    ``centre of the row's fold + residual``. It is found by bisection on its count, which
    needs memory for the new rows only: O(n_folds * n_samples * log n) a step.

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
    return -_upper(-centres, residuals, coverage), _upper(centres, residuals, coverage)


def _upper(centres: FloatArray, residuals: Sequence[FloatArray], coverage: float) -> FloatArray:
    n = sum(len(r) for r in residuals)
    rank = int(np.ceil(coverage * (n + 1) - 1e-9))
    if rank > n:
        return np.full(centres.shape[1], np.inf)
    smallest, largest = min(r[0] for r in residuals), max(r[-1] for r in residuals)
    low, high = centres.min(axis=0) + smallest, centres.max(axis=0) + largest
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        count = np.zeros(centres.shape[1], dtype=np.intp)
        for centre, own in zip(centres, residuals, strict=True):
            count += np.searchsorted(own, middle - centre, side="right")
        enough = count >= rank
        high, low = np.where(enough, middle, high), np.where(enough, low, middle)
    return high


def quantile_interval(
    centre: FloatArray, residuals: Sequence[FloatArray], coverage: float
) -> tuple[FloatArray, FloatArray]:
    """Return the deployed prediction plus and minus one quantile of all residuals."""
    width = _quantile(residuals, coverage)
    return centre - width, centre + width


def quantile_set(
    probabilities: FloatArray, misfits: Sequence[FloatArray], coverage: float
) -> BoolArray:
    """Return the classes whose misfit is within one quantile of all hold-out misfits.

    Shapes: ``probabilities`` (n_samples, n_classes), returns (n_samples, n_classes).
    """
    return 1.0 - probabilities <= _quantile(misfits, coverage)


def _quantile(misfits: Sequence[FloatArray], coverage: float) -> float:
    every = np.sort(np.concatenate(misfits))
    rank = int(np.ceil(coverage * (len(every) + 1) - 1e-9))
    return float(every[rank - 1]) if rank <= len(every) else float("inf")


def cv_plus_set(
    probabilities: FloatArray, misfits: Sequence[FloatArray], coverage: float
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
    n = sum(len(own) for own in misfits)
    count = np.zeros(probabilities.shape[1:], dtype=np.intp)
    for given, own in zip(probabilities, misfits, strict=True):
        count += np.searchsorted(own, 1.0 - given, side="left")
    inside: BoolArray = count < coverage * (n + 1)
    best = probabilities.mean(axis=0).argmax(axis=1)
    inside[np.arange(len(best)), best] = True
    return inside
