"""The interval of a score: on the scale of its loss, and wider where few rows carry it."""

import numpy as np
from scipy.stats import t

from foldwise.arrays import FloatArray, IntArray

LEVEL = 0.95
# By simulation of means of squared t and normal errors and of log-losses: with fewer degrees
# intervals explode, with more those of heavy tails are too narrow.
FEWEST_DEGREES = 3.0
FEW = 0.2


def carriers(contributions: FloatArray) -> float:
    """Return how many of n contributions carry the error: one if a single one does, at most n.

    Examples
    --------
    >>> import numpy as np
    >>> carriers(np.array([1.0, -1.0, 1.0, -1.0])), carriers(np.array([5.0, 0.0, 0.0]))
    (4.0, 1.0)
    """
    squares = contributions**2
    total = float(np.sum(squares**2))
    return float(np.sum(squares)) ** 2 / total if total > 0 else float(len(squares))


def degrees_of_freedom(contributions: FloatArray) -> float:
    """Return how sure a standard error is: as sure as the rows that carry it can make it.

    Fewer carriers than the root of the number of rows are a sign of heavy tails, of which the worst
    may not have been seen: they count for less.

    Examples
    --------
    >>> import numpy as np
    >>> degrees_of_freedom(np.array([1.0, -1.0] * 50)), degrees_of_freedom(np.array([9.0, 0.0]))
    (100.0, 3.0)
    """
    found, root = carriers(contributions), float(np.sqrt(len(contributions)))
    return max(found * min(1.0, found / root), FEWEST_DEGREES)


def score_interval(score: float, error: float, degrees: float, best: float) -> tuple[float, float]:
    """Return the ends of the 95 % interval of a score, in the scorer's sign.

    The loss is what is missing to the ``best`` score there can be. Losses are skewed, and small
    ones come with small standard errors, so the interval is made for the logarithm of the loss,
    with the t quantile for the ``degrees`` of freedom of the error. A score with no loss to speak
    of has the symmetric one.

    Examples
    --------
    >>> [round(end, 2) for end in score_interval(-1.0, 0.1, 1e9, 0.0)]
    [-1.22, -0.82]
    >>> [round(end, 2) for end in score_interval(3.0, 0.1, 1e9, 0.0)]
    [2.8, 3.2]
    """
    half = float(t.ppf((1 + LEVEL) / 2, degrees)) * error
    loss = best - score
    if not loss > 0:
        return score - half, score + half
    return best - loss * float(np.exp(half / loss)), best - loss * float(np.exp(-half / loss))


def heavy_rows(losses: FloatArray, weight: FloatArray | None = None) -> IntArray:
    """Return the rows that carry more than half of the error, the heaviest first, if few do.

    That is where fewer than a fifth of the rows carry the loss: of squares of normal errors a third
    do, of those without a fourth moment ever fewer.

    Examples
    --------
    >>> import numpy as np
    >>> heavy_rows(np.array([1.0, 99.0, *np.ones(30)])), heavy_rows(np.arange(9.0))
    (array([1]), array([], dtype=int64))
    """
    share = np.full(len(losses), 1 / len(losses)) if weight is None else weight / weight.sum()
    if carriers(np.sqrt(share * np.abs(losses))) >= FEW * len(losses):
        return np.empty(0, dtype=np.intp)
    parts = share * (losses - share @ losses)
    order = np.argsort(-np.abs(parts), kind="stable")
    squares = np.cumsum(parts[order] ** 2)
    return order[: int(np.searchsorted(squares, 0.5 * squares[-1])) + 1]
