"""The adaptive lasso: columns that mattered in a first fit pay less in the second."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foldwise.arrays import FloatArray
from foldwise.engine.executor import one_thread
from foldwise.errors import invalid_parameter
from foldwise.paths.cross_validation import CVPath, held_out, judged, judged_path
from foldwise.paths.path import Path
from foldwise.paths.penalised import Grid, path_of_rows
from foldwise.paths.penalty import Penalty, checked_penalty
from foldwise.paths.rows import PathRows, checked_folds, checked_rows


def adaptive_factors(coefs: FloatArray, power: float = 1.0) -> FloatArray:
    """Return what each column pays in an adaptive lasso.

    Parameters
    ----------
    coefs : ndarray of shape (p,) or (C, p)
        Coefficients of a first fit.
    power : float, default=1.0
        How strongly they count.

    Returns
    -------
    ndarray of shape (p,)
        ``1 / |coefs| ** power``, on average one over the columns used; infinite for the others.
        With several classes the largest coefficient of a column counts.

    References
    ----------
    .. [1] Zou (2006). The adaptive lasso and its oracle properties. JASA 101, 1418-1429.

    Examples
    --------
    >>> import numpy as np
    >>> adaptive_factors(np.array([2.0, 0.0, 1.0]))
    array([0.66666667,        inf, 1.33333333])
    """
    size = np.abs(coefs).reshape(-1, coefs.shape[-1]).max(axis=0)
    used = size > 0
    factors = np.full(len(size), np.inf)
    if used.any():
        paid = size[used] ** -power
        factors[used] = paid / paid.mean()
    return factors


@one_thread("blas")
def cross_validated_adaptive_path(
    D: Any,
    y: Any,
    *,
    loss: str = "squared",
    fold_of: Any,
    power: float = 1.0,
    sample_weight: Any = None,
    offset: Any = None,
    n_lambdas: int = 100,
    lambda_min_ratio: float = 1e-3,
    non_negative: bool = False,
    max_nonzero: int | None = None,
    tol: float = 1e-4,
    huber_delta: float | None = None,
) -> CVPath:
    """Return the path of an adaptive lasso with the held-out loss of each penalty.

    The first fit is a lasso with cross-validated penalty. Inside the folds it is repeated on
    the training rows, choosing its penalty by the remaining folds, so that the held-out loss
    judges the whole procedure.

    Parameters
    ----------
    D, y, loss, sample_weight, offset, n_lambdas, lambda_min_ratio, non_negative, max_nonzero, \
tol, huber_delta
        As in :func:`foldwise.paths.cross_validated_path`.
    fold_of : array-like of int, shape (n,)
        The fold of each row, at least three folds.
    power : float, default=1.0
        How strongly the first fit counts.

    Returns
    -------
    CVPath
        The judged path.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> D = rng.normal(size=(90, 5))
    >>> y = 3 * D[:, 0] + rng.normal(size=90)
    >>> path = cross_validated_adaptive_path(D, y, fold_of=np.arange(90) % 3)
    >>> np.flatnonzero(path.coefs[path.index_1se])
    array([0])
    """
    rows = checked_rows(D, y, loss, sample_weight, offset, huber_delta)
    folds = checked_folds(fold_of, len(rows.y))
    if len(held_out(folds)) < 3:
        owner, must = "cross_validated_adaptive_path", "name at least three folds"
        got, fix = list(held_out(folds)), "Inside a fold the first fit is chosen by the others."
        raise invalid_parameter(owner, "fold_of", must=must, got=got, fix=fix)
    first = Grid(None, n_lambdas, lambda_min_ratio, tol=tol).checked()
    second = replace(first, max_nonzero=max_nonzero)
    whole = _two_steps(rows, folds, power, non_negative, first, second)
    fixed = second.fixed(whole.lambdas)
    parts = [
        _two_steps(rows.take(folds != k), folds[folds != k], power, non_negative, first, fixed)
        for k in held_out(folds)
    ]
    return judged(whole, parts, rows, folds)


def _two_steps(
    rows: PathRows, folds: NDArray, power: float, non_negative: bool, first: Grid, second: Grid
) -> Path:
    n_columns = rows.D.shape[1]
    plain = judged_path(rows, Penalty.uniform(1.0, n_columns, non_negative), folds, first)
    factors = adaptive_factors(plain.coefs[plain.index_min], power)
    return path_of_rows(rows, checked_penalty(1.0, factors, non_negative, n_columns), second)
