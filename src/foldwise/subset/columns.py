"""Which columns may come and go, which always stay, and which move together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foldwise.arrays import BoolArray, IntArray
from foldwise.errors import did_you_mean, invalid_parameter


@dataclass(frozen=True)
class Choice:
    """What there is to choose from. Columns are counted from 1; 0 is the intercept."""

    units: list[list[int]]  # columns that come and go together, in order
    forced: list[int]  # columns in every model, the intercept first where there is one

    @property
    def widths(self) -> list[int]:
        """Number of columns of each unit."""
        return [len(unit) for unit in self.units]

    @property
    def n_always(self) -> int:
        """Number of columns, without the intercept, that are in every model."""
        return sum(column > 0 for column in self.forced)

    def columns(self, kept: BoolArray) -> IntArray:
        """Return the forced columns, then those of a subset of the units."""
        pairs = zip(self.units, kept.tolist(), strict=True)
        chosen = [column for unit, inside in pairs if inside for column in unit]
        return np.array([*self.forced, *chosen], dtype=np.intp)

    def support(self, kept: BoolArray, n_columns: int) -> BoolArray:
        """Return which columns of X are in each of the subsets (n_subsets, n_units)."""
        wide = np.zeros((len(self.units), n_columns + 1), dtype=bool)
        for unit, row in zip(self.units, wide, strict=True):
            row[unit] = True
        inside: BoolArray = kept.astype(np.float32) @ wide > 0
        inside[:, self.forced] = True
        return inside[:, 1:]


def choose_from(
    owner: str,
    n_columns: int,
    names: Sequence[str] | None,
    forced: Iterable[Any] | None,
    groups: Iterable[Iterable[Any]] | None,
    *,
    intercept: bool,
) -> Choice:
    """Return the choice that the parameters ``forced`` and ``column_groups`` describe."""
    always = [_position(owner, "forced", c, n_columns, names) for c in forced or ()]
    together = [
        [_position(owner, "column_groups", c, n_columns, names) for c in g] for g in groups or ()
    ]
    taken = [*always, *(column for group in together for column in group)]
    for column in taken:
        if taken.count(column) > 1:
            raise invalid_parameter(
                owner,
                "column_groups",
                must="name each column once, and no forced one",
                got=names[column] if names is not None else column,
                fix="Take it out of one place.",
            )
    alone = [[column] for column in range(n_columns) if column not in set(taken)]
    units = sorted(
        [[c + 1 for c in sorted(group)] for group in together if group]
        + [[c + 1 for c in unit] for unit in alone]
    )
    return Choice(units, [0] * intercept + sorted(column + 1 for column in always))


def _position(
    owner: str, parameter: str, column: Any, n_columns: int, names: Sequence[str] | None
) -> int:
    if isinstance(column, str):
        known = list(names) if names is not None else []
        if column not in known:
            raise invalid_parameter(
                owner,
                parameter,
                must="name columns of X",
                got=column,
                fix=did_you_mean(column, known) if known else "X had no names: use positions.",
            )
        return known.index(column)
    if not isinstance(column, int | np.integer) or not 0 <= column < n_columns:
        raise invalid_parameter(
            owner,
            parameter,
            must=f"hold names or positions from 0 to {n_columns - 1}",
            got=column,
            fix="Count columns from 0.",
        )
    return int(column)
