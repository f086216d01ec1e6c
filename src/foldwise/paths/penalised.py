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

    lambdas: FloatArray | None
    n_lambdas: int
    lambda_min_ratio: float
    max_nonzero: int | None
    tol: float

    @classmethod
    def checked(
        cls,
        lambdas: Any,
        n_lambdas: int,
        lambda_min_ratio: float,
        max_nonzero: int | None,
        tol: float,
    ) -> "Grid":
        """Return the grid, its lambdas sorted from the largest, or say what is wrong with it."""
        if lambdas is not None:
            lambdas = np.sort(np.asarray(lambdas, dtype=float).ravel())[::-1]
            if not len(lambdas) or not (lambdas > 0).all():
                must, got = "be numbers above zero", lambdas
                fix = "Leave them out to have a grid made."
                raise invalid_parameter("penalised_path", "lambdas", must=must, got=got, fix=fix)
        else:
            owner, ratio = "penalised_path", lambda_min_ratio
            check_whole(owner, "n_lambdas", n_lambdas, 1, try_=100)
            check_number(owner, "lambda_min_ratio", ratio, above=0, most=1, try_=0.001)
        return cls(lambdas, n_lambdas, lambda_min_ratio, max_nonzero, tol)

    def falling_from(self, largest: float) -> FloatArray:
        """Return the lambdas, made from the largest that matters if none were given."""
        if self.lambdas is not None:
            return self.lambdas
        return largest * np.geomspace(1.0, self.lambda_min_ratio, self.n_lambdas)

    def fixed(self, lambdas: FloatArray) -> "Grid":
        """Return the grid that visits exactly these lambdas."""
        return Grid(lambdas, 0, 0.0, None, self.tol)


def path_of_rows(rows: PathRows, penalty: Penalty, grid: Grid) -> Path:
    """Return the path of some rows."""
    if rows.from_moments():
        return path_of_moments(rows.moments(), penalty, grid)
    # Rows of no weight would divide zero slopes by zero curvatures.
    rows = rows.take(rows.weights > 0) if not rows.weights.all() else rows
    weights = rows.weights / rows.weights.sum()
    D, base = moved_to_zero(rows.D)
    follower = Follower(rows, NewtonSolver(by_column(D), weights, penalty, grid.tol))
    path = follower.follow(grid.falling_from(follower.largest), grid.max_nonzero)
    return replace(path, intercepts=path.intercepts - path.coefs @ base)


def path_of_moments(moments: CentredMoments, penalty: Penalty, grid: Grid) -> Path:
    """Return the squared-error path of some moments."""
    follower = MomentsPath(moments, penalty, grid.tol)
    lambdas = grid.falling_from(follower.largest)
    coefs = follower.follow(lambdas, grid.max_nonzero)
    return Path(lambdas[: len(coefs)], coefs, moments.mean_y - coefs @ moments.mean_d)


class Follower:
    """Follows a path of one or several predictors from the null model down."""

    def __init__(self, rows: PathRows, solver: NewtonSolver) -> None:
        self.rows, self.several = rows, rows.loss == "multinomial"
        self.at: Classes | OnePredictor = (
            Classes(solver, rows.y, rows.offset)
            if self.several
            else OnePredictor(solver, rows.scale, rows.y, rows.offset)
        )
        self._find_null(solver)
        self.penalty = solver.penalty

    @property
    def largest(self) -> float:
        """The smallest lambda at which only free columns are used."""
        return max(self.penalty.largest_lambda(at.gradient) for at in self.at.predictors)

    def follow(self, lambdas: FloatArray, max_nonzero: int | None) -> Path:
        """Return the coefficients at each lambda, ending before they are too many."""
        coefs, intercepts, last = [], [], self.largest
        for lam in lambdas:
            self.at.solve(lam, max(last, lam))
            last = lam
            w = np.array([at.w for at in self.at.predictors])
            if max_nonzero is not None and w.any(axis=0).sum() > max_nonzero:
                break
            coefs.append(w)
            intercepts.append([at.intercept for at in self.at.predictors])
        shape = (len(coefs), len(self.at.predictors), self.rows.D.shape[1])
        W, b = np.array(coefs).reshape(shape), np.array(intercepts).reshape(shape[:2])
        return Path(lambdas[: len(coefs)], *((W, b) if self.several else (W[:, 0], b[:, 0])))

    def _find_null(self, solver: NewtonSolver) -> None:
        """Fit intercept and free columns, and take their loss as the unit of precision."""
        rows, free = self.rows, solver.penalty.free
        unit = float(solver.weights @ np.abs(rows.losses(self.at.eta)))
        tol, solver.gap = solver.gap, (FREE_GAP if free.any() else NULL_GAP) * unit
        self.at.settle(0.0, [free] * len(self.at.predictors))
        losses = rows.losses(self.at.eta) - rows.scale.least(rows.y)
        solver.gap = tol * max(float(solver.weights @ losses), LEAST_NULL * unit)


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
    grid = Grid.checked(lambdas, n_lambdas, lambda_min_ratio, max_nonzero, tol)
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
