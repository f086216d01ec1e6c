"""What the correlation of folds adds to a variance, against least squares and simulation."""

import itertools

import numpy as np
import pytest

from foldwise.scores.exact import covariance_of_means, ratios, shared_covariance

RNG = np.random.default_rng(0)
UNIT = np.arange(48) // 3
LOSSES = RNG.gamma(2.0, size=(48, 3))


def written_out(table: np.ndarray, share: np.ndarray) -> float:
    """Return the same for one model: residuals by least squares, products pair by pair."""
    n = len(table)
    places = [(i, j) for i in range(n) for j in range(n) if i != j]
    design = np.array([[*(np.arange(n) == i), *(np.arange(n) == j)] for i, j in places], float)
    values = np.array([table[place] for place in places])
    residual = values - design @ np.linalg.pinv(design) @ values
    left = dict(zip(places, residual, strict=True))
    sums = [left[i, j] + left[j, i] for i, j in itertools.combinations(range(n), 2)]
    gaps = [left[i, j] - left[j, i] for i, j in itertools.combinations(range(n), 2)]
    # Of n(n-1)/2 sums, n are fitted; of the gaps, n - 1.
    alike = np.sum(np.square(sums)) / 2 / (len(sums) - n)
    unlike = np.sum(np.square(gaps)) / 2 / (len(gaps) - n + 1)
    covariance = (alike - unlike) / 2 * ((n - 2) / (n - 1)) ** 2
    return covariance * sum(share[i] * share[j] for i, j in places)


@pytest.mark.parametrize("n_folds", [4, 5, 9])
def test_it_is_the_formula_written_out(n_folds) -> None:
    table = RNG.normal(size=(n_folds, n_folds, 3))
    weight = RNG.uniform(1, 2, n_folds)
    found = shared_covariance(table, weight)
    for m in range(3):
        assert found[m, m] == pytest.approx(written_out(table[:, :, m], weight / weight.sum()))
    apart = written_out(table[:, :, 0] - table[:, :, 1], weight / weight.sum())
    assert found[0, 0] + found[1, 1] - 2 * found[0, 1] == pytest.approx(apart)
    moved = table + RNG.normal(size=(n_folds, 1, 3)) + RNG.normal(size=(1, n_folds, 3))
    np.testing.assert_allclose(shared_covariance(moved, weight), found, atol=1e-12)


def test_losses_that_two_folds_share_double_the_variance() -> None:
    # Fold i is predicted by a mean over the other folds j of what i and j have with each other.
    n, found, spread = 5, [], []
    for _ in range(4000):
        shared = np.triu(RNG.normal(size=(n, n)), 1)
        shared = shared + shared.T
        total = shared.sum(axis=1, keepdims=True)
        found.append(shared_covariance(((total - shared) / (n - 2))[:, :, None])[0, 0])
        spread.append((total / (n - 1)).mean())
    naive = 1 / (n - 1) / n  # of a fold's mean of n - 1, over n folds
    assert np.var(spread) == pytest.approx(2 * naive, rel=0.1)
    assert np.mean(found) == pytest.approx(naive, rel=0.1)


def test_three_folds_show_nothing() -> None:
    assert not shared_covariance(RNG.normal(size=(3, 3, 2))).any()


def test_ratios_are_of_means_and_of_differences() -> None:
    shared, naive = np.array([[1.0, 0.4], [0.4, -1.0]]), np.array([[2.0, 0.5], [0.5, 1.0]])
    found = ratios(shared, naive)
    np.testing.assert_allclose(found, [[1.5, 1.0], [1.0, 1.0]])
    shared[1, 1] = 3.0
    np.testing.assert_allclose(ratios(shared, naive), [[1.5, 2.6], [2.6, 4.0]])
    same = np.ones((2, 2))
    assert (ratios(same, same)[[0, 1], [1, 0]] == 1.0).all(), "equal losses do not differ"


def test_the_variance_of_a_mean_is_that_of_its_clusters() -> None:
    n = len(LOSSES)
    np.testing.assert_allclose(covariance_of_means(LOSSES), np.cov(LOSSES.T) / n)
    clustered = covariance_of_means(LOSSES, unit=UNIT)
    np.testing.assert_allclose(clustered, np.cov(LOSSES.reshape(-1, 3, 3).mean(axis=1).T) / (n / 3))
    twice = covariance_of_means(LOSSES, 2.0 * np.ones(n))
    np.testing.assert_allclose(twice, covariance_of_means(LOSSES))
