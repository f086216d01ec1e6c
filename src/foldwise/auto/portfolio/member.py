"""What is known about a problem, and one entry of the portfolio: a learner that may suit it."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.stats import skew

from foldwise.arrays import Array
from foldwise.auto.tables import Kinds
from foldwise.auto.tables.kinds import DROPPED

SKEWED = 1.0
MOST_LEVELS = 40


@dataclass(frozen=True)
class TableProfile:
    """What decides which learners are tried, never which of them are used."""

    n_rows: int  # number of rows
    width: int  # number of columns, categories counted once a level
    n_classes: int | None = None  # number of classes; None for regression
    smallest_class: int = 0  # rows of the rarest class
    weighted: bool = False  # whether rows have weights
    # whether the target has no negative value and a long upper tail, so that its logarithm is
    # worth trying
    positive_skewed: bool = False
    has_zero: bool = False  # whether the target is zero somewhere
    size: float = 1.0  # number of trees and rounds, relative to the learners' own
    seconds: float = float("inf")  # the time budget
    n_numbers: int = 0  # number of columns of numbers
    n_categories: int = 0  # number of columns of categories
    most_levels: int = 0  # of one of them

    @property
    def regression(self) -> bool:
        """Whether the target is a number."""
        return self.n_classes is None

    def trees(self, number: int) -> int:
        """Return a number of trees, at least ten."""
        return max(int(number * self.size), 10)


def profile_of(
    kinds: Kinds,
    y: Array,
    *,
    n_classes: int | None = None,
    weighted: bool = False,
    size: float = 1.0,
    seconds: float = float("inf"),
) -> TableProfile:
    """Return what is known about a problem before anything is fitted."""
    width = sum(_width(column.kind, column.n_distinct) for column in kinds)
    levels = [column.n_distinct for column in kinds if column.kind == "category"]
    known: dict[str, Any] = {
        "weighted": weighted,
        "size": size,
        "seconds": seconds,
        "n_numbers": sum(column.kind == "number" for column in kinds),
        "n_categories": len(levels),
        "most_levels": max(levels, default=0),
    }
    if n_classes is not None:
        smallest = int(np.unique(y, return_counts=True)[1].min())
        return TableProfile(len(y), width, n_classes, smallest, **known)
    positive = bool((y >= 0).all()) and float(np.ptp(y)) > 0
    skewed, has_zero = positive and float(skew(y)) > SKEWED, bool((y == 0).any())
    return TableProfile(len(y), width, positive_skewed=skewed, has_zero=has_zero, **known)


def _width(kind: str, n_distinct: int) -> int:
    if kind in DROPPED:
        return 0
    return {"category": min(n_distinct, MOST_LEVELS), "text": 17, "date": 8}.get(kind, 1)


@dataclass(frozen=True)
class Contender:
    """A learner of the portfolio, which may be tried.

    Attributes
    ----------
    name : str
        Its name on the leaderboard.
    encoding : str
        How it wants the table, one of those in ``portfolio/encodings.py``.
    build : callable
        Returns the learner for a problem.
    tier : int
        The first preset that tries it: 1 fast, 2 balanced, 3 best.
    rows : tuple of int
        Fewest and most rows it is tried for.
    width : float
        Most columns, categories counted once a level, it is tried for.
    cells : float
        Most rows times columns it is tried for: what it makes of them is many times as large.
    numbers : int
        Fewest columns of numbers.
    categories : int
        Fewest columns of categories.
    levels : int
        Fewest levels that one of the categories must have.
    crowded : bool
        Whether every class needs more rows than there are such columns.
    classes : int
        Most classes it is tried for.
    package : str
        What must be installed.
    takes_weights : bool
        Whether it takes sample weights.
    power : float
        Its time grows with this power of the number of rows.
    log : bool
        Whether it is the variant for the logarithm of a skewed positive target.
    least_seconds : float
        The shortest time budget it is fitted in, as the last one and without a trial: some
        libraries take seconds to load.
    on_card : float
        The same where there is a graphics card.
    early : bool
        Whether it is fitted first, not last: others are fitted beside it.
    """

    name: str
    encoding: str
    build: Callable[[TableProfile], Any]
    tier: int = 2
    rows: tuple[int, float] = (0, float("inf"))
    width: float = float("inf")
    cells: float = float("inf")
    numbers: int = 0
    categories: int = 0
    levels: int = 0
    crowded: bool = False
    classes: float = float("inf")
    package: str = "sklearn"
    takes_weights: bool = True
    power: float = 1.0
    log: bool = False
    least_seconds: float = 0.0
    on_card: float = float("inf")
    early: bool = False

    def suits(self, profile: TableProfile) -> bool:
        """Tell whether it is worth trying for a problem."""
        return (
            self.rows[0] <= profile.n_rows <= self.rows[1]
            and profile.width <= self.width
            and profile.n_rows * profile.width <= self.cells
            and profile.n_numbers >= self.numbers
            and profile.n_categories >= self.categories
            and profile.most_levels >= self.levels
            and (not self.crowded or profile.smallest_class > 2 * profile.width)
            and (profile.n_classes or 0) <= self.classes
            and (self.takes_weights or not profile.weighted)
            and (profile.positive_skewed or not self.log)
            and find_spec(self.package) is not None
        )
