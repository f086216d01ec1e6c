"""The path of all rows, and the loss of each of its penalties on rows not used to fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foldwise.paths.gram import fold_grams, iterate_fold_grams
from foldwise.paths.path import (
    Path,
    Rows,
    checked_penalty,
    checked_rows,
    path_of_moments,
    rows_path,
)
from foldwise.paths.penalty import Penalty

FloatArray = NDArray[np.float64]

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
    folds = np.asarray(fold_of)
    grid = None if lambdas is None else np.sort(np.asarray(lambdas, dtype=float))[::-1]
    if rows.from_moments():
        settings = (grid, n_lambdas, lambda_min_ratio, max_nonzero, tol)
        return _from_moments(rows, penalty, folds, *settings)
    whole = rows_path(rows, penalty, grid, n_lambdas, lambda_min_ratio, max_nonzero, tol)
    held_out = []
    for fold in _held_out_folds(folds):
        train = rows.take(folds != fold)
        path = rows_path(train, penalty, whole.lambdas, 0, 0.0, None, tol)
        held_out.append(_mean_loss(rows.take(folds == fold), path))
    return _judged(whole, np.array(held_out), _fold_weights(rows, folds))


def _from_moments(
    rows: Rows,
    penalty: Penalty,
    folds: NDArray,
    lambdas: FloatArray | None,
    n_lambdas: int,
    lambda_min_ratio: float,
    max_nonzero: int | None,
    tol: float,
) -> CVPath:
    y = rows.y - rows.offset
    names = np.unique(folds)
    kept = len(names) * rows.D.shape[1] ** 2 * 8 <= KEPT_BYTES
    if kept:
        grams = fold_grams(rows.D, y, folds, rows.weights)
        total = grams[0]
        for each in grams[1:]:
            total = total + each
    else:
        (total,) = fold_grams(rows.D, y, np.zeros(len(y), dtype=int), rows.weights)
    whole = path_of_moments(
        total.centred(), penalty, lambdas, n_lambdas, lambda_min_ratio, max_nonzero, tol
    )
    held_out = []
    parts = grams if kept else iterate_fold_grams(rows.D, y, folds, rows.weights)
    for fold, part in zip(names, parts, strict=True):
        if fold >= 0:
            train = (total - part).centred()
            path = path_of_moments(train, penalty, whole.lambdas, 0, 0.0, None, tol)
            held_out.append(_mean_loss(rows.take(folds == fold), path))
    return _judged(whole, np.array(held_out), _fold_weights(rows, folds))


def _held_out_folds(folds: NDArray) -> NDArray:
    names = np.unique(folds)
    return names[names >= 0]


def _fold_weights(rows: Rows, folds: NDArray) -> FloatArray:
    return np.array([rows.weights[folds == fold].sum() for fold in _held_out_folds(folds)])


def _mean_loss(rows: Rows, path: Path) -> FloatArray:
    losses = rows.losses(path.predictor(rows.D, rows.offset))
    return np.asarray(losses @ rows.weights / rows.weights.sum())


def _judged(path: Path, fold_loss: FloatArray, weights: FloatArray) -> CVPath:
    share = weights / weights.sum()
    mean = share @ fold_loss
    spread = share @ (fold_loss - mean) ** 2
    se = np.sqrt(spread / max(len(weights) - 1, 1))
    return CVPath(path.lambdas, path.coefs, path.intercepts, mean, se, fold_loss)
