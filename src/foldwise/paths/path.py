"""Regularisation paths of a dictionary: one call for every loss and penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from foldwise.errors import did_you_mean, invalid_data, invalid_parameter
from foldwise.paths.curvature import Dictionary
from foldwise.paths.gram import Moments, fold_grams
from foldwise.paths.losses import Huber, Logistic, Loss, Poisson, Squared
from foldwise.paths.multinomial import Classes, multinomial_loss
from foldwise.paths.newton import Predictor, Problem
from foldwise.paths.penalty import Penalty, lambda_grid
from foldwise.paths.squared import MomentsPath

FloatArray = NDArray[np.float64]

LOSSES = ("squared", "logistic", "multinomial", "poisson", "huber")
# Huber's constant for 95 % efficiency under normal errors.
HUBER_CONSTANT = 1.345
NORMAL_CONSISTENT = 1.4826


@dataclass(frozen=True)
class Path:
    """Coefficients along falling penalties.

    Parameters
    ----------
    lambdas : ndarray of shape (L,)
        The penalties, largest first.
    coefs : ndarray of shape (L, p) or (L, C, p)
        Coefficients at each penalty; with several classes, of each class.
    intercepts : ndarray of shape (L,) or (L, C)
        Intercepts at each penalty.
    """

    lambdas: FloatArray
    coefs: FloatArray
    intercepts: FloatArray

    def predictor(self, D: Any, offset: FloatArray | float = 0.0) -> FloatArray:
        """Return the linear predictor of the rows of ``D`` at every penalty.

        Parameters
        ----------
        D : ndarray or scipy sparse of shape (n, p)
            A dictionary.
        offset : float or ndarray broadcastable to the result, default=0.0
            Added to every predictor.

        Returns
        -------
        ndarray of shape (L, n) or (L, C, n)
            The predictors.
        """
        flat = self.coefs.reshape(-1, self.coefs.shape[-1])
        used = np.flatnonzero(flat.any(axis=0))
        columns = D.tocsc()[:, used] if sparse.issparse(D) else np.asarray(D)[:, used]
        eta = np.asarray((columns @ flat[:, used].T).T)
        return eta.reshape(*self.coefs.shape[:-1], D.shape[0]) + self.intercepts[..., None] + offset


@dataclass(frozen=True)
class Rows:
    """Checked input of a path: a dictionary, its target, weights and offset."""

    D: Any
    y: NDArray
    weights: FloatArray
    offset: FloatArray
    loss: str
    scale: Loss
    n_classes: int

    def take(self, rows: NDArray) -> Rows:
        """Return some of the rows."""
        D = self.D.tocsr()[rows] if sparse.issparse(self.D) else self.D[rows]
        offset = self.offset[..., rows]
        return Rows(
            D, self.y[rows], self.weights[rows], offset, self.loss, self.scale, self.n_classes
        )

    def losses(self, eta: FloatArray) -> FloatArray:
        """Return the loss of every row at the linear predictors ``eta``."""
        if self.loss == "multinomial":
            return multinomial_loss(self.y, eta)
        return self.scale.value(self.y, eta)

    def from_moments(self) -> bool:
        """Tell whether moments alone are the cheapest way: squared error, and not too wide."""
        n, p = self.D.shape
        return self.loss == "squared" and p <= max(2 * n, 100)


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
    grid = None if lambdas is None else np.sort(np.asarray(lambdas, dtype=float))[::-1]
    return rows_path(rows, penalty, grid, n_lambdas, lambda_min_ratio, max_nonzero, tol)


def rows_path(
    rows: Rows,
    penalty: Penalty,
    lambdas: FloatArray | None,
    n_lambdas: int,
    lambda_min_ratio: float,
    max_nonzero: int | None,
    tol: float,
) -> Path:
    """Return the path of checked rows; a grid is made when ``lambdas`` is None."""
    if rows.from_moments():
        (gram,) = fold_grams(
            rows.D, rows.y - rows.offset, np.zeros(len(rows.y), dtype=int), rows.weights
        )
        return path_of_moments(
            gram.centred(), penalty, lambdas, n_lambdas, lambda_min_ratio, max_nonzero, tol
        )
    solver = _start(rows, penalty, tol)
    if lambdas is None:
        lambdas = lambda_grid(solver.largest, n_lambdas, lambda_min_ratio)
    return solver.follow(lambdas, max_nonzero)


def path_of_moments(
    moments: Moments,
    penalty: Penalty,
    lambdas: FloatArray | None,
    n_lambdas: int,
    lambda_min_ratio: float,
    max_nonzero: int | None,
    tol: float,
) -> Path:
    """Return the squared-error path of some moments."""
    follower = MomentsPath(moments, penalty, tol)
    if lambdas is None:
        lambdas = lambda_grid(follower.largest, n_lambdas, lambda_min_ratio)
    coefs = follower.follow(lambdas, max_nonzero)
    return Path(lambdas[: len(coefs)], coefs, moments.mean_y - coefs @ moments.mean_d)


class _Follower:
    """Follows a path of one or several predictors from the null model down."""

    def __init__(self, rows: Rows, problem: Problem) -> None:
        self.rows, self.problem = rows, problem
        if rows.loss == "multinomial":
            self.classes = Classes(problem, rows.y, rows.offset)
            self.predictors = self.classes.predictors
        else:
            self.predictors = [Predictor.zero(rows.offset, rows.D.shape[1])]
        self._null()

    def _null(self) -> None:
        free = self.problem.penalty.free
        tight, self.problem.gap = self.problem.gap, 1e-12
        if self.rows.loss == "multinomial":
            self.classes.settle(0.0, [free] * len(self.predictors))
            eta = self.classes.eta
        else:
            (at,) = self.predictors
            self.problem.settle(at, self.rows.scale, self.rows.y, 0.0, np.flatnonzero(free))
            eta = at.eta
        least = 0.0 if self.rows.loss == "multinomial" else self.rows.scale.least(self.rows.y)
        null = float(self.problem.weights @ (self.rows.losses(eta) - least))
        self.problem.gap = tight * max(null, np.finfo(float).tiny)

    @property
    def largest(self) -> float:
        return max(self.problem.penalty.largest_lambda(at.gradient) for at in self.predictors)

    def follow(self, lambdas: FloatArray, max_nonzero: int | None) -> Path:
        coefs, intercepts = [], []
        last = max(lambdas[0], self.largest)
        for lam in lambdas:
            if self.rows.loss == "multinomial":
                self.classes.solve(lam, last)
            else:
                (at,) = self.predictors
                self.problem.solve(at, self.rows.scale, self.rows.y, lam, last)
            w = np.array([at.w for at in self.predictors])
            if max_nonzero is not None and w.any(axis=0).sum() > max_nonzero:
                break
            coefs.append(w)
            intercepts.append([at.intercept for at in self.predictors])
            last = lam
        shape = (len(coefs), len(self.predictors), self.rows.D.shape[1])
        W, b = np.array(coefs).reshape(shape), np.array(intercepts).reshape(shape[:2])
        if self.rows.loss != "multinomial":
            W, b = W[:, 0], b[:, 0]
        return Path(lambdas[: len(coefs)], W, b)


def _start(rows: Rows, penalty: Penalty, tol: float) -> _Follower:
    weights = rows.weights / rows.weights.sum()
    return _Follower(rows, Problem(Dictionary(rows.D), weights, penalty, tol))


def checked_rows(
    D: Any, y: Any, loss: str, sample_weight: Any, offset: Any, huber_delta: float | None
) -> Rows:
    """Return the input as arrays of the right kind, or say what is wrong with it."""
    if loss not in LOSSES:
        raise invalid_parameter(
            "penalised_path",
            "loss",
            must="be a loss of the paths",
            got=loss,
            fix=did_you_mean(loss, LOSSES),
        )
    D = D if sparse.issparse(D) else np.asarray(D, dtype=float)
    n = D.shape[0]
    target = np.asarray(y, dtype=int if loss == "multinomial" else float)
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    n_classes = int(target.max()) + 1 if loss == "multinomial" else 1
    shape = (n_classes, n) if loss == "multinomial" else (n,)
    moved = np.zeros(shape) if offset is None else np.asarray(offset, dtype=float)
    if len(target) != n or moved.shape != shape or weights.shape != (n,):
        raise invalid_data(
            "penalised_path",
            "y, sample_weight and offset",
            must=f"have one entry for each of the {n} rows of D",
            got=[target.shape, weights.shape, moved.shape],
            fix="Drop or repeat rows in all of them alike.",
        )
    return Rows(D, target, weights, moved, loss, _scale(loss, target, huber_delta), n_classes)


def _scale(loss: str, y: NDArray, huber_delta: float | None) -> Loss:
    if loss == "huber":
        if huber_delta is None:
            spread = NORMAL_CONSISTENT * float(np.median(np.abs(y - np.median(y))))
            huber_delta = HUBER_CONSTANT * (spread or float(np.std(y)) or 1.0)
        return Huber(huber_delta)
    if loss == "poisson":
        return Poisson()
    return Squared() if loss == "squared" else Logistic()


def checked_penalty(
    l1_ratio: float, penalty_factor: Any, non_negative: bool, n_columns: int
) -> Penalty:
    """Return the penalty, or say what is wrong with it."""
    if not 0 <= l1_ratio <= 1:
        raise invalid_parameter(
            "penalised_path",
            "l1_ratio",
            must="lie between 0 (ridge) and 1 (lasso)",
            got=l1_ratio,
            fix="Try 1.0, the lasso.",
        )
    factor = (
        np.ones(n_columns) if penalty_factor is None else np.asarray(penalty_factor, dtype=float)
    )
    if factor.shape != (n_columns,) or (factor < 0).any():
        raise invalid_parameter(
            "penalised_path",
            "penalty_factor",
            must=f"be {n_columns} numbers, none of them negative",
            got=penalty_factor,
            fix="Leave it out to penalise all columns alike.",
        )
    allowed = np.isfinite(factor)
    return Penalty(float(l1_ratio), np.where(allowed, factor, 1.0), allowed, non_negative)
