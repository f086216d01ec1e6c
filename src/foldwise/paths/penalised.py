"""Regularisation paths of a dictionary: one call for every loss and penalty."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from foldwise.arrays import FloatArray
from foldwise.checks import check_number, check_whole
from foldwise.engine.executor import one_thread
from foldwise.errors import invalid_parameter
from foldwise.paths.gram import CentredMoments, moved_to_zero
from foldwise.paths.multinomial import Classes
from foldwise.paths.newton import NewtonSolver, OnePredictor, by_column
from foldwise.paths.path import Path
from foldwise.paths.penalty import Penalty, checked_penalty
from foldwise.paths.rows import PathRows, checked_rows
from foldwise.paths.squared import MomentsPath

# In units of the loss of the zero predictor: how precise the best constant is, whatever is asked
# of the path, and the least loss of it that still serves as a unit.
NULL_GAP = 1e-15
# Free columns may separate classes, where the optimum is at infinity and precision is a journey.
FREE_GAP = 1e-9
LEAST_NULL = 1e-9


@dataclass(frozen=True)
class Grid:
    """Which lambdas a path visits, where it ends, and how precise it is."""

    lambdas: Any = None
    n_lambdas: int = 0
    lambda_min_ratio: float = 0.0
    max_nonzero: int | None = None
    tol: float = 1e-4

    def checked(self) -> "Grid":
        """Return the grid, its lambdas sorted from the largest, or say what is wrong with it."""
        owner, ratio = "penalised_path", self.lambda_min_ratio
        if self.lambdas is None:
            check_whole(owner, "n_lambdas", self.n_lambdas, 1, try_=100)
            check_number(owner, "lambda_min_ratio", ratio, above=0, most=1, try_=0.001)
            return self
        lambdas = np.sort(np.asarray(self.lambdas, dtype=float).ravel())[::-1]
        if not len(lambdas) or not (lambdas > 0).all():
            must, fix = "be numbers above zero", "Leave them out to have a grid made."
            raise invalid_parameter(owner, "lambdas", must=must, got=lambdas, fix=fix)
        return replace(self, lambdas=lambdas)

    def falling_from(self, largest: float) -> FloatArray:
        """Return the lambdas, made from the largest that matters if none were given."""
        if self.lambdas is not None:
            return np.asarray(self.lambdas)
        return largest * np.geomspace(1.0, self.lambda_min_ratio, self.n_lambdas)

    def fixed(self, lambdas: FloatArray) -> "Grid":
        """Return the grid that visits exactly these lambdas."""
        return Grid(lambdas, tol=self.tol)


def path_of_rows(rows: PathRows, penalty: Penalty, grid: Grid) -> Path:
    """Return the path of some rows."""
    if rows.from_moments():
        return path_of_moments(rows.moments(), penalty, grid)
    # Rows of no weight would divide zero slopes by zero curvatures.
    rows = rows.take(rows.weights > 0) if not rows.weights.all() else rows
    weights = rows.weights / rows.weights.sum()
    D, base = moved_to_zero(rows.D)
    at = _null_model(rows, NewtonSolver(by_column(D), weights, penalty, grid.tol))
    last = max(penalty.largest_lambda(each.gradient) for each in at.predictors)
    lambdas, coefs, intercepts = grid.falling_from(last), [], []
    for lam in lambdas:
        at.solve(lam, max(last, lam))
        last = lam
        w = np.array([each.w for each in at.predictors])
        if grid.max_nonzero is not None and w.any(axis=0).sum() > grid.max_nonzero:
            break
        coefs.append(w)
        intercepts.append([each.intercept for each in at.predictors])
    shape = (len(coefs), len(at.predictors), D.shape[1])
    W, b = np.array(coefs).reshape(shape), np.array(intercepts).reshape(shape[:2])
    if rows.loss != "multinomial":
        W, b = W[:, 0], b[:, 0]
    return Path(lambdas[: len(coefs)], W, b - W @ base)


def _null_model(rows: PathRows, solver: NewtonSolver) -> Classes | OnePredictor:
    """Fit intercept and free columns alone, and take their loss as the unit of precision."""
    at: Classes | OnePredictor = (
        Classes(solver, rows.y, rows.offset)
        if rows.loss == "multinomial"
        else OnePredictor(solver, rows.scale, rows.y[None], rows.offset[None])
    )
    free = solver.penalty.free
    unit = float(solver.weights @ np.abs(rows.losses(at.eta)))
    tol, solver.gap = solver.gap, (FREE_GAP if free.any() else NULL_GAP) * unit
    at.settle(0.0, [free] * len(at.predictors))
    losses = rows.losses(at.eta) - rows.scale.least(rows.y)
    solver.gap = tol * max(float(solver.weights @ losses), LEAST_NULL * unit)
    return at


def path_of_moments(moments: CentredMoments, penalty: Penalty, grid: Grid) -> Path:
    """Return the squared-error path of some moments."""
    follower = MomentsPath(moments, penalty, grid.tol)
    lambdas = grid.falling_from(follower.largest)
    coefs = follower.follow(lambdas, grid.max_nonzero)
    return Path(lambdas[: len(coefs)], coefs, moments.mean_y - coefs @ moments.mean_d)


@one_thread("blas")
def penalised_path(
    D: Any,
    y: Any,
    *,
    loss: str = "squared",
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
) -> Path:
    """Return the elastic-net path of a dictionary.

    Minimises ``sum(w_i loss_i) / sum(w_i) + lambda * sum_j factor_j (l1_ratio |a_j| +
    (1 - l1_ratio) / 2 a_j^2)`` over coefficients and a free intercept, at each lambda.

    Parameters
    ----------
    D : ndarray or scipy sparse of shape (n, p)
        The dictionary: one column per basis function, not standardised for you.
    y : array-like of shape (n,)
        The target: numbers; 0 and 1 for "logistic"; class codes 0, 1, ... for "multinomial";
        counts for "poisson".
    loss : {"squared", "logistic", "multinomial", "poisson", "huber"}, default="squared"
        Half the squared error, log-loss, log-loss of several classes, ``exp(f) - y f``, or
        Huber's.
    sample_weight : array-like of shape (n,) or None
        Weights of the rows; a row of weight two counts as two rows.
    offset : array-like of shape (n,), or (C, n) for "multinomial", or None
        Added to the linear predictor.
    l1_ratio : float, default=1.0
        One is the lasso, zero is ridge.
    lambdas : array-like or None
        The penalties; sorted from the largest. When None, ``n_lambdas`` values falling
        geometrically from the smallest that sets all coefficients to zero to
        ``lambda_min_ratio`` times that.
    n_lambdas, lambda_min_ratio : int, float
        See ``lambdas``.
    non_negative : bool, default=False
        Allow no negative penalised coefficient.
    penalty_factor : array-like of shape (p,) or None
        What each column pays, in units of lambda; 0 frees a column, infinity leaves it out.
    max_nonzero : int or None
        End the path before it uses more columns than this.
    tol : float, default=1e-4
        Precision of the objective, in units of the loss of the best constant.
    huber_delta : float or None
        Where Huber's loss turns linear; 1.345 robust standard deviations of y when None.

    Returns
    -------
    Path
        ``lambdas``, ``coefs`` and ``intercepts``.

    Examples
    --------
    >>> import numpy as np
    >>> D, y = np.eye(4)[:, :2], np.array([4.0, 1.0, 0.0, 0.0])
    >>> path = penalised_path(D, y, lambdas=[0.5, 0.25])
    >>> path.coefs.round(3)
    array([[1.   , 0.   ],
           [2.333, 0.   ]])
    """
    rows = checked_rows(D, y, loss, sample_weight, offset, huber_delta)
    penalty = checked_penalty(l1_ratio, penalty_factor, non_negative, rows.D.shape[1])
    grid = Grid(lambdas, n_lambdas, lambda_min_ratio, max_nonzero, tol).checked()
    return path_of_rows(rows, penalty, grid)


def lasso_path(D: Any, y: Any, **options: Any) -> Path:
    """Return the lasso path: :func:`penalised_path` with ``l1_ratio=1``.

    Parameters
    ----------
    D, y
        The dictionary and the target.
    **options
        The other arguments of :func:`penalised_path`.

    Returns
    -------
    Path
        The path.

    Examples
    --------
    >>> import numpy as np
    >>> lasso_path(np.eye(4)[:, :2], np.array([4.0, 1.0, 0.0, 0.0]), lambdas=[0.5]).coefs
    array([[1., 0.]])
    """
    return penalised_path(D, y, l1_ratio=1.0, **options)


def ridge_path(D: Any, y: Any, **options: Any) -> Path:
    """Return the ridge path: :func:`penalised_path` with ``l1_ratio=0``.

    Parameters
    ----------
    D, y
        The dictionary and the target.
    **options
        The other arguments of :func:`penalised_path`.

    Returns
    -------
    Path
        The path.

    Examples
    --------
    >>> import numpy as np
    >>> ridge_path(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), lambdas=[1.0]).coefs
    array([[0.5]])
    """
    return penalised_path(D, y, l1_ratio=0.0, **options)


def elastic_net_path(D: Any, y: Any, *, l1_ratio: float = 0.5, **options: Any) -> Path:
    """Return the elastic-net path: :func:`penalised_path` with half of each penalty.

    Parameters
    ----------
    D, y
        The dictionary and the target.
    l1_ratio : float, default=0.5
        The lasso's share of the penalty.
    **options
        The other arguments of :func:`penalised_path`.

    Returns
    -------
    Path
        The path.

    Examples
    --------
    >>> import numpy as np
    >>> elastic_net_path(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), lambdas=[1.0]).coefs
    array([[0.33333333]])
    """
    return penalised_path(D, y, l1_ratio=l1_ratio, **options)
