"""Criteria that weigh the residual sum of squares of a model against its size."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.subset.moments import PERFECT

Score = Callable[[FloatArray, IntArray], FloatArray]


@dataclass(frozen=True)
class TargetSummary:
    """What the criteria know about the data."""

    n_rows: float  # number of rows, or the sum of their weights
    total: float  # sum of squares of y, about its mean when there is an intercept
    intercept: int = 1  # 1 when all models have an intercept, else 0
    # residual variance of the model with all columns; NaN when it has no rows to spare
    noise: float = float("nan")


def log_likelihood(rss: FloatArray, sample: TargetSummary) -> FloatArray:
    """Return the Gaussian log-likelihood at its maximum."""
    rss = np.maximum(rss, PERFECT * sample.total)
    return -0.5 * sample.n_rows * (np.log(2 * np.pi * rss / sample.n_rows) + 1)


def information(kind: str, sample: TargetSummary, rss: FloatArray, size: IntArray) -> FloatArray:
    """Return AIC, AICc or BIC.

    The residual variance counts as a parameter, so the numbers are those of R's ``AIC`` and
    ``BIC``. Sizes that leave no row to spare score infinity.
    """
    n, k = sample.n_rows, np.asarray(size) + sample.intercept + 1
    spare = n - k - 1 if kind == "aicc" else n - k + 1
    penalty = {
        "aic": 2.0 * k,
        "aicc": 2.0 * k * n / np.where(spare > 0, spare, 1.0),
        "bic": np.log(n) * k,
    }[kind]
    return np.where(spare > 0, penalty - 2 * log_likelihood(rss, sample), np.inf)


def mallows_cp(sample: TargetSummary, rss: FloatArray, size: IntArray) -> FloatArray:
    """Return Mallows' Cp, with the noise taken from the model with all columns."""
    k = np.asarray(size) + sample.intercept
    return rss / sample.noise - sample.n_rows + 2.0 * k


def minus_adjusted_r2(sample: TargetSummary, rss: FloatArray, size: IntArray) -> FloatArray:
    """Return minus the adjusted R², so that less is better."""
    spare = sample.n_rows - np.asarray(size) - sample.intercept
    ratio = (rss / np.where(spare > 0, spare, 1)) / sample.total
    return np.where(spare > 0, ratio * (sample.n_rows - sample.intercept) - 1, np.inf)


def criterion(name: str, sample: TargetSummary) -> Score:
    """Return the criterion of that name, a function of rss and size; lower is better."""
    others = {"cp": mallows_cp, "adjusted_r2": minus_adjusted_r2}
    return partial(others[name] if name in others else partial(information, name), sample)


def largest_rss(score: Score, sizes: IntArray, bound: float, total: float) -> FloatArray:
    """Return, for each size, the largest residual sum of squares that scores at most ``bound``."""
    low = np.full(len(sizes), np.log(PERFECT * total) - 1)
    high = np.full(len(sizes), np.log(total) + 1e-6)
    impossible = score(np.exp(low), sizes) > bound
    for _ in range(52):
        middle = (low + high) / 2
        good = score(np.exp(middle), sizes) <= bound
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    return np.where(impossible, 0.0, np.exp(high))
