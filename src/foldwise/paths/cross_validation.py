"""The path of all rows, and the loss of each of its penalties on rows not used to fit."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.engine.executor import one_thread
from foldwise.paths.path import Path
from foldwise.paths.penalised import Grid, path_of_moments, path_of_rows
from foldwise.paths.penalty import Penalty, checked_penalty
from foldwise.paths.rows import PathRows, checked_folds, checked_rows


@dataclass(frozen=True)
class CVPath(Path):
    """A path of all rows with the held-out loss of each penalty.

    Parameters
    ----------
    lambdas, coefs, intercepts
        As in :class:`Path`.
    cv_loss : ndarray of shape (L,)
        Mean held-out loss per row, weighted: a curve to choose by. Its lowest point is too good
        to be a score.
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
        return self.index("min")

    @property
    def index_1se(self) -> int:
        """The largest penalty whose held-out loss is within one standard error of the least."""
        return self.index("1se")

    def index(self, rule: str) -> int:
        """Return the position chosen by ``rule``, "min" or "1se"."""
        return chosen_index(self.cv_loss, self.cv_se, rule)


@one_thread("blas")
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
    grid = Grid(lambdas, n_lambdas, lambda_min_ratio, max_nonzero, tol).checked()
    return judged_path(rows, penalty, folds, grid)


def judged_path(rows: PathRows, penalty: Penalty, folds: IntArray, grid: Grid) -> CVPath:
    """Return the path of some rows and the loss of each fold under the path of the others."""
    if rows.from_moments():
        moments = rows.moments_without(folds)
        whole = path_of_moments(next(moments), penalty, grid)
        parts = [path_of_moments(each, penalty, grid.fixed(whole.lambdas)) for each in moments]
    else:
        whole = path_of_rows(rows, penalty, grid)
        fixed = grid.fixed(whole.lambdas)
        parts = [path_of_rows(rows.take(folds != k), penalty, fixed) for k in held_out(folds)]
    return judged(whole, parts, rows, folds)


def held_out(folds: IntArray) -> IntArray:
    """Return the numbers of the folds that are held out in turn."""
    names = np.unique(folds)
    return names[names >= 0]


def judged(whole: Path, parts: list[Path], rows: PathRows, folds: IntArray) -> CVPath:
    """Return the path of all rows with the loss of each fold under the path without it."""
    groups = [rows.take(folds == k) for k in held_out(folds)]
    fold_loss = np.array([_mean_loss(*pair) for pair in zip(groups, parts, strict=True)])
    share = np.array([group.weights.sum() for group in groups])
    mean, se = mean_and_error(fold_loss, share / share.sum())
    return CVPath(whole.lambdas, whole.coefs, whole.intercepts, mean, se, fold_loss)


def mean_and_error(fold_loss: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean loss over the folds and its standard error, from their spread.

    Shapes: ``fold_loss`` (K, ...), ``share`` (K,), which sums to one.
    """
    mean = share @ fold_loss
    spread = share @ (fold_loss - mean) ** 2
    return mean, np.sqrt(spread / max(len(share) - 1, 1))


def chosen_index(loss: FloatArray, error: FloatArray, choose: str) -> int:
    """Return the position of the lowest loss, or of the first within one error of it ("1se")."""
    best = int(np.argmin(loss))
    return best if choose == "min" else int(np.flatnonzero(loss <= loss[best] + error[best])[0])


def _mean_loss(rows: PathRows, path: Path) -> FloatArray:
    losses = rows.losses(path.predictor(rows.D, rows.offset))
    return np.asarray(losses @ rows.weights / rows.weights.sum())
