"""Columns of numbers made fit for learners: infinities, missing cells, scales."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.preprocessing import QuantileTransformer

from foldwise.arrays import BoolArray, FloatArray, IntArray

LARGEST = 1e30
SCALES = ("standard", "squash", "quantile")
SQUASHED_TO = 3.0
N_QUANTILES = 256
# Nearer to the first or last quantile than this is scikit-learn's end of a column.
AT_THE_END = 1e-7
# What is worked on at a time.
BLOCK_CELLS = 4_000_000


class NumberCleaner:
    """Cleans a matrix of numbers by what its training rows held.

    An infinite cell counts as the column's largest or smallest finite one, and no number is
    beyond 1e30: single precision, which forests use, ends at 3e38.

    ``impute``: Replace missing cells by the column's median, and mark them in columns of their own.
    """

    def __init__(self, impute: bool, scale: str | None, seed: int) -> None:
        self.impute = impute
        self.scale = scale
        self.seed = seed

    def fit_transform(self, values: FloatArray) -> FloatArray:
        """Learn what the columns hold, and return them cleaned, in the same memory if that goes."""
        self.low, self.high = _extremes(values)
        values = self._bounded(values)
        missing = np.isnan(values)
        self.median = _medians(values) if self.impute else np.empty(0)
        self.marked = _different_columns(missing) if self.impute else np.empty(0, dtype=np.intp)
        self.scaler = _fitted_scaler(self.scale, values, self.seed)
        return self._finish(values, missing)

    def transform(self, values: FloatArray) -> FloatArray:
        """Return new rows, cleaned as the training rows were, in the same memory if that goes."""
        values = self._bounded(values)
        return self._finish(values, np.isnan(values))

    def _bounded(self, values: FloatArray) -> FloatArray:
        highest = np.fmax.reduce(values, axis=None, initial=-np.inf)
        if max(highest, -np.fmin.reduce(values, axis=None, initial=np.inf)) <= LARGEST:
            return values
        inside = np.clip(values, -LARGEST, LARGEST)
        return np.where(np.isinf(values), np.clip(values, self.low, self.high), inside)

    def _finish(self, values: FloatArray, missing: BoolArray) -> FloatArray:
        if self.impute:
            np.copyto(values, self.median, where=missing)
        if self.scaler is not None:
            values = self.scaler.transform(values)
        if not len(self.marked):
            return values
        return np.column_stack([values, missing[:, self.marked]])


def _extremes(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return smallest and largest finite number of each column, 0 where there is none."""
    low = np.fmin.reduce(values, axis=0, initial=np.inf)
    high = np.fmax.reduce(values, axis=0, initial=-np.inf)
    for j in np.flatnonzero(~np.isfinite(low) | ~np.isfinite(high)):
        finite = values[np.isfinite(values[:, j]), j]
        low[j], high[j] = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    return np.clip(low, -LARGEST, LARGEST), np.clip(high, -LARGEST, LARGEST)


def _medians(values: FloatArray) -> FloatArray:
    """Return the median of each column, 0 where all is missing."""
    out = np.zeros(values.shape[1])
    for start, block in _column_blocks(values):
        some = np.flatnonzero(~np.isnan(block).all(axis=0))
        out[start + some] = np.nanmedian(block[:, some], axis=0)
    return out


def _column_blocks(values: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    """Yield the columns, a few at a time, with the number of the first: sorting copies them."""
    step = max(1, BLOCK_CELLS // max(len(values), 1))
    for start in range(0, values.shape[1], step):
        yield start, values[:, start : start + step]


def _different_columns(missing: BoolArray) -> IntArray:
    """Return columns with missing cells, one of those that miss the same cells."""
    patterns: dict[bytes, int] = {}
    for j in np.flatnonzero(missing.any(axis=0)):
        patterns.setdefault(missing[:, j].tobytes(), int(j))
    return np.array(list(patterns.values()), dtype=np.intp)


class Shift:
    """Centres and divides; ``squash`` bends smoothly into (-3, 3), extremes in order."""

    def __init__(self, centre: FloatArray, width: FloatArray, *, squash: bool = False) -> None:
        self.centre, self.width, self.squash = centre, width, squash

    def transform(self, values: FloatArray) -> FloatArray:
        """Return the rows rescaled, in the same memory."""
        values -= self.centre
        values /= self.width
        if self.squash:
            step = max(1, BLOCK_CELLS // max(values.shape[1], 1))
            for start in range(0, len(values), step):
                z = values[start : start + step]
                z /= np.sqrt(1.0 + (z / SQUASHED_TO) ** 2)
        return values


class NormalRanks:
    """Gives columns the quantiles of a normal, as scikit-learn's transformer, which is slow to ask.

    Shapes: quantiles (n_columns, n_quantiles), references (n_quantiles,).
    """

    def __init__(self, quantiles: FloatArray, references: FloatArray) -> None:
        self.quantiles, self.references = quantiles, references

    def transform(self, values: FloatArray) -> FloatArray:
        """Return the rows rescaled, in the same memory."""
        up, down = self.references, -self.references[::-1]
        for column, own in zip(values.T, self.quantiles, strict=True):
            first, last = column - AT_THE_END < own[0], column + AT_THE_END > own[-1]
            # Of equal quantiles, the middle of the first and the last one.
            column[:] = 0.5 * (np.interp(column, own, up) - np.interp(-column, -own[::-1], down))
            column[last], column[first] = 1.0, 0.0
        ndtri(values, out=values)
        ends = ndtri(AT_THE_END - np.spacing(1)), ndtri(1 - (AT_THE_END - np.spacing(1)))
        return np.clip(values, *ends, out=values)


def _fitted_scaler(scale: str | None, values: FloatArray, seed: int) -> Any:
    if scale == "standard":
        return Shift(*_mean_and_deviation(values))
    if scale == "squash":
        return Shift(*_median_and_width(values), squash=True)
    if scale == "quantile" and values.shape[1]:
        n_quantiles = max(1, min(N_QUANTILES, len(values)))
        quantiles = QuantileTransformer(
            n_quantiles=n_quantiles, output_distribution="normal", random_state=seed
        )
        quantiles.fit(values)
        return NormalRanks(np.ascontiguousarray(quantiles.quantiles_.T), quantiles.references_)
    return None


def _mean_and_deviation(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    count = np.maximum((~np.isnan(values)).sum(axis=0), 1)
    mean = np.nansum(values, axis=0) / count
    variance = np.nansum((values - mean) ** 2, axis=0) / count
    tiny = 10 * np.finfo(np.float64).eps * np.abs(mean)
    deviation = np.sqrt(variance)
    return mean, np.where(deviation > tiny, deviation, 1.0)


def _median_and_width(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the median, and the quartile range as of a normal, or the half range if that is 0."""
    quantiles = np.empty((5, values.shape[1]))
    medians = _medians(values)
    for start, block in _column_blocks(values):
        here = slice(start, start + block.shape[1])
        filled = np.where(np.isnan(block), medians[here], block)
        quantiles[:, here] = np.quantile(filled, [0.0, 0.25, 0.5, 0.75, 1.0], axis=0)
    low, quarter, middle, three_quarters, high = quantiles
    width = (three_quarters - quarter) / 1.349
    width = np.where(width > 0, width, (high - low) / 2.0)
    return middle, np.where(width > 0, width, 1.0)
