"""Averages of predictions that learn nothing: means, median, votes."""

import numpy as np
from scipy.special import expit, logit
from scipy.stats import trim_mean

from foldwise.arrays import Array, FloatArray


def weighted_mean(predictions: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted mean over models.

    Parameters
    ----------
    predictions : ndarray of shape (n_samples, n_models) or (n_samples, n_models, width)
        Predictions, or probabilities.
    weights : ndarray of shape (n_models,)
        Used as they are; they need not sum to one.

    Returns
    -------
    ndarray of shape (n_samples,) or (n_samples, width)
        The combined prediction.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_mean(np.array([[1.0, 3.0]]), np.array([0.75, 0.25]))
    array([1.5])
    """
    return np.einsum("nm...,m->n...", predictions, weights)


def plain_mean(predictions: FloatArray) -> FloatArray:
    """Return the mean over models; of probabilities it is the soft vote.

    Parameters
    ----------
    predictions : ndarray of shape (n_samples, n_models) or (n_samples, n_models, width)
        Predictions, or probabilities.

    Returns
    -------
    ndarray of shape (n_samples,) or (n_samples, width)
        The combined prediction.

    Examples
    --------
    >>> import numpy as np
    >>> plain_mean(np.array([[1.0, 3.0]]))
    array([2.])
    """
    return np.asarray(predictions.mean(axis=1))


def soft_vote(probabilities: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the mean probability over models.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples, n_models) or (n_samples, n_models, n_classes)
        Of the second of two classes, or of each class.
    weights : ndarray of shape (n_models,) or None
        Votes of the models; scaled to sum to one.

    Returns
    -------
    ndarray of shape (n_samples,) or (n_samples, n_classes)
        Probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> soft_vote(np.array([[0.5, 0.75]]), np.array([3, 1])).tolist()
    [0.5625]
    """
    if weights is None:
        return plain_mean(probabilities)
    votes = np.asarray(weights, dtype=np.float64)
    return weighted_mean(probabilities, votes / votes.sum())


def majority_vote(votes: Array, n_classes: int, weights: FloatArray | None = None) -> FloatArray:
    """Return the share of votes for each class.

    Parameters
    ----------
    votes : ndarray of shape (n_samples, n_models)
        Class codes.
    n_classes : int
        Number of classes.
    weights : ndarray of shape (n_models,) or None
        Votes of the models.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Rows sum to one; the class of the majority is the ``argmax``, a tie goes to the first.

    Examples
    --------
    >>> import numpy as np
    >>> majority_vote(np.array([[0, 2, 2, 1]]), 3)
    array([[0.25, 0.25, 0.5 ]])
    """
    return soft_vote(np.eye(n_classes)[np.asarray(votes, dtype=np.intp)], weights)


def median(predictions: FloatArray, *, simplex: bool = False) -> FloatArray:
    """Return the median over models.

    Parameters
    ----------
    predictions : ndarray of shape (n_samples, n_models) or (n_samples, n_models, width)
        Predictions, or probabilities.
    simplex : bool, default=False
        Whether the last axis holds probabilities that are to sum to one again.

    Returns
    -------
    ndarray of shape (n_samples,) or (n_samples, width)
        The combined prediction.

    Examples
    --------
    >>> import numpy as np
    >>> median(np.array([[1.0, 2.0, 30.0]]))
    array([2.])
    """
    return _normalised(np.median(predictions, axis=1), predictions, simplex)


def trimmed_mean(
    predictions: FloatArray, trim: float = 0.2, *, simplex: bool = False
) -> FloatArray:
    """Return the mean over models without the lowest and the highest predictions.

    Parameters
    ----------
    predictions : ndarray of shape (n_samples, n_models) or (n_samples, n_models, width)
        Predictions, or probabilities.
    trim : float, default=0.2
        Share of the models cut at each end, rounded down; below one half.
    simplex : bool, default=False
        Whether the last axis holds probabilities that are to sum to one again.

    Returns
    -------
    ndarray of shape (n_samples,) or (n_samples, width)
        The combined prediction.

    Examples
    --------
    >>> import numpy as np
    >>> trimmed_mean(np.array([[0.0, 1.0, 2.0, 3.0, 90.0]]))
    array([2.])
    """
    return _normalised(np.asarray(trim_mean(predictions, trim, axis=1)), predictions, simplex)


def geometric_mean(predictions: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the geometric mean over models of positive numbers.

    Parameters
    ----------
    predictions : ndarray of shape (n_samples, n_models) or (n_samples, n_models, width)
        Positive predictions; a zero makes the mean zero.
    weights : ndarray of shape (n_models,) or None
        Used as they are; None for equal ones.

    Returns
    -------
    ndarray of shape (n_samples,) or (n_samples, width)
        The combined prediction.

    Examples
    --------
    >>> import numpy as np
    >>> geometric_mean(np.array([[2.0, 8.0]])).round(12)
    array([4.])
    """
    with np.errstate(divide="ignore"):
        logs = np.log(predictions)
    mean = plain_mean(logs) if weights is None else weighted_mean(logs, weights)
    return np.asarray(np.exp(mean))


def logit_mean(
    probabilities: FloatArray, weights: FloatArray | None = None, *, clip: float = 1e-6
) -> FloatArray:
    """Return the normalised geometric mean of probabilities: the mean in logits.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples, n_models) or (n_samples, n_models, n_classes)
        Of the second of two classes, or of each class.
    weights : ndarray of shape (n_models,) or None
        Used as they are; None for equal ones.
    clip : float, default=1e-6
        Distance kept from 0 and 1, so that one sure model does not decide alone.

    Returns
    -------
    ndarray of shape (n_samples,) or (n_samples, n_classes)
        Probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> logit_mean(np.array([[0.2, 0.8, 0.5]])).round(6)
    array([0.5])
    """
    kept = np.clip(probabilities, clip, 1.0 - clip)
    if probabilities.ndim == 2:
        logits = logit(kept)
        return expit(plain_mean(logits) if weights is None else weighted_mean(logits, weights))
    products = geometric_mean(kept, weights)
    return products / products.sum(axis=1, keepdims=True)


def _normalised(values: FloatArray, predictions: FloatArray, simplex: bool) -> FloatArray:
    if not simplex or values.ndim == 1 or values.shape[1] == 1:
        return values
    totals = values.sum(axis=1, keepdims=True)
    # Where every class is cut away, nothing but the mean is left.
    return np.where(totals > 0, values / np.where(totals > 0, totals, 1.0), plain_mean(predictions))
