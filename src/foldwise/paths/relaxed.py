"""The relaxed lasso: the columns a path chose, with less shrinkage or none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foldwise.arrays import BoolArray, FloatArray
from foldwise.engine.executor import one_thread
from foldwise.errors import invalid_parameter
from foldwise.paths.cross_validation import CVPath, held_out, judged
from foldwise.paths.gram import CentredMoments
from foldwise.paths.path import Path
from foldwise.paths.penalised import Grid, path_of_rows
from foldwise.paths.penalty import Penalty, checked_penalty
from foldwise.paths.quadratic import ridge
from foldwise.paths.rows import PathRows, checked_folds, checked_rows

# Columns that separate classes have no finite refit; this much ridge ends the journey there.
LEAST_RIDGE = 1e-7


@dataclass(frozen=True)
class RelaxedCVPath:
    """One judged path for each share of shrinkage.

    Parameters
    ----------
    gammas : ndarray of shape (G,)
        Shares of the lasso's coefficients; the rest is the refit without a penalty.
    paths : tuple of CVPath
        The path of each share.
    """

    gammas: FloatArray
    paths: tuple[CVPath, ...]

    @property
    def best(self) -> int:
        """Which share has the least held-out loss; the larger one on ties."""
        least = np.array([path.cv_loss.min() for path in self.paths])
        return int(len(least) - 1 - np.argmin(least[::-1]))


@one_thread("blas")
def relaxed_path(
    D: Any,
    y: Any,
    path: Path,
    *,
    loss: str = "squared",
    sample_weight: Any = None,
    offset: Any = None,
    huber_delta: float | None = None,
) -> Path:
    """Return the path refitted without a penalty on the columns each point uses.

    Parameters
    ----------
    D, y
        The dictionary and the target ``path`` was fitted to.
    path : Path
        A path, such as :func:`foldwise.paths.lasso_path` returns.
    loss, sample_weight, offset, huber_delta
        As the path was fitted with.

    Returns
    -------
    Path
        Same penalties, unpenalised coefficients. With several classes a column used by one is
        refitted for all.

    Examples
    --------
    >>> import numpy as np
    >>> from foldwise.paths import lasso_path
    >>> D, y = np.eye(4)[:, :2], np.array([4.0, 1.0, 0.0, 0.0])
    >>> relaxed_path(D, y, lasso_path(D, y, lambdas=[0.5])).coefs.round(3)
    array([[3.667, 0.   ]])
    """
    return _refitted(checked_rows(D, y, loss, sample_weight, offset, huber_delta), path)


@one_thread("blas")
def cross_validated_relaxed_path(
    D: Any,
    y: Any,
    *,
    loss: str = "squared",
    fold_of: Any,
    gammas: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0),
    sample_weight: Any = None,
    offset: Any = None,
    l1_ratio: float = 1.0,
    lambdas: Any = None,
    n_lambdas: int = 100,
    lambda_min_ratio: float = 1e-3,
    penalty_factor: Any = None,
    max_nonzero: int | None = None,
    tol: float = 1e-4,
    huber_delta: float | None = None,
) -> RelaxedCVPath:
    """Return paths between the lasso and the refit of its columns, each with its held-out loss.

    Parameters
    ----------
    D, y, loss, fold_of, sample_weight, offset, l1_ratio, lambdas, n_lambdas, lambda_min_ratio, \
penalty_factor, max_nonzero, tol, huber_delta
        As in :func:`foldwise.paths.cross_validated_path`.
    gammas : sequence of float, default=(0.0, 0.25, 0.5, 0.75, 1.0)
        Shares of the penalised coefficients, between 0 (refit) and 1 (lasso).

    Returns
    -------
    RelaxedCVPath
        The paths; ``paths[best]`` has the least held-out loss.

    References
    ----------
    .. [1] Meinshausen (2007). Relaxed Lasso. CSDA 52, 374-393.
    .. [2] Hastie, Tibshirani and Tibshirani (2020). Best subset, forward stepwise or lasso?
       Statistical Science 35, 579-592. (The blend.)

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> D = rng.normal(size=(60, 5))
    >>> y = 5 * D[:, 0] + rng.normal(size=60)
    >>> relaxed = cross_validated_relaxed_path(D, y, fold_of=np.arange(60) % 5)
    >>> float(relaxed.gammas[relaxed.best]) < 1
    True
    """
    shares = np.asarray(gammas, dtype=float)
    if not len(shares) or not ((shares >= 0) & (shares <= 1)).all():
        owner, must = "cross_validated_relaxed_path", "lie between 0 (refit) and 1 (lasso)"
        raise invalid_parameter(owner, "gammas", must=must, got=gammas, fix="Try (0.0, 0.5, 1.0).")
    rows = checked_rows(D, y, loss, sample_weight, offset, huber_delta)
    penalty = checked_penalty(l1_ratio, penalty_factor, False, rows.D.shape[1])
    folds = checked_folds(fold_of, len(rows.y))
    grid = Grid(lambdas, n_lambdas, lambda_min_ratio, max_nonzero, tol).checked()
    whole = path_of_rows(rows, penalty, grid)
    pairs = [(whole, _refitted(rows, whole))]
    for k in held_out(folds):
        train = rows.take(folds != k)
        part = path_of_rows(train, penalty, grid.fixed(whole.lambdas))
        pairs.append((part, _refitted(train, part)))
    judgements = []
    for share in shares:
        first, *others = (_blend(*pair, share) for pair in pairs)
        judgements.append(judged(first, others, rows, folds))
    return RelaxedCVPath(shares, tuple(judgements))


def _blend(penalised: Path, refit: Path, share: float) -> Path:
    coefs = share * penalised.coefs + (1.0 - share) * refit.coefs
    intercepts = share * penalised.intercepts + (1.0 - share) * refit.intercepts
    return Path(penalised.lambdas, coefs, intercepts)


def _refitted(rows: PathRows, path: Path) -> Path:
    moments = rows.moments() if rows.from_moments() else None
    coefs, intercepts = np.zeros_like(path.coefs), np.zeros_like(path.intercepts)
    before: BoolArray | None = None
    for i, w in enumerate(path.coefs):
        used = w.reshape(-1, w.shape[-1]).any(axis=0)
        if before is None or (used != before).any():
            refit, before = _refit(rows, moments, used), used
        coefs[i], intercepts[i] = refit
    return Path(path.lambdas, coefs, intercepts)


def _refit(
    rows: PathRows, moments: CentredMoments | None, used: BoolArray
) -> tuple[FloatArray, FloatArray]:
    if moments is None:
        penalty = Penalty(0.0, np.ones(len(used)), used, False)
        path = path_of_rows(rows, penalty, Grid(np.array([LEAST_RIDGE]), tol=1e-8))
        return path.coefs[0], path.intercepts[0]
    w = np.zeros(len(used))
    if used.any():
        Q = moments.Q[np.ix_(used, used)]
        w[used] = ridge(Q, moments.q[used], np.zeros(len(Q)))
    return w, np.asarray(moments.mean_y - moments.mean_d @ w)
