"""Rows in the order of a time column."""

from typing import Any

import numpy as np
import pandas as pd

from foldwise.arrays import IntArray
from foldwise.auto.tables.values import date_format_of, parse_dates
from foldwise.errors import Plain, did_you_mean, invalid_data, invalid_parameter


def order_in_time(owner: str, frame: pd.DataFrame, time_column: Any) -> IntArray:
    """Return the rows from the earliest to the latest.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"day": ["2024-02-01", "2024-01-31", "2024-03-01"]})
    >>> order_in_time("x", frame, "day")
    array([1, 0, 2])
    """
    column = _column(owner, frame, time_column)
    if not pd.api.types.is_numeric_dtype(column) and column.dtype.kind != "M":
        column = _dates(owner, column)
    missing = int(column.isna().sum())
    if missing:
        raise invalid_data(
            owner,
            "time_column",
            must="hold a time in every row",
            got=Plain(f"{missing} missing"),
            fix="Drop these rows.",
        )
    return np.argsort(column.to_numpy(), kind="stable")


def _column(owner: str, frame: pd.DataFrame, time_column: Any) -> "pd.Series[Any]":
    names = [str(name) for name in frame.columns]
    if isinstance(time_column, str) and time_column in names:
        return frame.iloc[:, names.index(time_column)]
    whole = isinstance(time_column, int | np.integer) and not isinstance(time_column, bool)
    if whole and 0 <= time_column < len(names):
        return frame.iloc[:, int(time_column)]
    raise invalid_parameter(
        owner,
        "time_column",
        must="be a column of X",
        got=time_column,
        fix=did_you_mean(time_column, names),
    )


def _dates(owner: str, column: "pd.Series[Any]") -> "pd.Series[Any]":
    words = column.dropna().astype(str)
    date_format = date_format_of(words.drop_duplicates())
    if not date_format:
        raise invalid_parameter(
            owner,
            "time_column",
            must="hold numbers or dates",
            got=str(words.iloc[0]) if len(words) else None,
            fix="Write dates like 2024-01-31.",
        )
    return pd.Series(parse_dates(column.astype(object).astype(str), date_format))
