"""Ratios of nested to naive variances against the formula written out, row by row."""

import numpy as np
import pytest

from foldwise.scores.nested import fold_losses, inflation, mean_and_covariance, pooled_ratios

RNG = np.random.default_rng(0)
FOLD = np.repeat(np.arange(4), [12, 9, 15, 12])
N, M, K = len(FOLD), 3, 4
OWN = RNG.gamma(2.0, size=(N, M))
# [i, row]: by the models without fold i and the row's own
PAIRS = OWN[None] + RNG.normal(0.4, 0.3, size=(K, N, M))
WEIGHT = RNG.integers(1, 4, N).astype(float)
UNIT = np.arange(N) // 3


def written_out(own, pairs, weight, unit) -> float:
    """Return the ratio for one column of losses, all in loops."""

    def mean(values, rows):
        return np.sum(weight[rows] * values[rows]) / weight[rows].sum()

    def variance(rows):
        sums = {}
        for r in rows:
            part = weight[r] / weight[rows].sum() * (own[r] - mean(own, rows))
            sums[unit[r]] = sums.get(unit[r], 0.0) + part
        return sum(s**2 for s in sums.values()) * len(sums) / (len(sums) - 1)

    each = []
    for i in range(K):
        inside, outside = np.flatnonzero(i == FOLD), np.flatnonzero(i != FOLD)
        a = mean(pairs[i], outside) - mean(own, inside)
        each.append(a**2 - variance(inside))
    return (K - 1) / K * np.mean(each) / variance(np.arange(N))


def found(weight=None, unit=None):
    smaller = np.full((K, K, M), np.nan)
    for i in range(K):
        for j in set(range(K)) - {i}:
            rows = np.flatnonzero(j == FOLD)
            smaller[i, j] = np.average(
                PAIRS[i][rows], axis=0, weights=None if weight is None else weight[rows]
            )
    return fold_losses(OWN, smaller, FOLD, weight, unit)


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("unit", [None, UNIT])
def test_the_ratio_is_the_formula_written_out(weight, unit) -> None:
    losses = found(weight, unit)
    weights = np.ones(N) if weight is None else weight
    units = np.arange(N) if unit is None else unit
    for m in range(M):
        expected = written_out(OWN[:, m], PAIRS[:, :, m], weights, units)
        assert losses.ratio(np.eye(M)[m]) == pytest.approx(expected)
    apart = np.array([1.0, -1.0, 0.0])
    expected = written_out(OWN @ apart, PAIRS @ apart, weights, units)
    assert losses.ratio(apart) == pytest.approx(expected)


def test_ratios_are_pooled_by_shares_and_differences_equally() -> None:
    losses, units = found(), np.eye(M)
    single, apart = pooled_ratios(losses, np.array([0.0, 3.0, 1.0]))
    each = [losses.ratio(units[m]) for m in range(M)]
    assert single == pytest.approx((3 * each[1] + each[2]) / 4)
    pairs = [losses.ratio(units[a] - units[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert apart == pytest.approx(np.mean(pairs))


def test_the_same_losses_say_nothing_about_differences() -> None:
    same = np.repeat(OWN[:, :1], 2, axis=1)
    losses = fold_losses(same, np.ones((K, K, 2)), FOLD)
    assert np.isnan(losses.ratio(np.array([1.0, -1.0])))
    assert pooled_ratios(losses, np.ones(2))[1] == 1.0


def test_the_variance_of_a_mean_is_that_of_its_clusters() -> None:
    mean, covariance = mean_and_covariance(OWN, np.ones(N), None)
    np.testing.assert_allclose(mean, OWN.mean(axis=0))
    np.testing.assert_allclose(covariance, np.cov(OWN.T) / N)
    _, clustered = mean_and_covariance(OWN, np.ones(N), UNIT)
    np.testing.assert_allclose(clustered, np.cov(OWN.reshape(-1, 3, M).mean(axis=1).T) / (N / 3))


def test_an_interval_is_never_made_narrower_and_at_most_as_wide_as_one_fold_says() -> None:
    assert inflation([-3.0], 5) == 1.0
    assert inflation([1e9], 5) == pytest.approx(np.sqrt(5))
