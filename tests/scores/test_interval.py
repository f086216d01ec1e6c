"""Intervals of scores: their scale, their width, and the rows they rest on."""

import numpy as np
import pytest
from scipy.stats import t

from foldwise.scores.exact import (
    carriers,
    degrees_of_freedom,
    heavy_rows,
    score_interval,
)

RNG = np.random.default_rng(0)


def test_the_interval_is_symmetric_in_the_logarithm_of_the_loss() -> None:
    low, high = score_interval(-2.0, 0.3, 30.0, 0.0)
    half = t.ppf(0.975, 30) * 0.3 / 2.0
    np.testing.assert_allclose([np.log(-low / 2.0), np.log(2.0 / -high)], [half, half])
    low, high = score_interval(0.9, 0.03, 30.0, 1.0)
    np.testing.assert_allclose((1 - low) * (1 - high), 0.1**2)
    assert high < 1


def test_a_score_without_a_loss_has_the_plain_interval() -> None:
    assert score_interval(1.0, 0.0, 5.0, 1.0) == (1.0, 1.0)
    low, high = score_interval(5.0, 1.0, 1e12, 0.0)
    assert (low + high, high - low) == pytest.approx((10.0, 2 * 1.959964))


def test_fewer_degrees_make_it_wider() -> None:
    widths = [np.diff(score_interval(-1.0, 0.1, n, 0.0))[0] for n in (3.0, 10.0, 1000.0)]
    assert widths[0] > widths[1] > widths[2]


def test_few_carriers_count_for_less_and_three_are_the_fewest() -> None:
    assert degrees_of_freedom(np.array([1.0] * 25 + [0.0] * 375)) == pytest.approx(25.0)
    assert degrees_of_freedom(np.array([1.0] * 10 + [0.0] * 390)) == pytest.approx(5.0)
    assert degrees_of_freedom(np.array([1.0] + [0.0] * 399)) == 3.0


def test_carriers_count_what_is_alike() -> None:
    assert carriers(np.repeat([1.0, -1.0, 0.0], 7)) == pytest.approx(14.0)
    normal = RNG.normal(size=100_000)
    assert carriers(normal) == pytest.approx(100_000 / 3, rel=0.05)


@pytest.mark.parametrize(("n_rows", "said"), [(100, 0.6), (400, 0.8)])
def test_squares_of_normal_errors_are_not_heavy_and_those_of_t3_are(n_rows, said) -> None:
    light = [len(heavy_rows(RNG.normal(size=n_rows) ** 2)) > 0 for _ in range(200)]
    heavy = [heavy_rows(RNG.standard_t(3, size=n_rows) ** 2) for _ in range(200)]
    assert np.mean(light) < 0.05
    assert np.mean([len(rows) > 0 for rows in heavy]) > said
    assert max(map(len, heavy)) < 10


def test_weights_make_rows_heavy() -> None:
    losses, weight = RNG.normal(size=100) ** 2, np.ones(100)
    assert not len(heavy_rows(losses, weight))
    weight[7] = 200.0
    losses[7] = 9.0
    assert heavy_rows(losses, weight)[0] == 7
