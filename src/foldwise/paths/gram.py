"""Weighted moments of a dictionary: computed once per fold, then added and subtracted."""

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from foldwise.arrays import FloatArray

ROWS_AT_A_TIME = 4096
# Below this density a sparse product beats expanding blocks of rows for BLAS.
SPARSE_PRODUCT_DENSITY = 0.02
# A column whose variance is this small beside its second moment about the mean of all rows is
# rounding error: it was constant but for the fold taken away.
CONSTANT_COLUMN = 1e-10
# Values this near to each other, beside their size, are moved to zero before they are multiplied:
# squares would keep the size and lose the spread.
NEAR_EACH_OTHER = 1e-2
# Moments of all folds are kept while they fit into this many bytes; else they are made twice.
KEPT_BYTES = 5e8


@dataclass(frozen=True)
class Gram:
    """Weighted first and second moments of a dictionary and its target.

    All columns are shifted by a common vector before they are multiplied, so that folds can be
    added and subtracted without cancellation. Moments of different rows, built with the same
    shift, obey ``gram(rows) - gram(fold) == gram(rows without the fold)``.

    Parameters
    ----------
    weight : float
        Sum of the sample weights.
    shift, shift_y : ndarray of shape (p,), float
        What was subtracted from the columns and the target.
    sum_d, sum_y : ndarray of shape (p,), float
        Weighted sums of the shifted columns and target.
    dd, dy, yy : ndarray of shape (p, p), ndarray of shape (p,), float
        Weighted sums of products of the shifted columns and target.

    Examples
    --------
    >>> import numpy as np
    >>> D, y = np.eye(4)[:, :2], np.arange(4.0)
    >>> first, second = fold_grams(D, y, np.array([0, 0, 1, 1]))
    >>> total = first + second
    >>> (total - first).weight
    2.0
    >>> total.centred().q
    array([-0.375, -0.125])
    """

    weight: float
    shift: FloatArray
    shift_y: float
    sum_d: FloatArray
    sum_y: float
    dd: FloatArray
    dy: FloatArray
    yy: float

    def __add__(self, other: "Gram") -> "Gram":
        return self._combine(other, operator.add)

    def __sub__(self, other: "Gram") -> "Gram":
        return self._combine(other, operator.sub)

    def _combine(self, other: "Gram", op: Any) -> "Gram":
        sums = ("weight", "sum_d", "sum_y", "dd", "dy", "yy")
        return replace(self, **{k: op(getattr(self, k), getattr(other, k)) for k in sums})

    def centred(self) -> "CentredMoments":
        """Return the means and the centred second moments, all per unit of weight."""
        mean_d, mean_y = self.sum_d / self.weight, self.sum_y / self.weight
        Q = self.dd / self.weight
        raw = Q.diagonal().copy()
        Q -= np.outer(mean_d, mean_d)
        constant = Q.diagonal() <= CONSTANT_COLUMN * raw
        Q[constant] = 0.0
        Q[:, constant] = 0.0
        q = self.dy / self.weight - mean_d * mean_y
        q[constant] = 0.0
        yy = max(self.yy / self.weight - mean_y**2, 0.0)
        return CentredMoments(Q, q, yy, mean_d + self.shift, mean_y + self.shift_y)


@dataclass(frozen=True)
class CentredMoments:
    """Centred second moments per unit of weight: ``Q`` of the columns, ``q`` with the target."""

    Q: FloatArray
    q: FloatArray
    yy: float
    mean_d: FloatArray
    mean_y: float


def moved_to_zero(D: Any) -> tuple[Any, FloatArray]:
    """Return the dictionary with columns of little spread moved near zero, and by how much.

    A column is moved by its first value. Numbers so near to each other are subtracted without any
    rounding, so that constant columns become exactly zero and nothing is lost of the others.
    """
    base = np.zeros(D.shape[1])
    if not D.shape[0]:
        return D, base
    low, high = (_dense_row(end(axis=0)) for end in (D.min, D.max))
    far = high - low <= NEAR_EACH_OTHER * np.maximum(np.abs(low), np.abs(high))
    columns = np.flatnonzero(far & (low != 0))
    if not len(columns):
        return D, base
    base[columns] = _dense_row(D.tocsr()[[0]] if sparse.issparse(D) else D[:1])[columns]
    if not sparse.issparse(D):
        return D - base, base
    moves = sparse.csr_array(np.ones((D.shape[0], 1))) @ sparse.csr_array(base[None])
    return (D - moves).tocsr(), base


def _dense_row(row: Any) -> FloatArray:
    return np.asarray(row.toarray() if sparse.issparse(row) else row, dtype=float).ravel()


