"""What all combiners do first: rows below each other, shares of rows, probability of the truth."""

import numpy as np

from foldwise.arrays import Array, FloatArray
from foldwise.checks import row_shares

TINY = float(np.finfo(np.float64).eps)


def one_column_a_model(
    predictions: FloatArray, y: Array, sample_weight: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return predictions, targets and shares with targets or classes below each other.

    Shapes: ``predictions`` (n_samples, n_models) or (n_samples, n_models, width), ``y``
    (n_samples,) or (n_samples, width), returns (n_samples * width, n_models).
    """
    shares = row_shares(len(predictions), sample_weight)
    if predictions.ndim == 2:
        return predictions, np.asarray(y, dtype=np.float64), shares
    n, n_models, width = predictions.shape
    target = np.asarray(y)
    if width > 1 and target.ndim == 1:
        target = np.eye(width)[target.astype(np.intp)]
    columns = predictions.transpose(0, 2, 1).reshape(n * width, n_models)
    return columns, target.astype(np.float64).ravel(), np.repeat(shares / width, width)


def truth_probabilities(probabilities: FloatArray, y: Array) -> FloatArray:
    """Return each model's probability of what came true.

    Shapes: ``probabilities`` (n_samples, n_models) or (n_samples, n_models, width), returns
    (n_samples, n_models).
    """
    codes = np.asarray(y, dtype=np.intp)
    if probabilities.ndim == 3 and probabilities.shape[2] == 1:
        probabilities = probabilities[:, :, 0]
    if probabilities.ndim == 2:
        chosen = np.where(codes[:, None] == 1, probabilities, 1.0 - probabilities)
    else:
        chosen = probabilities[np.arange(len(codes)), :, codes]
    return np.clip(chosen, TINY, None)
