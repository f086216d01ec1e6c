"""Prediction intervals and sets by CV+, from the hold-out stacks."""

from collections.abc import Sequence

import numpy as np

from foldwise.arrays import Array, BoolArray, FloatArray

BISECTIONS = 60
Weights = Sequence[FloatArray] | None


def votes(weights: Weights, groups: Sequence[Array] | None = None) -> list[FloatArray] | None:
    """Return for how many rows each judged row stands, fold by fold; None for one each.

    A row counts as many times as it weighs, a new row once; weights whose sum is smaller than
    their number are no counts, and are brought to a mean of one. With groups, which are whole in
    a fold, a group counts once, as the group of a new row does [1]_.

    References
    ----------
    .. [1] Lee, Barber, Willett (2023). Distribution-free inference with hierarchical data.
    """
    if groups is not None:
        each = weights or [np.ones(len(own)) for own in groups]
        return [_shares(own, of) for own, of in zip(each, groups, strict=True)]
    if weights is None:
        return None
    total, n = sum(own.sum() for own in weights), sum(len(own) for own in weights)
    return [own * max(1.0, n / total) for own in weights] if total else list(weights)


def _shares(weight: FloatArray, group: Array) -> FloatArray:
    """Return each row's share in its group."""
    _, code = np.unique(group, return_inverse=True)
    return weight / np.bincount(code, weights=weight)[code]


def cv_plus_interval(
    centres: FloatArray,
    residuals: Sequence[FloatArray],
    coverage: float,
    weights: Weights = None,
    scales: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of CV+ intervals.

    With n residuals, the upper end is the ceil((1 - alpha)(n + 1))-th smallest of all
    ``centre + scale * residual``, centre and scale those of the residual's fold. It is found by
    bisection on its count, which needs memory for the new rows only:
    O(n_folds * n_samples * log n) a step.

    Shapes: ``centres`` and ``scales`` (n_folds, n_samples).

    References
    ----------
    .. [1] Barber, Candès, Ramdas, Tibshirani (2021). Predictive inference with the
       jackknife+. Annals of Statistics 49.
    """
    scales = np.ones_like(centres) if scales is None else scales
    each, counts, rank = _counts(residuals, weights, coverage)
    lower = -_upper(-centres, scales, each, counts, rank)
    return lower, _upper(centres, scales, each, counts, rank)


def _counts(
    misfits: Sequence[FloatArray], weights: Weights, coverage: float
) -> tuple[list[FloatArray], list[FloatArray], float]:
    """Return sorted misfits, for how many rows the first ones stand, and how many to hold."""
    orders = [np.argsort(own, kind="stable") for own in misfits]
    each = weights or [np.ones(len(own)) for own in misfits]
    counts = [np.r_[0.0, np.cumsum(own[o])] for own, o in zip(each, orders, strict=True)]
    rank = coverage * (sum(own[-1] for own in counts) + 1) - 1e-9
    return [own[order] for own, order in zip(misfits, orders, strict=True)], counts, rank


def _upper(
    centres: FloatArray,
    scales: FloatArray,
    residuals: Sequence[FloatArray],
    counts: Sequence[FloatArray],
    rank: float,
) -> FloatArray:
    if rank > sum(own[-1] for own in counts):
        return np.full(centres.shape[1], np.inf)
    folds = [f for f in zip(centres, scales, residuals, counts, strict=True) if len(f[2])]
    low = np.min([centre + scale * own[0] for centre, scale, own, _ in folds], axis=0)
    high = np.max([centre + scale * own[-1] for centre, scale, own, _ in folds], axis=0)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        count = np.zeros(centres.shape[1])
        for centre, scale, own, number in folds:
            count += number[np.searchsorted(own, (middle - centre) / scale, side="right")]
        enough = count >= rank
        high, low = np.where(enough, middle, high), np.where(enough, low, middle)
    return high


def quantile_interval(
    centre: FloatArray,
    residuals: Sequence[FloatArray],
    coverage: float,
    weights: Weights = None,
    scale: FloatArray | float = 1.0,
) -> tuple[FloatArray, FloatArray]:
    """Return the deployed prediction plus and minus its scale times a quantile of all residuals."""
    width = scale * _quantile(residuals, coverage, weights)
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
    joined = None if weights is None else [np.concatenate(weights)]
    (every,), (count,), rank = _counts([np.concatenate(misfits)], joined, coverage)
    place = int(np.searchsorted(count[1:], rank))
    return float(every[place]) if place < len(every) else float("inf")


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
    """
    each, counts, rank = _counts(misfits, weights, coverage)
    count = np.zeros(probabilities.shape[1:])
    for given, own, number in zip(probabilities, each, counts, strict=True):
        count += number[np.searchsorted(own, 1.0 - given, side="left")]
    inside: BoolArray = count < rank
    best = probabilities.mean(axis=0).argmax(axis=1)
    inside[np.arange(len(best)), best] = True
    return inside
