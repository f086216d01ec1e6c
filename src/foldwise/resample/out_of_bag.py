"""What the learners say about the rows they did not have."""

from collections.abc import Callable

import numpy as np

from foldwise.arrays import FloatArray, IntArray
from foldwise.boost.learner import Table
from foldwise.resample.bag import Member
from foldwise.resample.draws import Draws


def out_of_bag(
    members: list[Member],
    seeds: list[int],
    draws: Draws,
    table: Table,
    tally: Callable[[Member, Table], FloatArray],
    width: int,
) -> FloatArray:
    """Return the mean answer to each row of the learners that did not have it.

    Shapes: returns (n_samples, width).
    """
    total, asked = np.zeros((len(table), width)), np.zeros(len(table))
    for member, seed in zip(members, seeds, strict=True):
        rows = np.flatnonzero(draws.rows(seed) == 0)
        if len(rows):
            total[rows] += tally(member, table.rows(rows)).reshape(len(rows), width)
            asked[rows] += 1
    seen = asked > 0
    result = np.full_like(total, np.nan)
    result[seen] = total[seen] / asked[seen, None]
    return result


def mean_and_error(
    influence: FloatArray, weight: FloatArray, group: IntArray | None
) -> tuple[float, float]:
    """Return the weighted mean of row-wise numbers and its standard error.

    Examples
    --------
    >>> import numpy as np
    >>> mean, error = mean_and_error(np.array([0.0, 1.0, 0.0, 1.0]), np.ones(4), None)
    >>> mean, round(error, 4)
    (0.5, 0.2887)
    """
    if not len(influence):
        return np.nan, np.nan
    share = weight / weight.sum()
    mean = float(share @ influence)
    parts, masses = share * (influence - mean), share
    if group is not None:
        parts, masses = np.bincount(group, weights=parts), np.bincount(group, weights=share)
    n_units = max(int(np.count_nonzero(masses)), 2)
    return mean, float(np.sqrt(np.sum(parts**2) * n_units / (n_units - 1)))


def r2_with_error(
    y: FloatArray, prediction: FloatArray, weight: FloatArray, group: IntArray | None
) -> tuple[float, float]:
    """Return R² and its standard error, by the delta method from the rows.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0.0, 1.0, 2.0, 3.0])
    >>> r2_with_error(y, y, np.ones(4), None)
    (1.0, 0.0)
    """
    if not len(y):
        return np.nan, np.nan
    share = weight / weight.sum()
    squared, around = (y - prediction) ** 2, (y - share @ y) ** 2
    variance = float(share @ around)
    if variance <= 0:
        return (1.0 if not squared.any() else 0.0), 0.0
    loss = float(share @ squared) / variance
    _, error = mean_and_error(squared / variance - loss * around / variance, weight, group)
    return 1 - loss, error


def accuracy_with_error(
    codes: IntArray, share_of_votes: FloatArray, weight: FloatArray, group: IntArray | None
) -> tuple[float, float]:
    """Return the accuracy and its standard error.

    Examples
    --------
    >>> import numpy as np
    >>> votes = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> accuracy_with_error(np.array([0, 1]), votes, np.ones(2), None)
    (1.0, 0.0)
    """
    right = (share_of_votes.argmax(axis=1) == codes).astype(float)
    return mean_and_error(right, weight, group)
