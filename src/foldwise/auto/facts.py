"""What is known about a problem before anything is fitted."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import skew

from foldwise.arrays import Array
from foldwise.auto.tables import Kinds
from foldwise.auto.tables.kinds import DROPPED

SKEWED = 1.0
MOST_LEVELS = 40


@dataclass(frozen=True)
class Facts:
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

    @property
    def regression(self) -> bool:
        """Whether the target is a number."""
        return self.n_classes is None


def facts_of(
    kinds: Kinds, y: Array, *, n_classes: int | None = None, weighted: bool = False
) -> Facts:
    """Return the facts of a problem.

    Examples
    --------
    >>> import numpy as np
    >>> from foldwise.auto.tables import column_kinds
    >>> kinds = column_kinds(np.arange(8).reshape(4, 2))
    >>> facts_of(kinds, np.array([1.0, 2.0, 4.0, 80.0])).positive_skewed
    True
    >>> facts_of(kinds, np.array([-1.0, 2.0, 4.0, 80.0])).positive_skewed
    False
    """
    width = sum(_width(column.kind, column.n_distinct) for column in kinds)
    if n_classes is not None:
        smallest = int(np.unique(y, return_counts=True)[1].min())
        return Facts(len(y), width, n_classes, smallest, weighted)
    positive = bool((y >= 0).all()) and float(np.ptp(y)) > 0
    return Facts(
        len(y),
        width,
        weighted=weighted,
        positive_skewed=positive and float(skew(y)) > SKEWED,
        has_zero=bool((y == 0).any()),
    )


def _width(kind: str, n_distinct: int) -> int:
    if kind in DROPPED:
        return 0
    return {"category": min(n_distinct, MOST_LEVELS), "text": 17, "date": 8}.get(kind, 1)
