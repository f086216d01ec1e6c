"""A rule: conditions on some columns that must all hold."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import and_

from foldwise.arrays import BoolArray
from foldwise.isle.table import CodedTable
from foldwise.rules.conditions import Condition, both


@dataclass(frozen=True, slots=True)
class Rule:
    """Conditions that must all hold, one a column, in the order of the columns.

    Examples
    --------
    >>> from foldwise.rules.conditions import Interval
    >>> rule = conjunction([Interval(1, low=3.0), Interval(0, high=10.0), Interval(0, high=5.0)])
    >>> rule.features
    (0, 1)
    >>> len(rule)
    2
    """

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
