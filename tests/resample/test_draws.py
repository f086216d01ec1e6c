import numpy as np
import pytest

from foldwise.resample.draws import Draws, draw_columns, draw_counts, learner_rng


def many(scheme, n=20, size=20, probability=None):
    rng = np.random.default_rng(0)
    return np.array([draw_counts(scheme, n, size, rng, probability) for _ in range(4000)])


def test_bootstrap_counts_are_multinomial() -> None:
    counts = many("bootstrap")
    assert (counts.sum(axis=1) == 20).all()
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=0.06)
    np.testing.assert_allclose(counts.var(axis=0), 1 - 1 / 20, atol=0.1)


def test_a_weighted_bootstrap_draws_by_weight() -> None:
    probability = np.arange(20.0) / 190
    counts = many("bootstrap", probability=probability)
    assert (counts[:, 0] == 0).all()
    np.testing.assert_allclose(counts.mean(axis=0), 20 * probability, atol=0.08)


def test_subsamples_have_no_row_twice() -> None:
    counts = many("subsample", size=8)
    assert set(np.unique(counts)) == {0.0, 1.0}
    assert (counts.sum(axis=1) == 8).all()


def test_bayesian_weights_have_mean_one_and_are_never_zero() -> None:
    counts = many("bayesian")
    np.testing.assert_allclose(counts.sum(axis=1), 20)
    assert counts.min() > 0
    np.testing.assert_allclose(counts.var(axis=0), 19 / 21, rtol=0.15)  # of n · Dirichlet(1)


def test_other_schemes_take_every_row_once() -> None:
    assert draw_counts("parametric", 3, 3, np.random.default_rng(0)).tolist() == [1, 1, 1]


def test_the_rows_of_a_group_are_drawn_together() -> None:
    group = np.array([0, 0, 1, 1, 1, 2])
    draws = Draws("bootstrap", 3, 3, group, None)
    counts = draws.rows(7)
    for g in range(3):
        assert len(set(counts[group == g])) == 1
    np.testing.assert_array_equal(counts, draws.units(7)[group])


def test_the_same_seed_draws_the_same() -> None:
    draws = Draws("bootstrap", 10, 10, None, None)
    np.testing.assert_array_equal(draws.rows(3), draws.rows(3))
    assert learner_rng(3).random() == learner_rng(3).random()


def test_columns_are_drawn_without_replacement() -> None:
    columns = draw_columns(10, 4, np.random.default_rng(0))
    assert len(set(columns)) == 4
    assert draw_columns(10, 10, np.random.default_rng(0)) is None


@pytest.mark.parametrize("scheme", ["bootstrap", "subsample", "bayesian"])
def test_counts_are_numbers_of_the_right_shape(scheme) -> None:
    assert draw_counts(scheme, 6, 3, np.random.default_rng(0)).shape == (6,)
