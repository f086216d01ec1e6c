"""Regularisation paths of a dictionary: one call for every loss and penalty."""

from __future__ import annotations

from typing import Any

from foldwise.paths.follow import Grid, path_of_rows
from foldwise.paths.path import Path
from foldwise.paths.rows import checked_penalty, checked_rows
from foldwise.paths.threads import one_blas_thread


@one_blas_thread
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
