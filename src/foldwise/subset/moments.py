"""Weighted sums of squares and products: all a linear model needs to know about the rows."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from foldwise.arrays import FloatArray, IntArray

Split = tuple[IntArray, IntArray]

# A column is aliased when less than this share of its sum of squares is left. R judges by the
# norm, 1e-7 of it; sums of products carry half the digits, so we stop at 1e-5.
ALIASED = 1e-10
# A residual below this share of the total sum of squares is rounding: the fit is perfect.
PERFECT = 1e-13


class SubsetRows(NamedTuple):
    """Dense features (n, p), a target and weights."""

    X: FloatArray
    y: FloatArray
    weights: FloatArray

    def take(self, rows: IntArray) -> "SubsetRows":
        """Return some of the rows."""
        return SubsetRows(self.X[rows], self.y[rows], self.weights[rows])


@dataclass(frozen=True)
class ScaledGram:
    """Products of the columns (1, x_1, ..., x_p, y), over one set of rows or a stack of sets."""

    # weighted products of centred and scaled columns; the intercept comes first, y last
    gram: FloatArray
    centre: FloatArray  # what was subtracted from each column
    scale: FloatArray  # what each column was divided by

    @property
    def n_rows(self) -> int:
        """Number of rows: what their weights sum to, a whole number but for rounding."""
        return round(float(self.gram[0, 0]))

    @property
    def n_columns(self) -> int:
        """Number of columns of X."""
        return self.gram.shape[-1] - 2


def bordered(rows: SubsetRows, *, centred: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the columns (1, X, y), centred and scaled over all rows, with centre and scale.

    Centring loses nothing while an intercept is in every model, and keeps the digits that
    sums of products would otherwise lose.
    """
    columns = np.column_stack([np.ones(len(rows.y)), rows.X, rows.y])
    centre = np.zeros(columns.shape[1])
    shares = rows.weights / rows.weights.sum()
    if centred:
        centre[1:] = shares @ columns[:, 1:]
        columns -= centre
    scale = np.sqrt(shares @ columns**2)
    # What is left of a constant column after centring is rounding, not signal.
    scale[scale <= 1e-12 * np.abs(centre)] = 0.0
    columns[:, scale == 0] = 0.0
    scale[scale == 0] = 1.0
    return columns / scale, centre, scale


def products(columns: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted products of all pairs of columns."""
    return columns.T @ (weights[:, None] * columns)


def all_rows(rows: SubsetRows, *, centred: bool = True) -> ScaledGram:
    """Return the moments over all rows."""
    columns, centre, scale = bordered(rows, centred=centred)
    return ScaledGram(products(columns, rows.weights), centre, scale)


def by_split(
    rows: SubsetRows, splits: list[Split], *, centred: bool = True
) -> tuple[ScaledGram, ScaledGram]:
    """Return the moments of the training rows and of the test rows of every split.

    Where every row is in just one of the two, the training moments are the total less the test
    moments, so that K folds cost one pass over the rows.
    """
    columns, centre, scale = bordered(rows, centred=centred)
    weights = rows.weights
    total = products(columns, weights)
    tests = np.array([products(columns[test], weights[test]) for _, test in splits])
    trains, floors = total - tests, 1e-4 * np.diagonal(total)
    for moments, (train, test) in zip(trains, splits, strict=True):
        once = np.bincount(np.concatenate([train, test]), minlength=len(weights)) == 1
        # Training rows with next to nothing of some column would have lost its digits.
        if not once.all() or (np.diagonal(moments) < floors).any():
            moments[:] = products(columns[train], weights[train])
    return ScaledGram(trains, centre, scale), ScaledGram(tests, centre, scale)
