"""The axioms, and the definition over all orders by brute force."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from foldwise.diagnose import exact_shapley, sampled_shapley


def game(seed: int, n: int):
    worths = np.random.default_rng(seed).normal(size=2**n)
    return lambda players: float(worths[sum(1 << p for p in players)])


def by_all_orders(worth, n: int) -> np.ndarray:
    values, orders = np.zeros(n), list(permutations(range(n)))
    for order in orders:
        for place, player in enumerate(order):
            before = tuple(sorted(order[:place]))
            values[player] += worth(tuple(sorted((*before, player)))) - worth(before)
    return values / len(orders)


@given(st.integers(0, 10_000), st.integers(1, 5))
def test_exact_is_the_mean_over_all_orders(seed: int, n: int) -> None:
    worth = game(seed, n)
    assert_allclose(exact_shapley(worth, n), by_all_orders(worth, n), atol=1e-12)


@given(st.integers(0, 10_000))
def test_efficiency_and_linearity(seed: int) -> None:
    one, two = game(seed, 4), game(seed + 1, 4)
    everyone = (0, 1, 2, 3)
    total = exact_shapley(one, 4).sum()
    assert_allclose(total, one(everyone) - one(()), atol=1e-12)
    both = exact_shapley(lambda s: one(s) + 2 * two(s), 4)
    assert_allclose(both, exact_shapley(one, 4) + 2 * exact_shapley(two, 4), atol=1e-12)


def test_symmetric_players_share_and_dummies_get_nothing() -> None:
    def worth(players):
        return 3.0 * (0 in players and 1 in players) + 1.0 * (3 in players)

    assert_allclose(exact_shapley(worth, 4), [1.5, 1.5, 0.0, 1.0], atol=1e-15)


def test_every_subset_is_asked_once() -> None:
    asked = []
    exact_shapley(lambda s: asked.append(s) or 0.0, 5)
    assert len(asked) == len(set(asked)) == 32
    asked.clear()
    sampled_shapley(lambda s: asked.append(s) or 0.0, 5, 50, np.random.default_rng(0))
    assert len(asked) == len(set(asked))


def test_sampled_is_within_its_errors_of_exact_and_sums_to_the_same() -> None:
    worth = game(7, 6)
    exact = exact_shapley(worth, 6)
    values, errors = sampled_shapley(worth, 6, 400, np.random.default_rng(0))
    assert_allclose(values.sum(), exact.sum(), atol=1e-12)
    assert (np.abs(values - exact) < 4 * errors).all()
    assert (errors > 0).all()


def test_the_errors_are_honest() -> None:
    worth, exact = game(3, 5), exact_shapley(game(3, 5), 5)
    rng = np.random.default_rng(1)
    scores = []
    for _ in range(60):
        values, errors = sampled_shapley(worth, 5, 60, rng)
        scores += list((values - exact) / errors)
    # The spread of 300 correlated standard scores: 1 within a quarter.
    assert np.std(scores) == pytest.approx(1.0, abs=0.25)


def test_an_order_and_its_reverse_cancel_what_pairs_of_players_do() -> None:
    values, errors = sampled_shapley(lambda s: float(len(s) > 1), 2, 4, np.random.default_rng(0))
    assert (values.tolist(), errors.tolist()) == ([0.5, 0.5], [0.0, 0.0])


def test_one_seed_gives_one_answer() -> None:
    first = sampled_shapley(game(1, 5), 5, 10, np.random.default_rng(4))
    again = sampled_shapley(game(1, 5), 5, 10, np.random.default_rng(4))
    assert first[0].tolist() == again[0].tolist()
