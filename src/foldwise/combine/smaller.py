"""Which models convex weights can do without, the least missed first."""

from collections.abc import Callable, Sequence

import numpy as np

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.combine.shapes import truth_probabilities
from foldwise.combine.simplex import error_triangle, simplex_minimum

EPS = 1e-12


def elimination_order(
    predictions: FloatArray,
    y: Array,
    sample_weight: FloatArray | None = None,
    *,
    classes: bool = False,
    cost: Callable[[Sequence[int]], float] = len,
) -> IntArray:
    """Return the models in the order in which the best convex combination can do without them.

    Parameters
    ----------
    predictions : ndarray of shape (n_samples, n_models, width)
        Out-of-fold predictions; for classes the probability of the second of two, or of each.
    y : ndarray of shape (n_samples,) or (n_samples, width)
        Targets, or class codes.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    classes : bool, default=False
        Whether ``y`` holds class codes.
    cost : callable, default=len
        What some models cost together, by their positions.

    Returns
    -------
    ndarray of shape (n_models,)
        Positions of the models; the last one stays longest.

    Notes
    -----
    Backward elimination: each step leaves out the model whose absence, with the weights found
    anew, raises the squared error least for what it saves. For classes it is the squared
    distance of the truth's probability from one. All errors come from one triangle of the
    predictions: O(n_samples * n_models**2), then O(n_models**2) tiny problems.

    See Also
    --------
    foldwise.StackingRegressor : Its ``compact`` leaves learners out in this order.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0.0, 1.0, 2.0, 3.0])
    >>> noise = np.array([1.0, -1.0, 1.0, -1.0])
    >>> other = np.array([1.0, 1.0, -1.0, -1.0])
    >>> models = np.column_stack([y + 2 * noise, y - noise, y + other])
    >>> elimination_order(models[:, :, None], y)
    array([2, 0, 1])
    """
    if classes:
        predictions, y = truth_probabilities(predictions, y), np.ones(len(y))
    errors = error_triangle(predictions, y, sample_weight)

    def loss(models: Sequence[int]) -> float:
        rows = errors[:, list(models)]
        return float(np.sum((rows @ simplex_minimum(rows)) ** 2))

    exact = max(float(np.sum(errors**2)) * EPS**2, np.finfo(float).tiny)
    left, order = list(range(errors.shape[1])), []
    while len(left) > 1:
        smaller = [[m for m in left if m != gone] for gone in left]
        now, whole = loss(left), cost(left)
        saved = np.array([max(whole - cost(rest), 0.0) for rest in smaller])
        # A rise by rounding is none: then the dearest goes, and of equals the last.
        rises = np.array([loss(rest) - now for rest in smaller])
        rises = np.where(rises > EPS * now + exact, rises, 0.0)
        price = rises / np.maximum(saved, np.finfo(float).tiny)
        gone = min(range(len(left)), key=lambda m: (price[m], -saved[m], -m))
        order.append(left.pop(gone))
    return np.array(order + left, dtype=np.intp)