def mean_and_variance(D: Any, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of the columns; ``share`` are weights that sum to one."""
    mean = np.asarray(D.T @ share)
    if sparse.issparse(D):
        return mean, np.asarray(D.multiply(D).T @ share) - mean**2
    return mean, share @ (D - mean) ** 2


def weighted_products(D: Any, weights: FloatArray, shift: FloatArray) -> FloatArray:
    """Return ``(D - shift)' diag(weights) (D - shift)``, never holding a dense copy of a sparse D.

    O(n p^2) multiplications in BLAS. Sparse rows are expanded a block at a time, unless they are
    so sparse that multiplying them as they are is cheaper.
    """
    if not sparse.issparse(D):
        moved = (D - shift) * np.sqrt(weights)[:, None]
        return moved.T @ moved
    raw = _sparse_products(D.tocsr(), weights)
    sums = np.asarray(D.T @ weights, dtype=float).ravel()
    crossed = np.outer(shift, sums)
    return raw - crossed - crossed.T + weights.sum() * np.outer(shift, shift)


def _sparse_products(D: Any, weights: FloatArray) -> FloatArray:
    n, p = D.shape
    if D.nnz <= SPARSE_PRODUCT_DENSITY * n * p:
        return np.asarray((D.T @ D.multiply(weights[:, None]).tocsr()).toarray(), dtype=float)
    # Counts are exact in single precision, at half the price.
    unit = bool((weights == 1).all() and (D.data == 1).all())
    total = np.zeros((p, p))
    for start in range(0, n, ROWS_AT_A_TIME):
        rows = slice(start, start + ROWS_AT_A_TIME)
        block = D[rows].astype(np.float32 if unit else np.float64).toarray()
        if not unit:
            block *= np.sqrt(weights[rows])[:, None]
        total += block.T @ block
    return total


def fold_grams(
    D: Any, y: FloatArray, fold_of: NDArray[np.integer], sample_weight: FloatArray | None = None
) -> list[Gram]:
    """Return the moments of every fold, all with the same shift.

    Parameters
    ----------
    D : ndarray or scipy sparse of shape (n, p)
        The dictionary.
    y : ndarray of shape (n,)
        The target.
    fold_of : ndarray of shape (n,)
        The fold of each row.
    sample_weight : ndarray of shape (n,) or None
        Weights of the rows; one each when None.

    Returns
    -------
    list of Gram
        One per distinct value of ``fold_of``, in ascending order. Their sum is the Gram of all
        rows; that sum minus one of them is what a model sees that never saw the fold.

    Notes
    -----
    O(n p^2) time in all, whatever the number of folds, and K p^2 numbers of memory.

    Examples
    --------
    >>> import numpy as np
    >>> grams = fold_grams(np.eye(3), np.ones(3), np.array([0, 1, 1]))
    >>> [g.weight for g in grams]
    [1.0, 2.0]
    """
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    return list(_iterate_fold_grams(D, y, fold_of, weights))


def moments_without_folds(
    D: Any, y: FloatArray, fold_of: NDArray[np.integer], weights: FloatArray
) -> Iterator[CentredMoments]:
    """Yield the moments of all rows, then of all rows but each fold numbered zero or more."""
    names = np.unique(fold_of)
    grams: Iterable[Gram] = _iterate_fold_grams(D, y, fold_of, weights)
    if len(names) * D.shape[1] ** 2 * 8 <= KEPT_BYTES:
        grams = list(grams)
        total = reduce(operator.add, grams)
    else:
        (total,) = fold_grams(D, y, np.zeros(len(y), dtype=int), weights)
    yield total.centred()
    for name, part in zip(names, grams, strict=True):
        if name >= 0:
            yield (total - part).centred()


def _iterate_fold_grams(
    D: Any, y: FloatArray, fold_of: NDArray[np.integer], weights: FloatArray
) -> Iterator[Gram]:
    """Yield what :func:`fold_grams` lists, holding one fold at a time."""
    D, base = moved_to_zero(D)
    shift = np.asarray(D.T @ weights, dtype=float).ravel() / weights.sum()
    shift_y = float(weights @ y / weights.sum())
    D = D.tocsr() if sparse.issparse(D) else D
    for fold in np.unique(fold_of):
        rows = fold_of == fold
        part, w, moved_y = D[rows], weights[rows], y[rows] - shift_y
        sum_d = np.asarray(part.T @ w, dtype=float).ravel() - w.sum() * shift
        sum_y, yy = float(w @ moved_y), float(w @ moved_y**2)
        dd = weighted_products(part, w, shift)
        dy = np.asarray(part.T @ (w * moved_y), dtype=float).ravel() - shift * sum_y
        yield Gram(float(w.sum()), shift + base, shift_y, sum_d, sum_y, dd, dy, yy)
