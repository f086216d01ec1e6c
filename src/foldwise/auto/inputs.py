"""The rows of a fit, in the order of time where there is one, and how they are dealt."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import (
    GroupShuffleSplit,
    ShuffleSplit,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)

from foldwise.arrays import Array, IntArray
from foldwise.auto.plan import HELD_OUT
from foldwise.auto.portfolio.member import TableProfile
from foldwise.auto.tables.values import date_format_of, parse_dates
from foldwise.checks import unknown_word
from foldwise.errors import Plain, invalid_data, invalid_parameter
from foldwise.learners import TrainingData

MOST_FORWARD = 5


@dataclass(frozen=True)
class AutoInputs:
    """Checked rows."""

    data: TrainingData  # the table as a pandas frame, targets or class codes, weights, groups
    given: Array  # the target as the stack on top takes it: numbers, or classes
    order: IntArray | None = None  # where each row stood before they were sorted in time

    def sorted(self, order: IntArray) -> "AutoInputs":
        """Return the rows in another order."""
        data = self.data
        moved = TrainingData(
            data.X.iloc[order],
            data.y[order],
            None if data.sample_weight is None else data.sample_weight[order],
            data.n_classes,
            None if data.groups is None else data.groups[order],
        )
        return AutoInputs(moved, self.given[order], order)


def splitter_for(
    folds: int, profile: TableProfile, rows: AutoInputs, *, ordered: bool, seed: int
) -> Any:
    """Return what the stack takes as ``cv``."""
    if ordered:
        return TimeSeriesSplit(int(np.clip(folds, 2, min(MOST_FORWARD, profile.n_rows - 1))))
    if folds > 1:
        return folds
    if rows.data.groups is not None:
        return GroupShuffleSplit(1, test_size=HELD_OUT, random_state=seed)
    plain = profile.regression or profile.smallest_class < 2
    kind = ShuffleSplit if plain else StratifiedShuffleSplit
    return kind(1, test_size=HELD_OUT, random_state=seed)


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
    raise unknown_word(owner, "time_column", time_column, names, "be a column of X")


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
