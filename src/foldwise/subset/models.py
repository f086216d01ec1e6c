"""Many linear models at once: coefficients, variances and predictions of each."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.subset.coefficients import independent
from foldwise.subset.columns import Choice
from foldwise.subset.moments import ALIASED, Moments

BATCH = 1_000_000
"""Numbers in the matrices of the models that are solved together."""


def solve_all(
    gram: FloatArray, cross: FloatArray, kept: BoolArray, floors: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the inverses and coefficients of many subsets of columns.

    Shapes: ``gram`` (p, p), ``kept`` (n_models, p), returns (n_models, p, p), returns (n_models,
    p).
    """
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
    # products of what is left of the free columns, with each other and with the target; and the
    # floors below which they are aliased
    gram: FloatArray
    # products of what is left of the free columns, with each other and with the target; and the
    # floors below which they are aliased
    cross: FloatArray
    # products of what is left of the free columns, with each other and with the target; and the
    # floors below which they are aliased
    floors: FloatArray

    @classmethod
    def of(cls, moments: Moments, choice: Choice) -> "Reduced":
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
        width = len(self.base) + len(self.free)
        beta, variance = (np.zeros((len(kept), width)) for _ in range(2))
        for rows in self._batches(kept):
            inverse, free_beta = solve_all(self.gram, self.cross, kept[rows], self.floors)
            inverse *= shrink[rows, None, None]
            free_beta *= shrink[rows, None]
            spread = np.einsum("bf,mfg,bg->mb", self.slopes, inverse, self.slopes)
            beta[rows, : len(self.base)] = self.base_beta - free_beta @ self.slopes.T
            beta[rows, len(self.base) :] = free_beta
            variance[rows, : len(self.base)] = np.diagonal(self.base_inverse) + spread
            variance[rows, len(self.base) :] = np.einsum("mff->mf", inverse)
        order = np.concatenate([self.base, self.free])
        wide = np.zeros((2, len(kept), order.max() + 1 if width else 1))
        wide[0][:, order], wide[1][:, order] = beta, variance
        return Fits(*wide)

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

    def _batches(self, kept: BoolArray) -> list[slice]:
        step = max(1, BATCH // (len(self.free) + 1) ** 2)
        return [slice(start, start + step) for start in range(0, len(kept), step)]
