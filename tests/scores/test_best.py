import numpy as np
import pytest
from scipy.stats import norm

from foldwise.scores.exact import (
    covariance_in_folds,
    covariance_of,
    differences,
    may_be_best,
    p_better,
)


def test_a_model_among_equals_stays_in() -> None:
    assert may_be_best(np.zeros(4), np.eye(4)).all()


def test_two_models_are_told_apart_by_a_one_sided_test() -> None:
    covariance = np.array([[1.0, 0.5], [0.5, 2.0]])
    error = np.sqrt(1.0 + 2.0 - 2 * 0.5)
    edge = norm.ppf(0.95) * error
    assert may_be_best(np.array([0.0, -0.95 * edge]), covariance).tolist() == [True, True]
    assert may_be_best(np.array([0.0, -1.05 * edge]), covariance).tolist() == [True, False]
    assert may_be_best(np.array([0.0, -1.05 * edge]), covariance, widen=1.2).all()


def test_the_best_of_many_must_lead_by_more() -> None:
    # Against twenty rivals a lead of two errors is what the luckiest has by chance.
    scores = np.zeros(21)
    scores[0] = -2.0 * np.sqrt(2)
    assert may_be_best(scores, np.eye(21))[0]
    assert not may_be_best(scores[:2], np.eye(2))[0]


def test_twins_do_not_throw_each_other_out() -> None:
    twins = np.ones((2, 2))
    assert may_be_best(np.array([0.0, 0.0]), twins).all()


def test_the_truly_best_is_in_as_often_as_promised() -> None:
    rng = np.random.default_rng(1)
    truth, held = np.array([0.0, -0.02, -0.05, -0.3]), 0
    for _ in range(200):
        losses = rng.normal(size=(60, 4)) * 0.3 + rng.normal(size=(60, 1)) - truth
        parts = -(losses - losses.mean(axis=0)) / 60
        held += may_be_best(-losses.mean(axis=0), covariance_of(parts))[0]
    assert held >= 0.93 * 200


def test_the_covariance_is_that_of_means_with_a_mean_of_its_own_in_each_fold() -> None:
    rng = np.random.default_rng(0)
    losses, fold = rng.normal(size=(30, 2)), np.repeat([3, 5, 9], 10)
    parts = (losses - losses.mean(axis=0)) / 30
    np.testing.assert_allclose(covariance_of(parts), np.cov(losses.T) / 30)
    inside = losses - np.repeat([losses[fold == f].mean(axis=0) for f in (3, 5, 9)], 10, axis=0)
    np.testing.assert_allclose(covariance_in_folds(parts.T, fold), inside.T @ inside / 30 / 29)
    np.testing.assert_allclose(
        differences(covariance_of(parts))[0, 1], (losses[:, 0] - losses[:, 1]).var(ddof=1) / 30
    )


@pytest.mark.parametrize(("gain", "error", "p"), [(0.0, 1.0, 0.5), (1.0, 0.0, 0.0)])
def test_a_p_value_is_one_sided(gain, error, p) -> None:
    assert p_better(gain, error) == p
