import numpy as np
import pytest
from scipy.stats import rankdata

from foldwise.combine import rank_mean

RNG = np.random.default_rng(0)


def test_stored_predictions_get_their_mid_ranks() -> None:
    given = RNG.integers(0, 6, size=(40, 3)).astype(float)
    expected = np.mean([(rankdata(given[:, m]) - 0.5) / 40 for m in range(3)], axis=0)
    np.testing.assert_allclose(rank_mean(given).predict(given), expected, rtol=1e-12)


def test_a_row_alone_gets_the_same_answer() -> None:
    ranks = rank_mean(RNG.normal(size=(3000, 2)))
    new = RNG.normal(size=(20, 2))
    together = ranks.predict(new)
    for i in range(20):
        assert ranks.predict(new[i : i + 1])[0] == together[i]


def test_more_rows_than_knots_change_ranks_by_less_than_one_knot() -> None:
    given = RNG.normal(size=(20_000, 1))
    ranks = rank_mean(given)
    assert len(ranks.knots[0]) <= 1000
    exact = (rankdata(given[:, 0]) - 0.5) / 20_000
    np.testing.assert_allclose(ranks.predict(given), exact, atol=1e-3)


def test_a_row_of_weight_two_is_two_rows_and_of_weight_zero_none() -> None:
    given = RNG.normal(size=(30, 2))
    weight = RNG.integers(0, 3, 30).astype(float)
    twice = np.repeat(given, weight.astype(int), axis=0)
    new = RNG.normal(size=(10, 2))
    np.testing.assert_allclose(
        rank_mean(given, weight).predict(new), rank_mean(twice).predict(new), rtol=1e-12
    )


def test_ranks_do_not_change_under_growing_transformations() -> None:
    given = RNG.normal(size=(50, 2))
    np.testing.assert_allclose(
        rank_mean(np.exp(given)).predict(np.exp(given)), rank_mean(given).predict(given)
    )


def test_a_constant_model_stands_in_the_middle() -> None:
    assert rank_mean(np.ones((5, 1))).predict(np.array([[0.0], [1.0], [9.0]])) == pytest.approx(0.5)


def test_models_may_have_weights() -> None:
    given = RNG.normal(size=(30, 2))
    np.testing.assert_allclose(
        rank_mean(given, weights=np.array([3, 0])).predict(given),
        rank_mean(given[:, :1]).predict(given[:, :1]),
    )
