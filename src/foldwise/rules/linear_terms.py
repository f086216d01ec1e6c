"""Linear terms: the columns themselves, without their extremes, scaled to weigh like a rule."""

from dataclasses import dataclass, fields

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.isle.data import CodedTable

TYPICAL_RULE_DEVIATION = 0.4
"""Mean of sqrt(s (1 − s)) over supports s, about π/8: the spread of a typical rule."""


@dataclass(frozen=True)
class LinearTerms:
    """Winsorised, centred columns: ``scale · (min(high, max(low, x)) − mean)``."""

    features: IntArray  # columns used
    low: FloatArray  # where each column is cut off
    high: FloatArray  # where each column is cut off
    mean: FloatArray  # of the cut-off columns
    deviation: FloatArray  # of the cut-off columns

    def __len__(self) -> int:
        return len(self.features)

    @property
    def scale(self) -> FloatArray:
        """What the centred column is multiplied by."""
        return TYPICAL_RULE_DEVIATION / self.deviation

    def values(self, table: CodedTable) -> FloatArray:
        """Return the terms, shape (n_rows, n_terms); a missing value counts as the mean."""
        out = np.empty((table.n_rows, len(self)))
        for k, feature in enumerate(self.features):
            cut = np.clip(table.column(int(feature)), self.low[k], self.high[k])
            out[:, k] = np.nan_to_num(cut - self.mean[k], nan=0.0) * self.scale[k]
        return out

    def __getitem__(self, kept: IntArray) -> "LinearTerms":
        return LinearTerms(*(getattr(self, each.name)[kept] for each in fields(self)))


def weighted_quantile(values: FloatArray, weight: FloatArray, q: float) -> float:
    """Return the smallest value that at least a share q of the weight does not exceed.

    Examples
    --------
    >>> float(weighted_quantile(np.array([3.0, 1.0, 2.0]), np.ones(3), 0.5))
    2.0
    """
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weight[order])
    position = np.searchsorted(cumulative, q * cumulative[-1] * (1 - 1e-12))
    return float(values[order[min(int(position), len(order) - 1)]])


def linear_terms(table: CodedTable, weight: FloatArray, tail: float = 0.025) -> LinearTerms:
    """Return the linear terms of the numeric columns of a table."""
    found: list[tuple[float, float, float, float, float]] = []
    for feature in range(len(table.columns.names)):
        if feature in table.columns.levels:
            continue
        column = table.column(feature)
        known = ~np.isnan(column)
        ends = _ends(column[known], weight[known], tail)
        if ends is not None:
            found.append((feature, *ends))
    stacked = np.array(found).reshape(-1, 5).T
    return LinearTerms(stacked[0].astype(np.intp), *stacked[1:])


def _ends(x: FloatArray, w: FloatArray, tail: float) -> tuple[float, float, float, float] | None:
    if not len(x) or x.min() == x.max():
        return None
    low, high = weighted_quantile(x, w, tail), weighted_quantile(x, w, 1 - tail)
    if low == high:
        low, high = float(x.min()), float(x.max())
    cut = np.clip(x, low, high)
    mean = float(np.average(cut, weights=w))
    deviation = float(np.sqrt(np.average((cut - mean) ** 2, weights=w)))
    return (low, high, mean, deviation) if deviation > 0 else None
