"""Where to stop a stagewise path, by rows it was not fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foldwise.arrays import FloatArray
from foldwise.errors import unsupported
from foldwise.paths.cross_validation import CVPath, held_out, judged
from foldwise.paths.gram import CentredMoments
from foldwise.paths.monotone import monotone_path_of_moments
from foldwise.paths.rows import WeightedRows, checked_folds, checked_rows
from foldwise.paths.stagewise import MomentsWalker, RowsWalker, StagewisePath, walk
from foldwise.paths.threads import one_blas_thread


@dataclass(frozen=True)
class CVStagewisePath(CVPath):
    """A stagewise path of all rows with the held-out loss at each point.

    Parameters
    ----------
    lambdas, coefs, intercepts, cv_loss, cv_se, fold_loss
        As in :class:`foldwise.paths.CVPath`; ``lambdas`` are the largest correlations.
    arc_length : ndarray of shape (L,)
        Sum of the absolute changes of all coefficients up to each point.
    """

    arc_length: FloatArray


@dataclass(frozen=True)
class Walk:
    """How to walk: the size and number of steps, and how many points to keep."""

    epsilon: float
    max_steps: int
    n_points: int
    lambda_min_ratio: float

    def over_moments(self, moments: CentredMoments) -> StagewisePath:
        """Return the squared-error path of some moments."""
        if self.epsilon == 0:
            return monotone_path_of_moments(moments, self.lambda_min_ratio, self.max_steps)
        return walk(MomentsWalker(moments, self.epsilon), self.max_steps, self.n_points)

    def over_rows(self, rows: WeightedRows) -> StagewisePath:
        """Return the path of some rows, whatever their loss."""
        return walk(RowsWalker(rows, self.epsilon), self.max_steps, self.n_points)


@one_blas_thread
def cross_validated_stagewise_path(
    D: Any,
    y: Any,
    *,
    fold_of: Any,
    epsilon: float,
    loss: str = "squared",
    sample_weight: Any = None,
    offset: Any = None,
    max_steps: int = 10_000,
    n_points: int = 200,
    lambda_min_ratio: float = 1e-3,
) -> CVStagewisePath:
    """Return a stagewise path with the held-out loss at each point of it.

    Parameters
    ----------
    D, y, loss, sample_weight, offset, max_steps, n_points
        As in :func:`foldwise.paths.stagewise_path`.
    fold_of : array-like of int, shape (n,)
        The fold of each row. Rows with a negative number are never held out.
    epsilon : float
        Size of a step; zero for the limit of ever smaller steps, the monotone lasso, which is
        for squared error only. There ``max_steps`` bounds the corners of the path.
    lambda_min_ratio : float, default=1e-3
        Where the limit path ends; see :func:`foldwise.paths.monotone_lasso_path`.

    Returns
    -------
    CVStagewisePath
        The path of all rows; each point is judged by the fold paths at the same arc length.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> D = rng.normal(size=(60, 5))
    >>> y = D[:, 0] + rng.normal(size=60)
    >>> path = cross_validated_stagewise_path(D, y, fold_of=np.arange(60) % 5, epsilon=0.01)
    >>> int(np.argmax(np.abs(path.coefs[path.index_min])))
    0
    """
    if epsilon == 0 and loss != "squared":
        raise unsupported(
            "cross_validated_stagewise_path",
            "epsilon",
            must=f"be above zero with loss={loss!r}",
            got=epsilon,
            fix="Try 0.01; only squared error has the exact limit.",
        )
    rows = checked_rows(D, y, loss, sample_weight, offset, None)
    folds = checked_folds(fold_of, len(rows.y))
    how = Walk(epsilon, max_steps, n_points, lambda_min_ratio)
    whole, *parts = _walks(rows, folds, how)
    lengths = whole.arc_length
    if epsilon == 0:
        lengths = np.linspace(0.0, lengths[-1], n_points)
    path = judged(whole.at(lengths), [part.at(lengths) for part in parts], rows, folds)
    return CVStagewisePath(**vars(path), arc_length=lengths)


def _walks(rows: WeightedRows, folds: NDArray, how: Walk) -> list[StagewisePath]:
    """Return the path of all rows, then those without each fold."""
    if rows.loss != "squared":
        trains = [rows] + [rows.take(folds != k) for k in held_out(folds)]
        return [how.over_rows(train) for train in trains]
    return [how.over_moments(train) for train in rows.moments_without(folds)]
