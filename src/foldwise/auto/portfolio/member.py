"""One entry of the portfolio."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from foldwise.auto.facts import Facts


@dataclass(frozen=True)
class Settings:
    """What every learner of a portfolio is built with.

    Attributes
    ----------
    facts : Facts
        Size and kind of the problem.
    size : float
        Number of trees and rounds, relative to the learners' own.
    """

    facts: Facts
    size: float = 1.0

    def trees(self, number: int) -> int:
        """Return a number of trees, at least ten."""
        return max(int(number * self.size), 10)


@dataclass(frozen=True)
class Member:
    """A learner that may be tried.

    Attributes
    ----------
    name : str
        Its name on the leaderboard.
    encoding : {"native", "ordinal", "onehot", "normal", "spline", "named"}
        How it wants the table, see :mod:`foldwise.auto.encodings`.
    build : callable
        Returns the learner for some settings.
    tier : int
        The first preset that tries it: 1 fast, 2 balanced, 3 best.
    rows : tuple of int
        Fewest and most rows it is tried for.
    width : float
        Most columns, categories counted once a level, it is tried for.
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
    """

    name: str
    encoding: str
    build: Callable[[Settings], Any]
    tier: int = 2
    rows: tuple[int, float] = (0, float("inf"))
    width: float = float("inf")
    crowded: bool = False
    classes: float = float("inf")
    package: str = "sklearn"
    takes_weights: bool = True
    power: float = 1.0
    log: bool = False

    def suits(self, facts: Facts) -> bool:
        """Tell whether it is worth trying for a problem."""
        return (
            self.rows[0] <= facts.n_rows <= self.rows[1]
            and facts.width <= self.width
            and (not self.crowded or facts.smallest_class > 2 * facts.width)
            and (facts.n_classes or 0) <= self.classes
            and (self.takes_weights or not facts.weighted)
            and (facts.positive_skewed or not self.log)
            and find_spec(self.package) is not None
        )
