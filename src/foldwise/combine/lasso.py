"""Lasso regression on predictions, along a grid of penalties."""

import numpy as np

from foldwise.arrays import Array, FloatArray
from foldwise.combine.shapes import row_shares
from foldwise.paths import lasso_path


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
    shares = row_shares(len(predictions), sample_weight)
    centre = shares @ predictions
    scale = np.sqrt(shares @ (predictions - centre) ** 2)
    scale = np.where(scale > 10 * np.finfo(np.float64).eps * np.abs(centre), scale, np.inf)
    columns = (predictions - centre) / scale
    # The path sorts its penalties from the largest.
    order = np.argsort(-ratios, kind="stable")
    options = {
        "loss": loss,
        "sample_weight": sample_weight,
        "non_negative": non_negative,
        "tol": 1e-10,
    }
    top = lasso_path(columns, y, n_lambdas=1, **options).lambdas[0]
    path = lasso_path(columns, y, lambdas=ratios[order] * top, **options)
    back = np.argsort(order, kind="stable")
    coefficients = path.coefs[back] / scale
    return coefficients, path.intercepts[back] - coefficients @ centre
