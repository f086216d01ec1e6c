"""All columns of a table encoded together: which way each goes, and in what order they come out."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.auto.tables.cleaning import NumberCleaner
from foldwise.auto.tables.kinds import ColumnKind
from foldwise.auto.tables.levels import Levels, is_quantity, random_folds, target_columns
from foldwise.auto.tables.sources import (
    ColumnSource,
    DateParts,
    HashedText,
    Kept,
    Numbers,
    OneHot,
    Ordinal,
    TargetMeans,
)
from foldwise.errors import invalid_data

Encoded = tuple[FloatArray, dict[str, pd.Categorical]]
N_FOLDS = 5


@dataclass(frozen=True)
class Choices:
    """How columns are encoded; the parameters of the encoder."""

    numbers: str
    categories: str
    scale: str | None
    high_cardinality: int
    text_width: int
    task: str
    random_state: int | None

    @property
    def impute(self) -> bool:
        """Whether missing numbers are replaced."""
        return self.numbers == "impute"

    @property
    def seed(self) -> int:
        """The random state, 0 for none."""
        return self.random_state or 0


class Blocks:
    """The columns in use, sorted by what is done with them."""

    def __init__(self, columns: list[ColumnKind], choices: Choices) -> None:
        self.columns = columns
        self.choices = choices

    def fit_transform(self, frame: pd.DataFrame, y: Array | None) -> Encoded:
        """Learn from the training rows and return them, by the target out of fold."""
        self.measured: list[ColumnSource] = []
        self.binary: list[OneHot] = []
        self.kept: list[Kept] = []
        means = _MeansOfTarget(self.choices, y)
        for column in self.columns:
            self._sort(column, frame[column.name], means)
        matrix = _joined([s.fit_transform(frame[s.name]) for s in self.measured], len(frame))
        choices = self.choices
        self.cleaner = NumberCleaner(choices.impute, choices.scale, choices.seed)
        cleaned = self.cleaner.fit_transform(matrix)
        self._name()
        return self._finish(cleaned, frame)

    def transform(self, frame: pd.DataFrame) -> Encoded:
        """Return new rows."""
        matrix = _joined([s.transform(frame[s.name]) for s in self.measured], len(frame))
        return self._finish(self.cleaner.transform(matrix), frame)

    def _sort(self, column: ColumnKind, cells: Any, means: "_MeansOfTarget") -> None:
        choices = self.choices
        if column.kind == "date":
            self.measured.append(DateParts(column))
        elif column.kind == "text":
            self.measured.append(HashedText(column.name, choices.text_width, choices.seed))
        elif column.kind != "category":
            self.measured.append(Numbers(column))
        else:
            self._sort_category(column.name, Levels(cells), means)

    def _sort_category(self, name: str, levels: Levels, means: "_MeansOfTarget") -> None:
        how = self.choices.categories
        if how == "target" or len(levels) > self.choices.high_cardinality:
            self.measured.append(means.of(name, levels))
        elif how == "ordinal":
            absent = -1.0 if self.choices.impute else np.nan
            self.measured.append(Ordinal(name, levels, absent))
        elif how == "onehot":
            self.binary.append(OneHot(name, levels))
        else:
            self.kept.append(Kept(name, levels))

    def _name(self) -> None:
        named = [(name, source.name) for source in self.measured for name in source.names]
        named += [(f"{named[j][1]} (missing)", named[j][1]) for j in self.cleaner.marked]
        coded: list[ColumnSource] = [*self.binary, *self.kept]
        named += [(name, source.name) for source in coded for name in source.names]
        self.names = [name for name, _ in named]
        self.sources = [source for _, source in named]

    def _finish(self, cleaned: FloatArray, frame: pd.DataFrame) -> Encoded:
        binary = [source.transform(frame[source.name]) for source in self.binary]
        kept = {source.name: source.transform(frame[source.name]) for source in self.kept}
        return _joined([cleaned, *binary], len(frame)), kept


class _MeansOfTarget:
    """What is needed to encode by the target, made when first asked for."""

    def __init__(self, choices: Choices, y: Array | None) -> None:
        self.choices, self.y = choices, y

    @cached_property
    def ready(self) -> tuple[FloatArray, list[str], IntArray]:
        """What is averaged, its names, and the fold of each row."""
        assert self.y is not None
        columns, titles = target_columns(self.y, is_quantity(self.y, self.choices.task))
        n_folds = max(1, min(N_FOLDS, len(self.y)))
        return columns, titles, random_folds(len(self.y), n_folds, self.choices.seed)

    def of(self, name: str, levels: Levels) -> TargetMeans:
        if self.y is None:
            raise invalid_data(
                "TableEncoder",
                "y",
                must=f"be given to encode the {len(levels)} levels of {name!r} by the target",
                got=None,
                fix="Pass y to fit, or raise high_cardinality.",
            )
        return TargetMeans(name, levels, *self.ready)


def _joined(parts: list[FloatArray], n_rows: int) -> FloatArray:
    return np.column_stack(parts) if parts else np.empty((n_rows, 0))
