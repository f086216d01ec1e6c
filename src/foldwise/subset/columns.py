"""Which columns may come and go, which always stay, and which move together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from foldwise.arrays import BoolArray, IntArray
from foldwise.checks import check_type
from foldwise.errors import did_you_mean, invalid_parameter

LISTS = {"forced": ("columns", "Try [0]."), "column_groups": ("lists of columns", "Try [[0, 1]].")}


@dataclass(frozen=True)
class Choice:
    """What there is to choose from. Columns are counted from 1; 0 is the intercept."""

    units: list[list[int]]  # columns that come and go together, in order
    forced: list[int]  # columns in every model, the intercept first where there is one
    max_size: int  # most columns of a subset, forced ones not counted

    @property
    def widths(self) -> list[int]:
        """Number of columns of each unit."""
        return [len(unit) for unit in self.units]

    @property
    def n_always(self) -> int:
        """Number of columns, without the intercept, that are in every model."""
        return sum(column > 0 for column in self.forced)

    @property
    def n_subsets(self) -> int:
        """Number of subsets to choose from."""
        return count_subsets(self.widths, self.max_size)

    @property
    def everything(self) -> IntArray:
        """All columns, the forced ones first."""
        return self.columns(np.ones(len(self.units), dtype=bool))

    def columns(self, kept: BoolArray) -> IntArray:
        """Return the forced columns, then those of a subset of the units."""
        pairs = zip(self.units, kept.tolist(), strict=True)
        chosen = [column for unit, inside in pairs if inside for column in unit]
        return np.array([*self.forced, *chosen], dtype=np.intp)

    def sizes(self, kept: BoolArray) -> IntArray:
        """Return the number of columns, forced ones included, of each of the subsets."""
        return np.asarray(kept @ np.array(self.widths, dtype=np.intp) + self.n_always)

    def with_intercept(self, kept: BoolArray, n_columns: int) -> BoolArray:
        """Return which of the columns (1, x_1, ..., x_p) are in each of the subsets of units."""
        wide = np.zeros((len(self.units), n_columns + 1), dtype=bool)
        for unit, row in zip(self.units, wide, strict=True):
            row[unit] = True
        inside: BoolArray = kept.astype(np.float32) @ wide > 0
        inside[:, self.forced] = True
        return inside

    def support(self, kept: BoolArray, n_columns: int) -> BoolArray:
        """Return which columns of X are in each of the subsets (n_subsets, n_units)."""
        return self.with_intercept(kept, n_columns)[:, 1:]

    def subsets(self) -> BoolArray:
        """Return all subsets of units (n_subsets, n_units), those of fewest columns first."""
        n_units, blocks = len(self.units), []
        for size in range(min(self.max_size, n_units) + 1):
            chosen = np.array(list(combinations(range(n_units), size)), dtype=np.intp)
            block = np.zeros((len(chosen), n_units), dtype=bool)
            np.put_along_axis(block, chosen.reshape(len(chosen), size), True, axis=1)
            blocks.append(block)
        kept = np.concatenate(blocks)
        sizes = kept @ np.array(self.widths, dtype=np.intp)
        order = np.argsort(sizes, kind="stable")
        return kept[order[sizes[order] <= self.max_size]]


def count_subsets(widths: Sequence[int], max_size: int) -> int:
    """Return how many subsets of units have at most ``max_size`` columns in all."""
    if max_size >= sum(widths):
        return 1 << len(widths)
    if set(widths) <= {1}:
        return sum(comb(len(widths), size) for size in range(min(max_size, len(widths)) + 1))
    ways = np.zeros(sum(widths) + 1, dtype=object)
    ways[0] = 1
    for width in widths:
        ways[width:] = ways[width:] + ways[:-width]
    return int(sum(ways[: max_size + 1]))


def choose_from(
    owner: str,
    n_columns: int,
    names: Sequence[str] | None = None,
    forced: Iterable[Any] | None = None,
    groups: Iterable[Iterable[Any]] | None = None,
    *,
    intercept: bool = True,
) -> Choice:
    """Return the choice that the parameters ``forced`` and ``column_groups`` describe."""
    known = [] if names is None else list(names)

    def position(parameter: str, column: Any) -> int:
        if isinstance(column, str):
            if column in known:
                return known.index(column)
            must = "name columns of X"
            fix = did_you_mean(column, known) if known else "X had no names: use positions."
        elif isinstance(column, int | np.integer) and 0 <= column < n_columns:
            return int(column)
        else:
            must = f"hold names or positions from 0 to {n_columns - 1}"
            fix = "Count columns from 0."
        raise invalid_parameter(owner, parameter, must=must, got=column, fix=fix)

    def each(parameter: str, values: Any) -> Iterable[Any]:
        values = () if values is None else values
        what, fix = LISTS[parameter]
        check_type(owner, parameter, values, Iterable, f"be a list of {what}", fix)
        return values

    always = [position("forced", c) for c in each("forced", forced)]
    groups = [each("column_groups", group) for group in each("column_groups", groups)]
    together = [[position("column_groups", c) for c in group] for group in groups]
    taken = [*always, *(column for group in together for column in group)]
    for column in taken:
        if taken.count(column) > 1:
            got = known[column] if known else column
            must, fix = "name each column once, and no forced one", "Take it out of one place."
            raise invalid_parameter(owner, "column_groups", must=must, got=got, fix=fix)
    alone = [[column] for column in range(n_columns) if column not in set(taken)]
    units = sorted([c + 1 for c in sorted(unit)] for unit in [*together, *alone] if unit)
    forced_columns = [0] * intercept + sorted(column + 1 for column in always)
    return Choice(units, forced_columns, max_size=sum(map(len, units)))
