"""What a branch and bound search looks for: limits on the residual sum of squares by size."""

from typing import Protocol

import numpy as np

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.subset.criteria import Score, largest_rss
from foldwise.subset.moments import PERFECT
from foldwise.subset.sinks import TIE


class Goal(Protocol):
    """A subset of size s is wanted when its residual sum of squares is below ``limits[s]``."""

    limits: FloatArray

    def offer(self, rss: FloatArray, kept: BoolArray) -> None:
        """Look at subsets (n_subsets, n_columns) and their residual sums of squares."""


def earlier(kept: BoolArray, other: BoolArray) -> bool:
    """Tell whether a subset comes before another of its size in lexicographic order."""
    return bytes(kept) > bytes(other)


class BestOfEachSize:
    """The subset with the least residual sum of squares of every size up to ``max_size``."""

    def __init__(self, n_columns: int, max_size: int, total: float) -> None:
        self.rss = np.full(n_columns + 1, np.inf)
        self.kept = np.zeros((n_columns + 1, n_columns), dtype=bool)
        self.limits = np.where(np.arange(n_columns + 1) <= max_size, np.inf, 0.0)
        self._perfect = PERFECT * total

    def offer(self, rss: FloatArray, kept: BoolArray) -> None:
        """Keep the best of each size."""
        sizes = kept.sum(axis=1)
        for size in np.unique(sizes):
            of_size = np.flatnonzero(sizes == size)
            lowest = rss[of_size].min()
            for i in of_size[rss[of_size] <= lowest * (1 + TIE)]:
                self._consider(int(size), float(rss[i]), kept[i])

    def _consider(self, size: int, rss: float, kept: BoolArray) -> None:
        tied = rss < self.rss[size] * (1 + TIE) and earlier(kept, self.kept[size])
        if rss < self.rss[size] * (1 - TIE) or tied:
            self.kept[size] = kept
        self.rss[size] = min(rss, self.rss[size])
        if self.limits[size]:
            # Nothing beats a perfect fit, and rounding must not be searched.
            hopeless = self.rss[size] <= self._perfect
            self.limits[size] = 0.0 if hopeless else self.rss[size] * (1 + TIE)


class WithinWindow:
    """All subsets that score within ``slack`` of the best, at most ``at_most`` of them.

    ``score``: Score of a residual sum of squares and a size; lower is better.
    """

    def __init__(
        self,
        score: Score,
        n_columns: int,
        max_size: int,
        total: float,
        slack: float = 0.0,
        at_most: int = 1,
    ) -> None:
        self.score = score
        self.slack = slack
        self.at_most = at_most
        self._seen: set[bytes] = set()
        self._sizes = np.arange(n_columns + 1)
        self._wanted = self._sizes <= max_size
        self._total = total
        self.scores = np.empty(0)
        self.rss = np.empty(0)
        self.kept = np.empty((0, n_columns), dtype=bool)
        self.limits = np.where(self._wanted, np.inf, 0.0)

    def offer(self, rss: FloatArray, kept: BoolArray) -> None:
        """Keep what falls into the window, and narrow it."""
        new = self._unseen(kept)
        if not len(new):
            return
        rss, kept = rss[new], kept[new]
        scores = self.score(rss, kept.sum(axis=1))
        scores = np.concatenate([self.scores, np.where(scores < np.inf, scores, np.nan)])
        rss, kept = np.concatenate([self.rss, rss]), np.concatenate([self.kept, kept])
        if np.isnan(scores).all():
            return
        inside = np.flatnonzero(scores <= np.nanmin(scores) + self.slack + self._rounding(scores))
        order = inside[self._rank(scores[inside], kept[inside])]
        order = order[: self.at_most]
        self.scores, self.rss, self.kept = scores[order], rss[order], kept[order]
        bound = self.scores[0] + self.slack
        if len(order) == self.at_most:
            bound = min(bound, self.scores[-1])
        limits = largest_rss(self.score, self._sizes, bound + self._rounding(scores), self._total)
        self.limits = np.where(self._wanted, limits, 0.0)

    def _unseen(self, kept: BoolArray) -> IntArray:
        """Return the rows that were never offered before."""
        new = []
        for i, row in enumerate(np.packbits(kept, axis=1)):
            key = row.tobytes()
            if key not in self._seen:
                self._seen.add(key)
                new.append(i)
        return np.array(new, dtype=np.intp)

    def _rounding(self, scores: FloatArray) -> float:
        return TIE * max(1.0, abs(float(np.nanmin(scores))))

    def _rank(self, scores: FloatArray, kept: BoolArray) -> IntArray:
        """Order by score; ties by size, then lexicographically."""
        steps = np.round(scores / self._rounding(scores) / 2)
        by_columns = tuple(~column for column in kept.T[::-1])
        return np.lexsort((*by_columns, kept.sum(axis=1), steps))
