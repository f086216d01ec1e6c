"""Coefficients of chosen subsets, one or many at once, from products of columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.utils import gen_batches

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.subset.columns import Choice
from foldwise.subset.moments import ALIASED, ScaledGram

# Numbers in the matrices of the models that are solved together.
BATCH = 1_000_000


def pivots(gram: FloatArray, columns: IntArray) -> FloatArray:
    """Return what is left of each column's sum of squares when those before it are regressed out.

    A column that is aliased with earlier ones is not regressed out of later ones.
    """
    left = gram[np.ix_(columns, columns)]
    floors = ALIASED * np.diagonal(left)
    for v in range(len(columns)):
        if left[v, v] > floors[v]:
            left[v + 1 :] -= np.outer(left[v + 1 :, v] / left[v, v], left[v])
    return np.diagonal(left)


def independent(gram: FloatArray, columns: IntArray) -> IntArray:
    """Return the columns that are not linear combinations of the ones before them."""
    return columns[pivots(gram, columns) > ALIASED * np.diagonal(gram)[columns]]


def least_squares(moments: ScaledGram, columns: IntArray) -> FloatArray:
    """Return the coefficients (intercept, x_1, ..., x_p) of the model on some columns.

    ``columns``: Columns of the model, counted with the intercept as 0. Others get zero, and so do
    columns aliased with earlier ones.
    """
    return unscale(_solution(moments.gram, columns), moments)


def least_squares_by_split(moments: ScaledGram, subsets: Sequence[IntArray]) -> FloatArray:
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
    alone = [_solution(*split) for split in zip(moments.gram, subsets, strict=True)]
    return unscale(np.array(alone), moments)


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


def _solution(gram: FloatArray, columns: IntArray) -> FloatArray:
    """Return the coefficients of all scaled columns, zero for those not in the model."""
    used, beta = _solve(gram, columns)
    scaled = np.zeros(len(gram) - 1)
    scaled[used] = beta
    return scaled


def unscale(scaled: FloatArray, moments: ScaledGram) -> FloatArray:
    """Return coefficients (..., p + 1) of scaled columns in the units of the data."""
    scale, centre = moments.scale, moments.centre
    beta = scaled * scale[-1] / scale[:-1]
    beta[..., 0] = scaled[..., 0] * scale[-1] + centre[-1] - beta[..., 1:] @ centre[1:-1]
    return beta


def residual_sum(moments: ScaledGram, columns: IntArray) -> float:
    """Return the residual sum of squares of the model on some columns."""
    gram = moments.gram
    used, beta = _solve(gram, columns)
    explained = gram[used, -1] @ beta
    return float(max(gram[-1, -1] - explained, 0.0) * moments.scale[-1] ** 2)


def solve_all(
    gram: FloatArray, cross: FloatArray, kept: BoolArray, floors: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the inverses and coefficients of many subsets of columns.

    Shapes: ``gram`` (p, p), ``kept`` (n_models, p), returns (n_models, p, p) and (n_models, p).
    """
    # Gauss-Jordan on all models at once: each sweep solves for one column in the models that
    # have it, and leaves the others as they are. A column below its floor is never swept in.
    p = len(cross)
    swept = np.empty((len(kept), p + 1, p + 1))
    swept[:, :p, :p], swept[:, :p, p], swept[:, p, :] = gram, cross, 0.0
    done = np.zeros_like(kept)
    for v in range(p):
        alive = np.flatnonzero(kept[:, v] & (swept[:, v, v] > floors[v]))
        part = swept[alive]
        pivot = part[:, v, v].copy()
        row = part[:, v] / pivot[:, None]
        column = part[:, :, v].copy()
        part -= column[:, :, None] * row[:, None, :]
        part[:, v] = row
        part[:, :, v] = -column / pivot[:, None]
        part[:, v, v] = 1 / pivot
        swept[alive] = part
        done[alive, v] = True
    inverse = swept[:, :p, :p] * (done[:, :, None] & done[:, None, :])
    return inverse, swept[:, :p, p] * done


class Fits(NamedTuple):
    """Models on scaled columns."""

    beta: FloatArray  # coefficients of the intercept and all columns
    variance: FloatArray  # their variances for noise of variance 1


@dataclass(frozen=True)
class Reduced:
    """A problem whose forced columns are regressed out of the free ones and of the target."""

    base: IntArray  # the forced columns that are not aliased
    free: IntArray  # the others
    base_inverse: FloatArray  # inverse of the products of ``base``
    slopes: FloatArray  # (n_base, n_free): coefficients of the free columns on the forced ones
    base_beta: FloatArray  # coefficients of the target on the forced columns
    gram: FloatArray  # products of what is left of the free columns
    cross: FloatArray  # the same with the target
    floors: FloatArray  # at or below which a free column is aliased

    @classmethod
    def of(cls, moments: ScaledGram, choice: Choice) -> "Reduced":
        """Return the reduced form of a problem whose units are single columns."""
        G = moments.gram
        base = independent(G, np.array(choice.forced, dtype=np.intp))
        free = np.array([column for unit in choice.units for column in unit], dtype=np.intp)
        base_inverse = np.asarray(np.linalg.inv(G[np.ix_(base, base)]), dtype=np.float64)
        slopes = base_inverse @ G[np.ix_(base, free)]
        gram = G[np.ix_(free, free)] - G[np.ix_(free, base)] @ slopes
        base_beta = base_inverse @ G[base, -1]
        cross = G[free, -1] - G[np.ix_(free, base)] @ base_beta
        floors = ALIASED * np.diagonal(G)[free]
        return cls(base, free, base_inverse, slopes, base_beta, gram, cross, floors)

    def fits(self, kept: BoolArray, shrink: FloatArray) -> Fits:
        """Return the models; ``shrink`` multiplies the free coefficients of each."""
        columns = np.concatenate([self.base, self.free])
        shape = len(kept), columns.max(initial=0) + 1
        fits = Fits(np.zeros(shape), np.zeros(shape))
        for rows in self._batches(kept):
            inverse, free_beta = solve_all(self.gram, self.cross, kept[rows], self.floors)
            inverse *= shrink[rows, None, None]
            free_beta *= shrink[rows, None]
            spread = np.einsum("bf,mfg,bg->mb", self.slopes, inverse, self.slopes)
            fits.beta[rows, self.base] = self.base_beta - free_beta @ self.slopes.T
            fits.beta[rows, self.free] = free_beta
            fits.variance[rows, self.base] = np.diagonal(self.base_inverse) + spread
            fits.variance[rows, self.free] = np.einsum("mff->mf", inverse)
        return fits

    def leverages(self, Z: FloatArray, kept: BoolArray, shrink: FloatArray) -> FloatArray:
        """Return the variances (n_rows, n_models) of fitted values, for noise of variance 1.

        ``Z`` has the scaled columns (1, x_1, ..., x_p).
        """
        base = Z[:, self.base]
        rest = Z[:, self.free] - base @ self.slopes
        result = np.empty((len(Z), len(kept)))
        fixed = np.einsum("ib,bc,ic->i", base, self.base_inverse, base)
        for rows in self._batches(kept):
            inverse, _ = solve_all(self.gram, self.cross, kept[rows], self.floors)
            half = np.tensordot(rest, inverse, axes=(1, 1))
            result[:, rows] = np.einsum("imf,if->im", half, rest) * shrink[rows]
        return result + fixed[:, None]

    def _batches(self, kept: BoolArray) -> Iterator[slice]:
        return gen_batches(len(kept), max(1, BATCH // (len(self.free) + 1) ** 2))
