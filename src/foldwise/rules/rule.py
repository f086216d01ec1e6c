"""Rules: conditions that must all hold, each a range of numbers or a set of categories."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import and_

import numpy as np

from foldwise.arrays import BoolArray, FloatArray
from foldwise.isle.data import CodedTable


@dataclass(frozen=True, slots=True)
class Interval:
    """``low < x <= high``, and whether a missing x passes too."""

    feature: int  # column asked about
    low: float = -math.inf  # ends of the range; infinite for none
    high: float = math.inf  # ends of the range; infinite for none
    missing: bool = False  # whether a missing value passes

    def __and__(self, other: "Interval") -> "Interval":
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low >= high:
            low = high = math.inf
        return Interval(self.feature, low, high, self.missing and other.missing)

    def holds(self, column: FloatArray) -> BoolArray:
        """Return which values of the column pass."""
        passed: BoolArray = column <= self.high
        if self.low > -math.inf:
            passed &= column > self.low
        if self.missing:
            passed |= np.isnan(column)
        return passed


@dataclass(frozen=True, slots=True)
class Members:
    """``x in codes`` (or not in, when excluded), and whether a missing x passes too."""

    feature: int  # column asked about; it holds category codes
    codes: frozenset[int]  # the categories named
    # true asks for a category outside ``codes``. One never seen in training is outside.
    excluded: bool = False
    missing: bool = False  # whether a missing value passes

    def __and__(self, other: "Members") -> "Members":
        match self.excluded, other.excluded:
            case True, True:
                codes, excluded = self.codes | other.codes, True
            case False, True:
                codes, excluded = self.codes - other.codes, False
            case True, False:
                codes, excluded = other.codes - self.codes, False
            case _:
                codes, excluded = self.codes & other.codes, False
        return Members(self.feature, codes, excluded, self.missing and other.missing)

    def holds(self, column: FloatArray) -> BoolArray:
        """Return which values of the column pass."""
        passed: BoolArray = np.isin(column, list(self.codes), invert=self.excluded)
        absent = np.isnan(column)
        passed[absent] = self.missing
        return passed


Condition = Interval | Members


def both(first: Condition, second: Condition) -> Condition:
    """Return the condition that asks two conditions on one column."""
    match first, second:
        case Interval(), Interval():
            return first & second
        case Members(), Members():
            return first & second
        case _:
            raise TypeError("a column holds numbers or categories, not both")


@dataclass(frozen=True, slots=True)
class Rule:
    """Conditions that must all hold, one a column, in the order of the columns."""

    # at most one for each column. Use :func:`conjunction` to build a rule from conditions that
    # may speak of the same column.
    conditions: tuple[Condition, ...]

    def __len__(self) -> int:
        return len(self.conditions)

    @property
    def features(self) -> tuple[int, ...]:
        """The columns the rule asks about."""
        return tuple(condition.feature for condition in self.conditions)

    def holds(self, table: CodedTable) -> BoolArray:
        """Return which rows of the table the rule selects."""
        columns = (c.holds(table.column(c.feature)) for c in self.conditions)
        return reduce(and_, columns)


def conjunction(conditions: Iterable[Condition]) -> Rule:
    """Return the rule that asks all the conditions, said as shortly as possible."""
    merged: dict[int, Condition] = {}
    for condition in conditions:
        known = merged.get(condition.feature)
        merged[condition.feature] = condition if known is None else both(known, condition)
    return Rule(tuple(merged[feature] for feature in sorted(merged)))
