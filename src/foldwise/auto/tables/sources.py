"""From one column of a frame to columns of numbers, names included, before cleaning."""

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

from foldwise.arrays import FloatArray, IntArray
from foldwise.auto.tables.kinds import ColumnKind
from foldwise.auto.tables.levels import Levels, indicators, level_means, out_of_fold_means
from foldwise.auto.tables.values import dates_of, numbers_of, text_of, truths_of

PARTS = ("days", "year", "month", "day", "weekday", "day of year", "hour", "minute")
EPOCH = np.datetime64("2000-01-01", "us")
DAY = np.timedelta64(1, "D").astype("timedelta64[us]").astype(np.float64)
BUCKETS = 2**14


class ColumnSource(ABC):
    """How the cells of one column become numbers; ``names`` are those of the new columns."""

    name: str
    names: list[str]

    def fit_transform(self, cells: Any) -> FloatArray:
        """Learn from the training cells, where there is something to learn, and return them."""
        return np.asarray(self.transform(cells))

    @abstractmethod
    def transform(self, cells: Any) -> Any:
        """Return new cells."""


class Numbers(ColumnSource):
    """Numbers and truth values: one column each."""

    def __init__(self, column: ColumnKind) -> None:
        self.name = column.name
        self.truth = column.kind == "boolean"
        self.names = [column.name]

    def transform(self, cells: Any) -> FloatArray:
        """Return the cells as one column."""
        read = truths_of if self.truth else numbers_of
        return read(cells).reshape(-1, 1)


class DateParts(ColumnSource):
    """Dates: the parts that differ in the training rows."""

    def __init__(self, column: ColumnKind) -> None:
        self.name = column.name
        self.date_format = column.date_format

    def fit_transform(self, cells: Any) -> FloatArray:
        """Learn which parts differ, and return them."""
        parts = date_parts(dates_of(cells, self.date_format))
        first = parts[~np.isnan(parts).any(axis=1)][:1]
        differ = (parts != first) & ~np.isnan(parts) if len(first) else parts == parts
        self.kept = np.flatnonzero(differ.any(axis=0)) if differ.any() else np.array([0])
        self.names = [f"{self.name} ({PARTS[k]})" for k in self.kept]
        return parts[:, self.kept]

    def transform(self, cells: Any) -> FloatArray:
        """Return the parts of new cells."""
        return date_parts(dates_of(cells, self.date_format))[:, self.kept]


def date_parts(dates: NDArray[np.datetime64]) -> FloatArray:
    """Return the parts of points in time, NaN where there is none.

    Shapes: returns (n_samples, 8).
    """
    index = pd.DatetimeIndex(dates)
    days = (dates - EPOCH).astype(np.float64) / DAY
    days[np.isnat(dates)] = np.nan
    calendar = [index.year, index.month, index.day, index.day_of_week, index.day_of_year]
    clock = [index.hour, index.minute]
    parts = [np.asarray(part, dtype=np.float64) for part in [*calendar, *clock]]
    return np.column_stack([days, *parts])


class HashedText(ColumnSource):
    """Free text: a few numbers.

    Words and pairs of neighbouring words are hashed into 16,384 buckets (nothing is stored but
    weights), weighted by rarity, and projected to the directions of most variance. The length of
    the text is kept beside them. A missing text is an empty one.
    """

    def __init__(self, name: str, width: int, seed: int) -> None:
        self.name = name
        self.width = width
        self.seed = seed

    def fit_transform(self, cells: Any) -> FloatArray:
        """Learn the weights and directions, and return the numbers of the same cells."""
        text = text_of(cells).fillna("")
        counts = _word_counts(text)
        self.weights = TfidfTransformer(sublinear_tf=True)
        width = max(1, min(self.width, counts.shape[0] - 1))
        self.directions = TruncatedSVD(width, random_state=self.seed)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            # The explained share of texts that are all empty is 0 / 0; it is not used.
            warnings.simplefilter("ignore", RuntimeWarning)
            found = self.directions.fit_transform(self.weights.fit_transform(counts))
        parts = ["length", *(f"text {k}" for k in range(width))]
        self.names = [f"{self.name} ({part})" for part in parts]
        return np.column_stack([_text_lengths(text), found])

    def transform(self, cells: Any) -> FloatArray:
        """Return the numbers of new cells."""
        text = text_of(cells).fillna("")
        found = self.directions.transform(self.weights.transform(_word_counts(text)))
        return np.column_stack([_text_lengths(text), found])


def _word_counts(text: Any) -> Any:
    words: dict[str, Any] = {"ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b"}
    return HashingVectorizer(
        n_features=BUCKETS, alternate_sign=False, norm=None, **words
    ).transform(text)


def _text_lengths(text: Any) -> FloatArray:
    return np.log1p(text.str.len().to_numpy(dtype=np.float64))


class Ordinal(ColumnSource):
    """Categories: the number of the level; unknown levels count as missing."""

    def __init__(self, name: str, levels: Levels, absent: float) -> None:
        self.name, self.levels, self.absent = name, levels, absent
        self.names = [name]

    def transform(self, cells: Any) -> FloatArray:
        """Return the codes of cells."""
        codes = self.levels.codes(cells)
        known = (codes >= 0) & (codes < len(self.levels.words))
        return np.where(known, codes, self.absent).reshape(-1, 1).astype(np.float64)


class TargetMeans(ColumnSource):
    """Categories: the mean target of their level, for training rows out of fold."""

    def __init__(
        self, name: str, levels: Levels, targets: FloatArray, titles: list[str], folds: IntArray
    ) -> None:
        self.name, self.levels = name, levels
        self.names = [f"{name} ({title})" for title in titles]
        self._training = (targets, folds)

    def fit_transform(self, cells: Any) -> FloatArray:
        """Learn the means of all training rows; return each row's from the other folds."""
        targets, folds = self._training
        del self._training
        codes, n_levels = self.levels.codes(cells), len(self.levels)
        self.means = level_means(codes, targets, n_levels)
        return out_of_fold_means(codes, targets, n_levels, folds)

    def transform(self, cells: Any) -> FloatArray:
        """Return the means of the levels of new cells."""
        return self.means[self.levels.codes(cells)]


class OneHot(ColumnSource):
    """Categories: a column a level."""

    def __init__(self, name: str, levels: Levels) -> None:
        self.name, self.levels = name, levels
        words = levels.names[1:] if len(levels) == 2 else levels.names
        self.names = [f"{name} = {word}" for word in words]

    def transform(self, cells: Any) -> FloatArray:
        """Return zeros and ones."""
        return indicators(self.levels.codes(cells), len(self.levels))


class Kept(ColumnSource):
    """Categories: a pandas categorical; unknown levels are missing."""

    def __init__(self, name: str, levels: Levels) -> None:
        self.name, self.levels = name, levels
        self.names = [name]

    def transform(self, cells: Any) -> Any:
        """Return codes that know their levels."""
        codes = self.levels.codes(cells)
        codes = np.where(codes < len(self.levels.words), codes, -1)
        return pd.Categorical.from_codes(codes, categories=pd.Index(self.levels.words))


class Codes(ColumnSource):
    """Categories: the number of the level as a whole number, missing a level where it was seen."""

    def __init__(self, name: str, levels: Levels) -> None:
        self.name, self.levels = name, levels
        self.names = [name]

    def transform(self, cells: Any) -> IntArray:
        """Return the codes of cells, -1 for unknown levels."""
        return self.levels.codes(cells)
