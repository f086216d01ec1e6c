import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from foldwise.boost.learner import Table
from foldwise.resample.targets import new_classes, new_numbers


@pytest.fixture
def line() -> tuple[Table, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    return Table(X, trusted=False), X @ [1.0, 2.0] + rng.normal(scale=0.5, size=400)


def test_new_targets_scatter_around_the_model(line) -> None:
    table, y = line
    sampler = new_numbers("parametric", LinearRegression(), table, y, None, None, 0)
    np.testing.assert_allclose(sampler.centre, LinearRegression().fit(table.X, y).predict(table.X))
    assert sampler.scale == pytest.approx(0.5, rel=0.1)
    noise = sampler.draw(np.random.default_rng(1)) - sampler.centre
    assert noise.std() == pytest.approx(sampler.scale, rel=0.1)


def test_residuals_are_drawn_from_those_there_are(line) -> None:
    table, y = line
    sampler = new_numbers("residual", LinearRegression(), table, y, None, None, 0)
    drawn = sampler.draw(np.random.default_rng(1)) - sampler.centre
    assert np.abs(drawn[:, None] - sampler.pool[None]).min(axis=1).max() < 1e-12
    assert sampler.pool.mean() == pytest.approx(0)


def test_plain_noise_scatters_around_y_by_the_scale_given(line) -> None:
    table, y = line
    sampler = new_numbers("noise", LinearRegression(), table, y, None, 0.01, 0)
    np.testing.assert_array_equal(sampler.centre, y)
    assert (sampler.draw(np.random.default_rng(0)) - y).std() == pytest.approx(0.01, rel=0.2)


def test_new_classes_follow_the_probabilities() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    codes = (X[:, 0] + rng.normal(size=300) > 0).astype(int) * 2  # class 1 does not occur
    table = Table(X, trusted=False)
    sampler = new_classes(LogisticRegression(), table, codes, None, 0)
    drawn = np.array([sampler.draw(rng) for _ in range(500)])
    assert set(np.unique(drawn)) == {0, 2}
    expected = LogisticRegression().fit(X, codes).predict_proba(X)[:, 1]
    np.testing.assert_allclose((drawn == 2).mean(axis=0), expected, atol=0.1)


def test_one_row_has_no_noise() -> None:
    table = Table(np.zeros((1, 1)), trusted=False)
    sampler = new_numbers("parametric", LinearRegression(), table, np.ones(1), None, None, 0)
    assert sampler.draw(np.random.default_rng(0)).tolist() == [1.0]
