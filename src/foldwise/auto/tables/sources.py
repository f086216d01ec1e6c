"""From the columns of a frame to one matrix of numbers, names included, before cleaning."""

from typing import Any

import numpy as np
import pandas as pd

from foldwise.arrays import FloatArray, IntArray
from foldwise.auto.tables.dates import PARTS, date_parts
from foldwise.auto.tables.kinds import ColumnKind
from foldwise.auto.tables.levels import Levels, indicators
from foldwise.auto.tables.target_means import level_means, out_of_fold_means
from foldwise.auto.tables.texts import HashedText
from foldwise.auto.tables.values import dates_of, numbers_of, truths_of


class Plain:
    """Numbers and truth values: one column each."""

    def __init__(self, column: ColumnKind) -> None:
        self.name = column.name
        self.truth = column.kind == "boolean"
        self.names = [column.name]

    def fit_transform(self, cells: Any) -> FloatArray:
        """Return the cells of training rows."""
        return self.transform(cells)

    def transform(self, cells: Any) -> FloatArray:
        """Return the cells as one column."""
        read = truths_of if self.truth else numbers_of
        return read(cells).reshape(-1, 1)


class DateParts:
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


class Texts:
    """Free text: hashed n-grams."""

    def __init__(self, column: ColumnKind, width: int, seed: int) -> None:
        self.name = column.name
        self.hashed = HashedText(width, seed)

    def fit_transform(self, cells: Any) -> FloatArray:
        """Learn the directions, and return the training cells along them."""
        values = self.hashed.fit_transform(cells)
        self.names = [f"{self.name} ({part})" for part in self.hashed.names]
        return values

    def transform(self, cells: Any) -> FloatArray:
        """Return new cells along the directions."""
        return self.hashed.transform(cells)


class Ordinal:
    """Categories: the number of the level; unknown levels count as missing."""

    def __init__(self, name: str, levels: Levels, absent: float) -> None:
        self.name = name
        self.levels = levels
        self.absent = absent
        self.names = [name]

    def fit_transform(self, cells: Any) -> FloatArray:
        """Return the codes of the training cells."""
        return self.transform(cells)

    def transform(self, cells: Any) -> FloatArray:
        """Return the codes of cells."""
        codes = self.levels.codes(cells)
        known = (codes >= 0) & (codes < len(self.levels.words))
        return np.where(known, codes, self.absent).reshape(-1, 1).astype(np.float64)


class TargetMeans:
    """Categories: the mean target of their level, for training rows out of fold."""

    def __init__(
        self, name: str, levels: Levels, targets: FloatArray, titles: list[str], folds: IntArray
    ) -> None:
        self.name = name
        self.levels = levels
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


class OneHot:
    """Categories: a column a level."""

    def __init__(self, name: str, levels: Levels) -> None:
        self.name = name
        self.levels = levels
        words = levels.names[1:] if len(levels) == 2 else levels.names
        self.names = [f"{name} = {word}" for word in words]

    def transform(self, cells: Any) -> FloatArray:
        """Return zeros and ones."""
        return indicators(self.levels.codes(cells), len(self.levels))


class Kept:
    """Categories: a pandas categorical; unknown levels are missing."""

    def __init__(self, name: str, levels: Levels) -> None:
        self.name = name
        self.levels = levels
        self.names = [name]

    def transform(self, cells: Any) -> Any:
        """Return codes that know their levels."""
        codes = self.levels.codes(cells)
        codes = np.where(codes < len(self.levels.words), codes, -1)
        return pd.Categorical.from_codes(codes, categories=pd.Index(self.levels.words))
