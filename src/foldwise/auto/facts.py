"""What is known about a problem before anything is fitted."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import skew

SKEWED = 1.0


@dataclass(frozen=True)
class Facts:
    """What decides which learners are tried, never which of them are used.

    Attributes
    ----------
    n_rows, n_columns : int
        Size of the table.
    n_classes : int or None
        Number of classes; None for regression.
    weighted : bool
        Whether rows have weights.
    positive_skewed : bool
        Whether the target has no negative value and a long upper tail, so that its logarithm
        is worth trying.
    has_zero : bool
        Whether the target is zero somewhere.
    """

    n_rows: int
    n_columns: int
    n_classes: int | None = None
    weighted: bool = False
    positive_skewed: bool = False
    has_zero: bool = False

    @property
    def regression(self) -> bool:
        """Whether the target is a number."""
        return self.n_classes is None


def facts_of(
    shape: tuple[int, int], y: NDArray[Any], *, n_classes: int | None = None, weighted: bool = False
) -> Facts:
    """Return the facts of a problem.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns of the table.
    y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Targets or class codes.
    n_classes : int or None
        Number of classes.
    weighted : bool, default=False
        Whether rows have weights.

    Returns
    -------
    Facts
        Read-only.

    Examples
    --------
    >>> import numpy as np
    >>> facts_of((4, 2), np.array([1.0, 2.0, 4.0, 80.0])).positive_skewed
    True
    >>> facts_of((4, 2), np.array([-1.0, 2.0, 4.0, 80.0])).positive_skewed
    False
    """
    if n_classes is not None:
        return Facts(*shape, n_classes, weighted)
    one = y.ndim == 1 and bool((y >= 0).all()) and float(np.ptp(y)) > 0
    return Facts(*shape, None, weighted, one and float(skew(y)) > SKEWED, bool((y == 0).any()))
