"""The path of all rows, and the loss of each of its penalties on rows not used to fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.paths.follow import Grid, path_of_moments, path_of_rows
from foldwise.paths.gram import Gram, fold_grams, iterate_fold_grams
from foldwise.paths.path import Path
from foldwise.paths.penalty import Penalty
from foldwise.paths.rows import Rows, checked_folds, checked_penalty, checked_rows
from foldwise.paths.threads import one_blas_thread

# Moments of all folds are kept while they fit into this many bytes; else they are made twice.
KEPT_BYTES = 5e8


@dataclass(frozen=True)
class CVPath(Path):
    """A path of all rows with the held-out loss of each penalty.

    Parameters
    ----------
    lambdas, coefs, intercepts
        As in :class:`Path`.
    cv_loss : ndarray of shape (L,)
        Mean held-out loss per row, weighted.
    cv_se : ndarray of shape (L,)
        Its standard error, from the spread between folds.
    fold_loss : ndarray of shape (K, L)
        Mean held-out loss of each fold.
    """

    cv_loss: FloatArray
    cv_se: FloatArray
    fold_loss: FloatArray

    @property
    def index_min(self) -> int:
        """Where the held-out loss is least; the larger penalty on ties."""
        return int(np.argmin(self.cv_loss))

    @property
    def index_1se(self) -> int:
        """The largest penalty whose held-out loss is within one standard error of the least."""
        best = self.index_min
        return int(np.flatnonzero(self.cv_loss <= self.cv_loss[best] + self.cv_se[best])[0])

    def index(self, rule: str) -> int:
        """Return the position chosen by ``rule``, "min" or "1se"."""
        return self.index_min if rule == "min" else self.index_1se


@one_blas_thread
def cross_validated_path(
    D: Any,
    y: Any,
    *,
    loss: str = "squared",
    fold_of: Any,
    sample_weight: Any = None,
    offset: Any = None,
    l1_ratio: float = 1.0,
    lambdas: Any = None,
    n_lambdas: int = 100,
    lambda_min_ratio: float = 1e-3,
    non_negative: bool = False,
    penalty_factor: Any = None,
    max_nonzero: int | None = None,
    tol: float = 1e-4,
    huber_delta: float | None = None,
) -> CVPath:
    """Return the elastic-net path of a dictionary with the held-out loss of each penalty.

    Parameters
    ----------
    D, y, loss, sample_weight, offset, l1_ratio, lambdas, n_lambdas, lambda_min_ratio, \
non_negative, penalty_factor, max_nonzero, tol, huber_delta
        As in :func:`foldwise.paths.penalised_path`.
    fold_of : array-like of int, shape (n,)
        The fold of each row. Rows with a negative number are never held out.

    Returns
    -------
    CVPath
        The path of all rows with ``cv_loss``, ``cv_se``, ``index_min`` and ``index_1se``.

    Notes
    -----
    With squared error the second moments are computed once, fold by fold, O(n p^2) in all; each
    training set's moments are the total minus one fold's.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> D = rng.normal(size=(60, 5))
    >>> y = D[:, 0] + rng.normal(size=60)
    >>> path = cross_validated_path(D, y, fold_of=np.arange(60) % 5)
    >>> np.flatnonzero(path.coefs[path.index_1se])
    array([0])
    """
    rows = checked_rows(D, y, loss, sample_weight, offset, huber_delta)
    penalty = checked_penalty(l1_ratio, penalty_factor, non_negative, rows.D.shape[1])
    folds = checked_folds(fold_of, len(rows.y))
    grid = Grid.checked(lambdas, n_lambdas, lambda_min_ratio, max_nonzero, tol)
    return judged_path(rows, penalty, folds, grid)


def judged_path(rows: Rows, penalty: Penalty, folds: IntArray, grid: Grid) -> CVPath:
    """Return the path of some rows and the loss of each fold under the path of the others."""
    if rows.from_moments():
        whole, parts = _moments_paths(rows, penalty, folds, grid)
    else:
        whole = path_of_rows(rows, penalty, grid)
        grid = grid.fixed(whole.lambdas)
        parts = [path_of_rows(rows.take(folds != k), penalty, grid) for k in held_out(folds)]
    return judged(whole, parts, rows, folds)


def _moments_paths(
    rows: Rows, penalty: Penalty, folds: IntArray, grid: Grid
) -> tuple[Path, list[Path]]:
    y, names = rows.y - rows.offset, np.unique(folds)
    if len(names) * rows.D.shape[1] ** 2 * 8 <= KEPT_BYTES:
        grams = fold_grams(rows.D, y, folds, rows.weights)
        total = reduce(add, grams)
        parts: Iterable[Gram] = grams
    else:
        (total,) = fold_grams(rows.D, y, np.zeros(len(y), dtype=int), rows.weights)
        parts = iterate_fold_grams(rows.D, y, folds, rows.weights)
    whole = path_of_moments(total.centred(), penalty, grid)
    grid = grid.fixed(whole.lambdas)
    paths = [
        path_of_moments((total - part).centred(), penalty, grid)
        for k, part in zip(names, parts, strict=True)
        if k >= 0
    ]
    return whole, paths


def held_out(folds: IntArray) -> IntArray:
    """Return the numbers of the folds that are held out in turn."""
    names = np.unique(folds)
    return names[names >= 0]


def judged(whole: Path, parts: list[Path], rows: Rows, folds: IntArray) -> CVPath:
    """Return the path of all rows with the loss of each fold under the path without it."""
    groups = [rows.take(folds == k) for k in held_out(folds)]
    fold_loss = np.array([_mean_loss(*pair) for pair in zip(groups, parts, strict=True)])
    share = np.array([group.weights.sum() for group in groups])
    share /= share.sum()
    mean = share @ fold_loss
    spread = share @ (fold_loss - mean) ** 2
    se = np.sqrt(spread / max(len(share) - 1, 1))
    return CVPath(whole.lambdas, whole.coefs, whole.intercepts, mean, se, fold_loss)


def _mean_loss(rows: Rows, path: Path) -> FloatArray:
    losses = rows.losses(path.predictor(rows.D, rows.offset))
    return np.asarray(losses @ rows.weights / rows.weights.sum())
