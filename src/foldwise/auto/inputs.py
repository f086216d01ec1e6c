"""The rows of a fit, in the order of time where there is one, and how they are dealt."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import (
    GroupShuffleSplit,
    ShuffleSplit,
    StratifiedShuffleSplit,
)

from foldwise.arrays import Array, IntArray
from foldwise.auto.plan import HELD_OUT, trial_order
from foldwise.auto.portfolio.member import TableProfile
from foldwise.auto.tables.values import date_format_of, parse_dates
from foldwise.checks import unknown_word
from foldwise.errors import Plain, invalid_data, invalid_parameter
from foldwise.folds.lattice import ENOUGH, folds_needed
from foldwise.learners import TrainingData

MOST_FORWARD = 5


@dataclass(frozen=True)
class AutoInputs:
    """Checked rows."""

    data: TrainingData  # the table as a pandas frame, targets or class codes, weights, groups
    given: Array  # the target as the stack on top takes it: numbers, or classes
    index: Any = None  # of all rows given
    places: IntArray | None = None  # which of the rows given each is; None: they are all of them
    cuts: IntArray | None = None  # the rows, sorted in time, that a split may begin with

    def sorted(self, owner: str, times: Array) -> "AutoInputs":
        """Return the rows from the earliest to the latest."""
        order = np.argsort(times, kind="stable")
        moved = self._taken(order)
        return replace(moved, cuts=_cuts(owner, times[order], moved.data.groups))

    def drawn(self, number: int, seed: int) -> "AutoInputs":
        """Return some rows, at random and in their order, among them one of each class."""
        rows = np.sort(trial_order(self.data, seed, number))
        cuts = None
        if self.cuts is not None:
            # Where the rows of a split may begin, its first drawn row may.
            cuts = np.unique(np.searchsorted(rows, self.cuts))
            cuts = cuts[(cuts > 0) & (cuts < len(rows))]
        return replace(self._taken(rows), cuts=cuts)

    def _taken(self, rows: IntArray) -> "AutoInputs":
        data, places = self.data, rows if self.places is None else self.places[rows]
        weight, groups = (
            None if part is None else part[rows] for part in (data.sample_weight, data.groups)
        )
        data = TrainingData(data.X.iloc[rows], data.y[rows], weight, data.n_classes, groups)
        return AutoInputs(data, self.given[rows], self.index, places)


def splitter_for(
    folds: int, profile: TableProfile, rows: AutoInputs, *, ordered: bool, seed: int
) -> Any:
    """Return what the stack takes as ``cv``."""
    if ordered:
        return _forward(int(np.clip(folds, 2, MOST_FORWARD)), profile.n_rows, rows.cuts)
    if folds > 1:
        return min(folds, _most_folds(profile, rows))
    if rows.data.groups is not None:
        return GroupShuffleSplit(1, test_size=HELD_OUT, random_state=seed)
    # As in own_splits: only a rare class is spread evenly, shares are not to be inherited.
    plain = profile.regression or not 2 <= profile.smallest_class < ENOUGH / HELD_OUT
    kind = ShuffleSplit if plain else StratifiedShuffleSplit
    return kind(1, test_size=HELD_OUT, random_state=seed)


def _most_folds(profile: TableProfile, rows: AutoInputs) -> int:
    """Return into how many folds rows can be dealt, so that nothing is to be said of it."""
    groups = rows.data.groups
    most = profile.n_rows if groups is None else len(np.unique(groups))
    if not profile.regression:
        most = min(most, max(profile.smallest_class, folds_needed(1)))
    return max(most, 2)


def _forward(folds: int, n_rows: int, cuts: IntArray | None) -> Any:
    """Return splits forward in time that cut neither through a time nor through a group."""
    assert cuts is not None
    wanted = n_rows - n_rows // (folds + 1) * np.arange(folds, 0, -1)
    after = np.searchsorted(cuts, wanted).clip(1, len(cuts) - 1)
    near = np.where(wanted - cuts[after - 1] < cuts[after] - wanted, cuts[after - 1], cuts[after])
    starts = np.unique(near)
    if len(starts) < 2:
        starts = cuts[:: max(len(cuts) - 1, 1)]
    rows, ends = np.arange(n_rows), [*starts[1:], n_rows]
    return [(rows[:start], rows[start:end]) for start, end in zip(starts, ends, strict=True)]


def _cuts(owner: str, times: Array, groups: Array | None) -> IntArray:
    """Return where a new time begins and every group before has ended."""
    begins = np.append(False, times[1:] != times[:-1])
    what = f"{begins.sum() + 1} different times"
    if groups is not None:
        _, codes = np.unique(groups, return_inverse=True)
        last = np.zeros(codes.max() + 1, dtype=np.intp)
        np.maximum.at(last, codes, np.arange(len(codes)))
        begins[1:] &= np.maximum.accumulate(last[codes])[:-1] < np.arange(1, len(codes))
        what = f"{what} that groups join to {begins.sum() + 1}"
    if begins.sum() < 2:
        raise invalid_data(
            owner,
            "time_column",
            must="leave three times or more whose rows and groups can be kept apart",
            got=Plain(what),
            fix="Leave out time_column, or groups that go on in time.",
        )
    return np.flatnonzero(begins)


def times_of(owner: str, frame: pd.DataFrame, time_column: Any) -> Array:
    """Return the time of each row, as numbers or dates.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"day": ["2024-02-01", "2024-01-31", "2024-03-01"]})
    >>> times_of("x", frame, "day").argsort()
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
    return column.to_numpy()


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
