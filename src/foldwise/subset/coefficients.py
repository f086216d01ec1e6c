"""Coefficients of chosen subsets, from products of columns."""

from collections.abc import Sequence

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.subset.moments import ALIASED, Moments


def independent(gram: FloatArray, columns: IntArray) -> IntArray:
    """Return the columns that are not linear combinations of the ones before them.

    Shapes: ``gram`` (q, q).
    """
    left = gram[np.ix_(columns, columns)].copy()
    floors = ALIASED * np.diagonal(left).copy()
    for v in range(len(columns)):
        if left[v, v] > floors[v]:
            left[v + 1 :] -= np.outer(left[v + 1 :, v] / left[v, v], left[v])
    return columns[np.diagonal(left) > floors]


def least_squares(moments: Moments, columns: IntArray) -> FloatArray:
    """Return the coefficients (intercept, x_1, ..., x_p) of the model on some columns.

    ``columns``: Columns of the model, counted with the intercept as 0. Others get zero, and so do
    columns aliased with earlier ones.
    """
    scaled = np.zeros(len(moments.gram) - 1)
    used, beta = _solve(moments.gram, columns)
    scaled[used] = beta
    return unscale(scaled, moments)


def least_squares_by_split(moments: Moments, subsets: Sequence[IntArray]) -> FloatArray:
    """Return the coefficients of one subset a split.

    All splits are solved together, unless columns are aliased in one of them.
    """
    n_splits, q = len(subsets), moments.gram.shape[-1] - 1
    inside = np.zeros((n_splits, q), dtype=bool)
    rows = np.repeat(np.arange(n_splits), [len(columns) for columns in subsets])
    inside[rows, np.concatenate(subsets)] = True
    # A column that is not in a split's model is alone in its equation, and gets zero.
    both = inside[:, :, None] & inside[:, None, :]
    parts = np.where(both, moments.gram[:, :-1, :-1], np.eye(q))
    right = np.where(inside, moments.gram[:, :-1, -1], 0.0)
    if all_independent(parts):
        return unscale(np.linalg.solve(parts, right[..., None])[..., 0], moments)
    scaled = np.zeros((n_splits, q))
    for split, columns in enumerate(subsets):
        used, beta = _solve(moments.gram[split], columns)
        scaled[split, used] = beta
    return unscale(scaled, moments)


def all_independent(parts: FloatArray) -> bool:
    """Tell whether no column of any of the matrices is aliased with earlier ones.

    Shapes: ``parts`` (..., q, q).
    """
    try:
        # The squares on the diagonal are what each column has left after those before it.
        left = np.diagonal(np.linalg.cholesky(parts), axis1=-2, axis2=-1) ** 2
    except np.linalg.LinAlgError:
        return False
    return bool((left > ALIASED * np.diagonal(parts, axis1=-2, axis2=-1)).all())


def _solve(gram: FloatArray, columns: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the columns that are not aliased, and their coefficients."""
    used, part = columns, gram[columns[:, None], columns]
    if not all_independent(part):
        used = independent(gram, columns)
        part = gram[used[:, None], used]
    return used, np.linalg.solve(part, gram[used, -1])


def unscale(scaled: FloatArray, moments: Moments) -> FloatArray:
    """Return coefficients (..., p + 1) of scaled columns in the units of the data."""
    scale, centre = moments.scale, moments.centre
    beta = scaled * scale[-1] / scale[:-1]
    beta[..., 0] = scaled[..., 0] * scale[-1] + centre[-1] - beta[..., 1:] @ centre[1:-1]
    return beta


def residual_sum(moments: Moments, columns: IntArray) -> float:
    """Return the residual sum of squares of the model on some columns."""
    gram = moments.gram
    used, beta = _solve(gram, columns)
    explained = gram[used, -1] @ beta
    return float(max(gram[-1, -1] - explained, 0.0) * moments.scale[-1] ** 2)
