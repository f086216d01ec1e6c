"""Rows and columns as numbers, whatever they came as: arrays, sparse matrices, data frames."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse

from foldwise.arrays import Array, FloatArray
from foldwise.errors import unsupported


@dataclass(frozen=True)
class Columns:
    """What the columns are called, and the levels of those that hold categories."""

    names: tuple[str, ...]  # one a column
    # for each column of categories, the values its codes 0, 1, ... stand for.
    levels: dict[int, tuple[Any, ...]]

    @classmethod
    def numeric(cls, n_features: int) -> Self:
        """Return columns of numbers called x0, x1, ..."""
        return cls(tuple(f"x{j}" for j in range(n_features)), {})


@dataclass(frozen=True)
class CodedTable:
    """A table of numbers; missing is NaN, categories are codes."""

    values: Any  # (n_rows, n_features): the numbers
    columns: Columns  # what they mean

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    def column(self, feature: int) -> FloatArray:
        """Return one column as a dense array."""
        if sparse.issparse(self.values):
            return self.values[:, [feature]].toarray().ravel()
        return self.values[:, feature]

    def rows(self, selected: Array) -> "CodedTable":
        """Return the table of the selected rows (a mask or indices)."""
        values = self.values.tocsr()[selected].tocsc() if sparse.issparse(self.values) else None
        return CodedTable(self.values[selected] if values is None else values, self.columns)

    def can_be_split(self) -> bool:
        """Say whether some column has two different values."""
        for feature in range(len(self.columns.names)):
            column = self.column(feature)
            known = column[~np.isnan(column)]
            if len(known) and known.min() < known.max():
                return True
        return False


def is_frame(X: Any) -> bool:
    """Say whether X is a data frame (pandas or polars)."""
    return hasattr(X, "columns") and hasattr(X, "__getitem__") and hasattr(X, "shape")


def frame_levels(X: Any, owner: str) -> dict[int, tuple[Any, ...]]:
    """Return the levels of every column of categories (category, text, bool) of a data frame."""
    found: dict[int, tuple[Any, ...]] = {}
    for position, name in enumerate(X.columns):
        series = _series(X, name)
        if pd.api.types.is_numeric_dtype(series) and not pd.api.types.is_bool_dtype(series):
            continue
        if pd.api.types.is_datetime64_any_dtype(series):
            raise unsupported(
                owner,
                "X",
                must="hold numbers, categories, text or booleans",
                got=f"dates in {name!r}",
                fix="Turn dates into numbers first, e.g. year, month and weekday.",
            )
        values = pd.Categorical(series).remove_unused_categories().categories
        found[position] = tuple(_plain(value) for value in values)
    return found


def frame_numbers(X: Any, levels: dict[int, tuple[Any, ...]]) -> FloatArray:
    """Return a data frame as numbers; a level not in ``levels`` gets the next free code.

    Shapes: returns (n_rows, n_features).
    """
    numbers = np.empty(X.shape, dtype=np.float64)
    for position, name in enumerate(X.columns):
        series = _series(X, name)
        if position not in levels:
            numbers[:, position] = pd.to_numeric(series).to_numpy(dtype=float, na_value=np.nan)
            continue
        plain = series.astype(object).map(_plain, na_action="ignore")
        codes = pd.Index(levels[position]).get_indexer(plain).astype(float)
        codes[codes < 0] = len(levels[position])
        codes[series.isna().to_numpy()] = np.nan
        numbers[:, position] = codes
    return numbers


def _series(X: Any, name: Any) -> "pd.Series[Any]":
    column = X[name]
    return column if isinstance(column, pd.Series) else pd.Series(column.to_numpy())


def _plain(value: Any) -> Any:
    """Return the value as text, number or bool, so that it can be written down and read back."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float | bool) else str(value)
