"""Shapley values of any function of subsets, exact or sampled."""

from collections.abc import Callable
from functools import cache
from math import factorial

import numpy as np

from foldwise.arrays import FloatArray, IntArray

Worth = Callable[[tuple[int, ...]], float]


def exact_shapley(worth: Worth, n_players: int) -> FloatArray:
    """Return each player's mean contribution over all orders of joining.

    Parameters
    ----------
    worth : callable
        Maps a sorted tuple of players to a number; called once for each of the
        ``2 ** n_players`` subsets.
    n_players : int
        How many.

    Returns
    -------
    ndarray of shape (n_players,)
        They sum to what all are worth less what nobody is.

    Examples
    --------
    >>> exact_shapley(lambda players: float(len(players) > 1), 2)
    array([0.5, 0.5])
    """
    masks = np.arange(2**n_players)
    members = (masks[:, None] >> np.arange(n_players)) & 1
    worths = np.array([worth(tuple(np.flatnonzero(row).tolist())) for row in members])
    size, n_orders = members.sum(axis=1), factorial(n_players)
    chance = np.array(
        [factorial(s) * factorial(n_players - s - 1) / n_orders for s in range(n_players)]
    )
    values = np.empty(n_players)
    for player in range(n_players):
        without = masks[members[:, player] == 0]
        gains = worths[without | (1 << player)] - worths[without]
        values[player] = chance[size[without]] @ gains
    return values


def sampled_shapley(
    worth: Worth, n_players: int, n_orders: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return each player's mean contribution over random orders, and its standard error.

    Parameters
    ----------
    worth : callable
        Maps a sorted tuple of players to a number; called once for each subset met.
    n_players : int
        How many.
    n_orders : int
        Number of orders, at least 4; each is followed by its reverse, which lowers the error.
    rng : Generator
        Draws the orders.

    Returns
    -------
    values, errors : ndarray of shape (n_players,)
        The values sum exactly to what all are worth less what nobody is.

    Examples
    --------
    >>> import numpy as np
    >>> values, errors = sampled_shapley(lambda s: float(sum(s)), 3, 4, np.random.default_rng(0))
    >>> values, errors
    (array([0., 1., 2.]), array([0., 0., 0.]))
    """
    looked_up = cache(worth)
    pairs = np.empty((max(n_orders // 2, 2), n_players))
    for pair in pairs:
        order = rng.permutation(n_players)
        pair[:] = (_gains(looked_up, order) + _gains(looked_up, order[::-1])) / 2
    return pairs.mean(axis=0), standard_errors(pairs)


def standard_errors(draws: FloatArray) -> FloatArray:
    """Return the standard error of the mean over the first axis, NaN for one draw."""
    if len(draws) == 1:
        return np.full(draws.shape[1], np.nan)
    return np.asarray(draws.std(axis=0, ddof=1) / np.sqrt(len(draws)))


def _gains(worth: Worth, order: IntArray) -> FloatArray:
    gains = np.empty(len(order))
    joined: tuple[int, ...] = ()
    before = worth(joined)
    for player in order.tolist():
        joined = tuple(sorted((*joined, player)))
        after = worth(joined)
        gains[player] = after - before
        before = after
    return gains
