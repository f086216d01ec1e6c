"""The second moments of columns under the curvatures of a loss, kept from step to step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from foldwise.arrays import FloatArray, IntArray
from foldwise.paths.gram import weighted_products


class Dictionary:
    """The columns of a dense or sparse dictionary, gathered a few at a time.

    ``D``: The dictionary. Shape (n, p).
    """

    def __init__(self, D: Any) -> None:
        self.sparse = sparse.issparse(D)
        self.by_column = D.tocsc() if self.sparse else np.asfortranarray(D, dtype=float)
        self.shape = D.shape

    def columns(self, which: IntArray) -> Any:
        """Return the given columns."""
        return self.by_column[:, which]

    def transposed_times(self, rows: FloatArray) -> FloatArray:
        """Return the product of every column with ``rows``."""
        return np.asarray(self.by_column.T @ rows)


@dataclass(frozen=True)
class Curvature:
    """Second moments of some columns, weighted by curvatures and centred."""

    columns: IntArray  # which columns of the dictionary, ascending
    D: Any  # those columns
    weights: FloatArray  # the curvatures and their sum
    mass: float  # the curvatures and their sum
    centre: FloatArray  # weighted means, and second moments about them
    Q: FloatArray  # weighted means, and second moments about them

    @classmethod
    def at(cls, dictionary: Dictionary, weights: FloatArray, columns: IntArray) -> Curvature:
        """Return the curvature of ``columns``, computed afresh: O(n a^2)."""
        D, mass = dictionary.columns(columns), float(weights.sum())
        centre = np.asarray(D.T @ weights) / mass
        return cls(columns, D, weights, mass, centre, weighted_products(D, weights, centre))

    def moved_to(self, dictionary: Dictionary, columns: IntArray) -> Curvature:
        """Return the same curvature for other columns: O(n a m) with m new ones."""
        if len(columns) == len(self.columns) and (columns == self.columns).all():
            return self
        kept = np.isin(columns, self.columns)
        if kept.sum() < 0.5 * len(columns):
            return Curvature.at(dictionary, self.weights, columns)
        D = dictionary.columns(columns)
        centre = np.asarray(D.T @ self.weights) / self.mass
        Q = np.empty((len(columns), len(columns)))
        old = np.searchsorted(self.columns, columns[kept])
        Q[np.ix_(kept, kept)] = self.Q[np.ix_(old, old)]
        new = D[:, ~kept]
        weighted = (new.toarray() if sparse.issparse(new) else new) * self.weights[:, None]
        across = np.asarray(D.T @ weighted) - self.mass * np.outer(centre, centre[~kept])
        Q[:, ~kept] = across
        Q[~kept] = across.T
        return Curvature(columns, D, self.weights, self.mass, centre, Q)
