"""Columns and indexes of pandas as arrays, and back."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from foldwise.errors import Plain
from foldwise.files.refuse import not_saved, refused

# Types of columns whose items are written one by one, with None where one is missing.
BY_ITEM = ("str", "string", "boolean", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16",
           "UInt32", "UInt64", "Float32", "Float64")  # fmt: skip


def column_parts(column: Any) -> tuple[str, list[Any]]:
    """Return what a column or index is made of."""
    if isinstance(column, pd.RangeIndex):
        return "range", [column.name, column.start, column.stop, column.step]
    if isinstance(column, pd.MultiIndex):
        levels = [column.get_level_values(level) for level in range(column.nlevels)]
        return "levels", [list(column.names), levels]
    if isinstance(column, pd.Index):
        return "index", [column.name, column.array]
    if isinstance(column, pd.Categorical):
        return "categorical", [column.codes, column.categories, bool(column.ordered)]
    if isinstance(column, pd.arrays.NumpyExtensionArray):
        return "plain", [column.to_numpy()]
    dtype = column.dtype
    if isinstance(dtype, pd.DatetimeTZDtype):
        naive = np.asarray(column.tz_convert("UTC").tz_localize(None))
        return "zoned", [naive, str(dtype.tz)]
    if isinstance(dtype, np.dtype):
        return "plain", [np.asarray(column)]
    if str(dtype) in BY_ITEM:
        return str(dtype), [None if pd.isna(item) else _plain(item) for item in column]
    raise not_saved("hold columns of known types", Plain(str(dtype)), "Convert that column.")


def _plain(item: Any) -> Any:
    return item.item() if isinstance(item, np.generic) else item


def column_from(kind: Any, parts: list[Any], length: Callable[[int], int]) -> Any:
    """Return the column or index that was taken apart, or refuse; lengths are asked for."""
    if kind == "range":
        name, start, stop, step = parts
        length(len(range(start, stop, step)))
        return pd.RangeIndex(start, stop, step, name=name)
    if kind == "levels":
        names, levels = parts
        return pd.MultiIndex.from_arrays(levels, names=names)
    if kind == "index":
        name, values = parts
        return pd.Index(values, name=name)
    if kind == "categorical":
        codes, categories, ordered = parts
        return pd.Categorical.from_codes(codes, categories, ordered=ordered)
    if kind == "zoned":
        naive, zone = parts
        return pd.DatetimeIndex(naive).tz_localize("UTC").tz_convert(zone).array
    if kind == "plain":
        return pd.array(parts[0], dtype=parts[0].dtype)
    if kind in BY_ITEM:
        return pd.array(parts, dtype=kind)
    raise refused("hold columns of known types", kind)
