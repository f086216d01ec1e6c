"""Learners that a stacker gives no weight, and that need not be asked about new rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from foldwise.stack.own_stackers import WeightedMean


def idle_learners(stacker: Any, names: Sequence[str]) -> frozenset[str]:
    """Return the learners whose predictions cannot change what a stacker says.

    Examples
    --------
    >>> import numpy as np
    >>> mean = WeightedMean("nnls")
    >>> mean.weights_ = np.array([1.0, 0.0])
    >>> idle_learners(mean, ["ridge", "knn"])
    frozenset({'knn'})
    """
    if not isinstance(stacker, WeightedMean):
        return frozenset()
    weights = np.atleast_2d(stacker.weights_)
    return frozenset(
        name for name, column in zip(names, weights.T, strict=True) if not column.any()
    )
