"""Ridge regression at many penalties from one eigendecomposition."""

import numpy as np

from foldwise.arrays import FloatArray


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
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    share = weight / weight.sum()
    centre, middle = share @ predictions, share @ y
    columns = predictions - centre
    scale = np.sqrt(share @ columns**2)
    tiny = 10 * np.finfo(np.float64).eps * np.abs(centre)
    constant = scale <= tiny
    columns = np.where(constant, 0.0, columns / np.where(constant, 1.0, scale))
    values, vectors = np.linalg.eigh(columns.T @ (weight[:, None] * columns))
    moments = vectors.T @ (columns.T @ (weight[:, None] * (y - middle)))
    # A direction without variance gets no coefficient, whatever the penalty.
    known = values > 1e-12 * max(values[-1], 1.0)
    shrunk = np.where(known, 1.0, 0.0) / np.where(known, values + alphas[:, None], 1.0)
    coefficients = vectors @ (shrunk[:, :, None] * moments)
    coefficients = coefficients / np.where(constant, 1.0, scale)[:, None]
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
