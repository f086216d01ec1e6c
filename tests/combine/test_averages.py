import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import gmean

from foldwise.combine import (
    geometric_mean,
    logit_mean,
    majority_vote,
    median,
    plain_mean,
    soft_vote,
    trimmed_mean,
    weighted_mean,
)

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(7, 5))
CHANCES = RNG.dirichlet(np.ones(3), size=(7, 5))


def test_means_are_those_of_numpy() -> None:
    weights = np.array([0.1, 0.2, 0.3, 0.4, 0.0])
    np.testing.assert_allclose(plain_mean(CHANCES), CHANCES.mean(axis=1))
    np.testing.assert_allclose(weighted_mean(VALUES, weights), VALUES @ weights)
    np.testing.assert_allclose(
        soft_vote(CHANCES, 3 * weights), np.average(CHANCES, axis=1, weights=weights)
    )


def test_the_median_of_probabilities_sums_to_one_again() -> None:
    np.testing.assert_array_equal(median(VALUES), np.median(VALUES, axis=1))
    plain = np.median(CHANCES, axis=1)
    np.testing.assert_allclose(
        median(CHANCES, simplex=True), plain / plain.sum(axis=1, keepdims=True)
    )


def test_where_the_median_leaves_no_class_the_mean_is_taken() -> None:
    sure = np.eye(3)[None]
    np.testing.assert_allclose(median(sure, simplex=True), np.full((1, 3), 1 / 3))


def test_a_trimmed_mean_leaves_out_the_ends() -> None:
    expected = np.sort(VALUES, axis=1)[:, 1:-1].mean(axis=1)
    np.testing.assert_allclose(trimmed_mean(VALUES, 0.2), expected)
    np.testing.assert_allclose(trimmed_mean(VALUES, 0.19), VALUES.mean(axis=1))
    assert trimmed_mean(CHANCES, simplex=True).sum(axis=1) == pytest.approx(1.0)


def test_the_geometric_mean_is_scipys() -> None:
    positive = np.exp(VALUES)
    np.testing.assert_allclose(geometric_mean(positive), gmean(positive, axis=1))
    weights = np.array([0.5, 0.5, 0, 0, 0])
    np.testing.assert_allclose(
        geometric_mean(positive, weights), gmean(positive, axis=1, weights=weights)
    )
    assert geometric_mean(np.array([[0.0, 1.0]]))[0] == 0.0


def test_the_logit_mean_of_two_classes_is_the_normalised_geometric_mean() -> None:
    p = RNG.uniform(0.01, 0.99, size=(9, 4))
    both = np.stack([1 - p, p], axis=2)
    np.testing.assert_allclose(logit_mean(p), logit_mean(both)[:, 1], rtol=1e-12)
    np.testing.assert_allclose(logit_mean(p), expit(logit(p).mean(axis=1)), rtol=1e-12)
    weights = np.array([1.0, 0, 0, 0])
    np.testing.assert_allclose(logit_mean(p, weights), p[:, 0], rtol=1e-10)
    np.testing.assert_allclose(logit_mean(both, weights)[:, 1], p[:, 0], rtol=1e-10)


def test_one_sure_model_does_not_decide_alone() -> None:
    assert 0 < logit_mean(np.array([[0.0, 1.0, 0.9]]))[0] < 1


def test_the_majority_is_counted_by_a_loop() -> None:
    votes = RNG.integers(0, 3, size=(20, 5))
    weights = np.array([1.0, 1, 1, 2, 1])
    expected = np.zeros((20, 3))
    for i in range(20):
        for m in range(5):
            expected[i, votes[i, m]] += weights[m] / 6
    np.testing.assert_allclose(majority_vote(votes, 3, weights), expected)
