"""Linear terms: columns of numbers without their extremes, scaled to weigh like a rule; levels."""

from dataclasses import dataclass, fields

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.isle.data import CodedTable

# Mean of sqrt(s (1 − s)) over supports s, about π/8: the spread of a typical rule.
TYPICAL_RULE_DEVIATION = 0.4

# Share of the weight from which on a level has a term: at most a hundred a column.
RAREST_LEVEL = 0.01


@dataclass(frozen=True)
class LinearTerms:
    """Winsorised columns, ``scale · (min(high, max(low, x)) − mean)``, or ``x = level``."""

    features: IntArray  # columns used
    level: FloatArray  # of columns of categories, the code the term is one for; else NaN
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

    def matrix(self, table: CodedTable) -> FloatArray:
        """Return the terms, shape (n_rows, n_terms); a missing number counts as the mean."""
        out = np.empty((table.n_rows, len(self)))
        for k, feature in enumerate(self.features):
            column = table.column(int(feature))
            if self.level[k] >= 0:
                out[:, k] = column == self.level[k]
            else:
                cut = np.clip(column, self.low[k], self.high[k])
                out[:, k] = np.nan_to_num(cut - self.mean[k], nan=0.0) * self.scale[k]
        return out

    def __getitem__(self, kept: IntArray) -> "LinearTerms":
        return LinearTerms(*(getattr(self, each.name)[kept] for each in fields(self)))


def weighted_quantile(values: FloatArray, weight: FloatArray, q: float) -> float:
    """Return the smallest value that at least a share q of the weight does not exceed."""
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weight[order])
    position = np.searchsorted(cumulative, q * cumulative[-1] * (1 - 1e-12))
    return float(values[order[min(int(position), len(order) - 1)]])


def linear_terms(table: CodedTable, weight: FloatArray, tail: float = 0.025) -> LinearTerms:
    """Return the linear terms of the columns of numbers, and the levels that are not rare."""
    found: list[tuple[float, ...]] = []
    for feature in range(len(table.columns.names)):
        column = table.column(feature)
        known = ~np.isnan(column)
        if feature in table.columns.levels:
            shares = np.bincount(column[known].astype(np.intp), weight[known]) / weight.sum()
            often = np.flatnonzero(shares >= RAREST_LEVEL).tolist()
            found += [(feature, code, 0.0, 1.0, 0.0, TYPICAL_RULE_DEVIATION) for code in often]
            continue
        ends = _ends(column[known], weight[known], tail)
        if ends is not None:
            found.append((feature, np.nan, *ends))
    stacked = np.array(found).reshape(-1, 6).T
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
