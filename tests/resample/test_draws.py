import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from foldwise.learners.one_learner import LearnerInput, draw_columns
from foldwise.resample.draws import (
    Draws,
    new_classes,
    new_numbers,
)


def many(scheme, n=20, size=20, probability=None):
    draws = Draws(scheme, n, size, None, probability)
    return np.array([draws.units(seed) for seed in range(4000)])


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
    assert Draws("parametric", 3, 3, None, None).units(0).tolist() == [1, 1, 1]


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


def test_columns_are_drawn_without_replacement() -> None:
    columns = draw_columns(10, 4, np.random.default_rng(0))
    assert len(set(columns)) == 4
    assert draw_columns(10, 10, np.random.default_rng(0)) is None


@pytest.mark.parametrize("scheme", ["bootstrap", "subsample", "bayesian"])
def test_counts_are_numbers_of_the_right_shape(scheme) -> None:
    assert Draws(scheme, 6, 3, None, None).units(0).shape == (6,)


@pytest.fixture
def line() -> tuple[LearnerInput, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    return LearnerInput(X, trusted=False), X @ [1.0, 2.0] + rng.normal(scale=0.5, size=400)


class Nothing:
    """A generator that draws zeros, and remembers how they were asked for."""

    def normal(self, scale, size):
        self.scale = scale
        return np.zeros(size)

    def choice(self, pool, size, p):
        self.pool = pool
        return np.zeros(size)


def test_new_targets_scatter_around_the_model(line) -> None:
    table, y = line
    draw, told = new_numbers("parametric", LinearRegression(), table, y, None, None, 0), Nothing()
    centre = draw(told)
    np.testing.assert_allclose(centre, LinearRegression().fit(table.X, y).predict(table.X))
    assert told.scale == pytest.approx(0.5, rel=0.1)
    noise = draw(np.random.default_rng(1)) - centre
    assert noise.std() == pytest.approx(told.scale, rel=0.1)


def test_residuals_are_drawn_from_those_there_are(line) -> None:
    table, y = line
    draw, told = new_numbers("residual", LinearRegression(), table, y, None, None, 0), Nothing()
    centre = draw(told)
    drawn = draw(np.random.default_rng(1)) - centre
    assert np.abs(drawn[:, None] - told.pool[None]).min(axis=1).max() < 1e-12
    assert told.pool.mean() == pytest.approx(0)


def test_plain_noise_scatters_around_y_by_the_scale_given(line) -> None:
    table, y = line
    draw = new_numbers("noise", LinearRegression(), table, y, None, 0.01, 0)
    np.testing.assert_array_equal(draw(Nothing()), y)
    assert (draw(np.random.default_rng(0)) - y).std() == pytest.approx(0.01, rel=0.2)


def test_new_classes_follow_the_probabilities() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    codes = (X[:, 0] + rng.normal(size=300) > 0).astype(int) * 2  # class 1 does not occur
    table = LearnerInput(X, trusted=False)
    draw = new_classes(LogisticRegression(), table, codes, None, 0)
    drawn = np.array([draw(rng) for _ in range(500)])
    assert set(np.unique(drawn)) == {0, 2}
    expected = LogisticRegression().fit(X, codes).predict_proba(X)[:, 1]
    np.testing.assert_allclose((drawn == 2).mean(axis=0), expected, atol=0.1)


def test_one_row_has_no_noise() -> None:
    table = LearnerInput(np.zeros((1, 1)), trusted=False)
    draw = new_numbers("parametric", LinearRegression(), table, np.ones(1), None, None, 0)
    assert draw(np.random.default_rng(0)).tolist() == [1.0]
