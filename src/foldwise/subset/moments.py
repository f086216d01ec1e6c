"""Weighted sums of squares and products: all a linear model needs to know about the rows."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from foldwise.arrays import BoolArray, FloatArray, IntArray

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

    Where train and test are complements the training moments are the total less the test
    moments, so that K folds cost one pass over the rows.
    """
    columns, centre, scale = bordered(rows, centred=centred)
    weights = rows.weights
    total = products(columns, weights)
    tests = _products_by_part(columns, weights, [test for _, test in splits])
    trains = total - tests
    again = ~_are_complements(splits, len(weights)) | _digits_lost(trains, total)
    for split in np.flatnonzero(again):
        train, _ = splits[split]
        trains[split] = products(columns[train], weights[train])
    return ScaledGram(trains, centre, scale), ScaledGram(tests, centre, scale)


def _products_by_part(
    columns: FloatArray, weights: FloatArray, parts: list[IntArray]
) -> FloatArray:
    """Return the products over each part of the rows; parts of one length in one go."""
    if len({len(rows) for rows in parts}) > 1:
        return np.array([products(columns[rows], weights[rows]) for rows in parts])
    rows = np.array(parts)
    taken = columns[rows]
    return taken.transpose(0, 2, 1) @ (weights[rows][..., None] * taken)


def _are_complements(splits: list[Split], n_rows: int) -> BoolArray:
    """Return for each split whether every row is in exactly one of its two parts."""
    seen = np.zeros((len(splits), n_rows), dtype=bool)
    once = np.zeros(len(splits), dtype=bool)
    for split, (train, test) in enumerate(splits):
        seen[split, train] = seen[split, test] = True
        once[split] = len(train) + len(test) == n_rows
    return once & seen.all(axis=1)


def _digits_lost(left: FloatArray, total: FloatArray) -> BoolArray:
    """Tell of each split whether its training rows hold next to nothing of some column."""
    squares = np.diagonal(left, axis1=-2, axis2=-1)
    return np.asarray((squares < 1e-4 * np.diagonal(total)).any(axis=-1))
