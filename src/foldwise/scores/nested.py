"""How much wider than rows alone say an interval must be, since errors of folds are correlated.

Bates, Hastie & Tibshirani compare the error of a fold with the errors of the other folds by models
that never saw it: how far these differ, beyond the noise of the rows, is the error of
cross-validation itself. The models without two folds are what that takes.
"""

from dataclasses import dataclass

import numpy as np

from foldwise.arrays import FloatArray, IntArray

# By simulation (benchmarks/coverage.py): one deal gives a noisy ratio, and what is cut off below
# one would make it too large on average.
SHRINKAGE = 1.0


@dataclass(frozen=True)
class FoldLosses:
    """Mean losses of learners, fold by fold, and their covariances by rows (or clusters)."""

    own: FloatArray  # (n_folds, n_learners): on fold i, by the models without i
    smaller: FloatArray  # (n_folds, n_folds, n_learners): [i, j] on fold j, by those without i, j
    weight: FloatArray  # (n_folds,): of the folds' rows
    covariance: FloatArray  # (n_folds, n_learners, n_learners): of the means in ``own``
    overall: FloatArray  # (n_learners, n_learners): of the mean over all rows

    def ratio(self, combination: FloatArray) -> float:
        """Return the nested variance of a combination of losses over the naive one.

        NaN where the naive variance is nothing: the losses are the same.
        """
        n_folds = len(self.own)
        naive = float(combination @ self.overall @ combination)
        if naive <= np.finfo(np.float64).eps * float(np.trace(self.overall)):
            return float("nan")
        away = []
        for i in range(n_folds):
            others = [j for j in range(n_folds) if j != i]
            elsewhere = np.average(self.smaller[i, others], axis=0, weights=self.weight[others])
            gap = float((elsewhere - self.own[i]) @ combination)
            away.append(gap**2 - float(combination @ self.covariance[i] @ combination))
        return (n_folds - 1) / n_folds * float(np.mean(away)) / naive


def fold_losses(
    losses: FloatArray,
    smaller: FloatArray,
    fold: IntArray,
    weight: FloatArray | None = None,
    unit: IntArray | None = None,
) -> FoldLosses:
    """Return what ratios are made of, from row losses.

    Shapes: ``losses`` (n_rows, n_learners) by the models without the row's fold; ``smaller``
    (n_folds, n_folds, n_learners) mean losses as in :class:`FoldLosses`; ``fold`` numbers 0 to
    n_folds - 1.
    """
    weight = np.ones(len(losses)) if weight is None else weight
    n_folds, n_learners = len(smaller), losses.shape[1]
    own, share = np.empty((n_folds, n_learners)), np.empty(n_folds)
    covariance = np.empty((n_folds, n_learners, n_learners))
    for i in range(n_folds):
        rows = np.flatnonzero(fold == i)
        share[i] = weight[rows].sum()
        units = None if unit is None else unit[rows]
        own[i], covariance[i] = mean_and_covariance(losses[rows], weight[rows], units)
    _, overall = mean_and_covariance(losses, weight, unit)
    return FoldLosses(own, smaller, share, covariance, overall)


def mean_and_covariance(
    losses: FloatArray, weight: FloatArray, unit: IntArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return the weighted mean of each column and the covariance of these means.

    Examples
    --------
    >>> import numpy as np
    >>> mean, covariance = mean_and_covariance(np.array([[1.0], [3.0]]), np.ones(2), None)
    >>> float(mean[0]), float(covariance[0, 0])
    (2.0, 1.0)
    """
    share = weight / weight.sum() if weight.any() else np.full(len(weight), 1 / len(weight))
    mean = share @ losses
    parts = share[:, None] * (losses - mean)
    if unit is not None:
        _, unit = np.unique(unit, return_inverse=True)
        gathered = np.zeros((int(unit.max()) + 1, parts.shape[1]))
        np.add.at(gathered, unit, parts)
        parts = gathered
    n = len(parts)
    return mean, parts.T @ parts * n / max(n - 1, 1)


def pooled_ratios(found: FoldLosses, shares: FloatArray) -> tuple[float, float]:
    """Return the ratio of the learners' losses, pooled by their shares, and of their differences.

    One where nothing can be said.
    """
    n = len(shares)
    units = np.eye(n)
    single = np.array([found.ratio(units[m]) for m in range(n)])
    pairs = [(m, k) for m in range(n) for k in range(m + 1, n)]
    apart = np.array([found.ratio(units[m] - units[k]) for m, k in pairs])
    return _pooled(single, shares), _pooled(apart, np.ones(len(pairs)))


def _pooled(ratios: FloatArray, weights: FloatArray) -> float:
    known = np.isfinite(ratios)
    if not known.any():
        return 1.0
    weights = weights[known] if weights[known].any() else np.ones(int(known.sum()))
    return float(np.average(ratios[known], weights=weights))


def inflation(ratios: list[float], n_folds: int) -> float:
    """Return by what to multiply a standard error, from the ratios of the repeats.

    Examples
    --------
    >>> inflation([0.3], 5), inflation([1.5, 3.0], 5), inflation([100.0], 4)
    (1.0, 1.5, 2.0)
    """
    shrunk = 1.0 + SHRINKAGE * (float(np.mean(ratios)) - 1.0)
    return float(np.sqrt(np.clip(shrunk, 1.0, n_folds)))
