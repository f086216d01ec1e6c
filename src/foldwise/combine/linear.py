"""Regression on predictions: ridge, least squares and the lasso, each along its penalties."""

from functools import partial

import numpy as np

from foldwise.arrays import Array, FloatArray
from foldwise.checks import row_shares, row_weights
from foldwise.paths import lasso_path


def ridge_coefficients(
    predictions: FloatArray,
    y: FloatArray,
    alphas: FloatArray,
    sample_weight: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return coefficients and intercepts of ridge regression on scaled columns.

    Parameters
    ----------
    predictions : ndarray of shape (n_samples, n_columns)
        One column a model.
    y : ndarray of shape (n_samples, n_targets)
        Targets.
    alphas : ndarray of shape (n_alphas,)
        Penalties on the coefficients of columns scaled to unit variance.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.

    Returns
    -------
    coefficients : ndarray of shape (n_alphas, n_columns, n_targets)
        In the scale of the given columns; zero for constant columns.
    intercepts : ndarray of shape (n_alphas, n_targets)
        Not penalised.

    Notes
    -----
    O(n_samples * n_columns**2) for all penalties together.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.arange(4.0)[:, None]
    >>> coefficients, intercepts = ridge_coefficients(2 * y, y, np.array([0.0, 4.0]))
    >>> coefficients.ravel(), intercepts.ravel()
    (array([0.5 , 0.25]), array([0.  , 0.75]))
    """
    weight = row_weights(len(y), sample_weight)
    shares = row_shares(len(y), sample_weight)
    columns, centre, scale = _unit_columns(predictions, shares)
    middle = shares @ y
    values, vectors = np.linalg.eigh(columns.T @ (weight[:, None] * columns))
    moments = vectors.T @ (columns.T @ (weight[:, None] * (y - middle)))
    # A direction without variance gets no coefficient, whatever the penalty.
    known = values > 1e-12 * max(values[-1], 1.0)
    shrunk = np.where(known, 1.0, 0.0) / np.where(known, values + alphas[:, None], 1.0)
    coefficients = vectors @ (shrunk[:, :, None] * moments)
    coefficients = coefficients / scale[:, None]
    return coefficients, middle - centre @ coefficients


def least_squares_coefficients(
    predictions: FloatArray, y: FloatArray, sample_weight: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return coefficients and intercepts of least squares.

    Parameters
    ----------
    predictions : ndarray of shape (n_samples, n_columns)
        One column a model.
    y : ndarray of shape (n_samples, n_targets)
        Targets.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.

    Returns
    -------
    coefficients : ndarray of shape (n_columns, n_targets)
        Columns that repeat each other share their coefficient.
    intercepts : ndarray of shape (n_targets,)
        The intercepts.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.arange(4.0)[:, None]
    >>> coefficients, intercepts = least_squares_coefficients(2 * y, y)
    >>> coefficients.round(12).tolist(), abs(intercepts.round(12)).tolist()
    ([[0.5]], [0.0])
    """
    coefficients, intercepts = ridge_coefficients(predictions, y, np.zeros(1), sample_weight)
    return coefficients[0], intercepts[0]


def lasso_coefficients(
    predictions: FloatArray,
    y: Array,
    ratios: FloatArray,
    sample_weight: FloatArray | None = None,
    *,
    loss: str = "squared",
    non_negative: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Return coefficients and intercepts of the lasso on scaled columns.

    Parameters
    ----------
    predictions : ndarray of shape (n_samples, n_columns)
        One column a model: predictions, or logits for the losses of classes.
    y : ndarray of shape (n_samples,)
        Targets; 0 and 1 for "logistic", class codes for "multinomial".
    ratios : ndarray of shape (n_ratios,)
        Penalties, in units of the smallest that makes all coefficients zero.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    loss : {"squared", "logistic", "multinomial"}, default="squared"
        What is made small.
    non_negative : bool, default=False
        Whether coefficients must be at least zero.

    Returns
    -------
    coefficients : ndarray of shape (n_ratios, n_columns) or (n_ratios, n_classes, n_columns)
        In the scale of the given columns; the penalty is on columns of unit variance.
    intercepts : ndarray of shape (n_ratios,) or (n_ratios, n_classes)
        Not penalised.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0.0, 1.0, 2.0, 3.0])
    >>> coefficients, intercepts = lasso_coefficients(y[:, None], y, np.array([0.5]))
    >>> coefficients.round(4).tolist(), intercepts.round(4).tolist()
    ([[0.5]], [0.75])
    """
    columns, centre, scale = _unit_columns(predictions, row_shares(len(predictions), sample_weight))
    # The path sorts its penalties from the largest.
    order = np.argsort(-ratios, kind="stable")
    how = {"loss": loss, "sample_weight": sample_weight, "non_negative": non_negative}
    path_of = partial(lasso_path, columns, y, tol=1e-10, **how)
    top = path_of(n_lambdas=1).lambdas[0]
    path = path_of(lambdas=ratios[order] * top)
    back = np.argsort(order, kind="stable")
    coefficients = path.coefs[back] / scale
    return coefficients, path.intercepts[back] - coefficients @ centre


def _unit_columns(
    predictions: FloatArray, shares: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return columns of mean 0 and variance 1, their means and scales; inf for a constant."""
    centre = shares @ predictions
    columns = predictions - centre
    scale = np.sqrt(shares @ columns**2)
    scale = np.where(scale > 10 * np.finfo(np.float64).eps * np.abs(centre), scale, np.inf)
    columns /= scale
    return columns, centre, scale
