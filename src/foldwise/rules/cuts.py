"""Cut points with few digits: where between two data values to say the split is."""

import math
from functools import cache

import numpy as np

from foldwise.arrays import FloatArray
from foldwise.isle.table import CodedTable


def short_number_between(low: float, high: float) -> float:
    """Return the number with the fewest decimals in the middle half of [low, high].

    Examples
    --------
    >>> short_number_between(5.23718, 5.24125)
    5.24
    >>> short_number_between(1999.0, 3500.0)
    3000.0
    """
    gap = high - low
    if not 0 < gap < math.inf:
        return low
    middle = low + gap / 2
    decimals = -math.floor(math.log10(gap)) - 1
    for digits in range(decimals, decimals + 4):
        candidate = round(middle, digits)
        if abs(candidate - middle) <= gap / 4 and low <= candidate < high:
            return float(candidate)
    return middle if low <= middle < high else low


class Cuts:
    """Moves a cut point to the shortest number that splits the training rows the same way.

    In a column of whole numbers the cut is put on the lower neighbour, ``x <= 5``, else
    near the middle between the neighbours. One sort a column asked about.
    """

    def __init__(self, table: CodedTable) -> None:
        self._table = table
        self._sorted = cache(self._sorted_values)
        self.move = cache(self._move)
        self.has_missing = cache(self._has_missing)

    def _sorted_values(self, feature: int) -> tuple[FloatArray, bool]:
        values = np.unique(self._table.column(feature))
        values = values[~np.isnan(values)]
        return values, bool(np.all(values == np.round(values)))

    def _has_missing(self, feature: int) -> bool:
        return bool(np.isnan(self._table.column(feature)).any())

    def _move(self, feature: int, threshold: float) -> float:
        values, whole = self._sorted(feature)
        above = int(np.searchsorted(values, threshold, side="right"))
        if above == len(values):
            return math.inf
        if above == 0:
            return -math.inf
        low, high = float(values[above - 1]), float(values[above])
        return low if whole else short_number_between(low, high)
