import numpy as np
import pytest
from numpy.testing import assert_allclose

from foldwise.isle.postprocess import Task, reweigh


@pytest.fixture
def columns():
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 12))


def task(y, loss="squared", n_outputs=1, **changes):
    settings = {"choose": "min", "non_negative": False} | changes
    folds = np.random.default_rng(1).permutation(len(y)) % 5
    return Task(y, np.ones(len(y)), folds, loss, 1.0, n_outputs, **settings)


@pytest.mark.parametrize("how", ["lasso", "stagewise"])
def test_the_columns_that_matter_are_found(columns, how):
    y = 2 * columns[:, 3] - columns[:, 7] + 0.1 * np.random.default_rng(2).normal(size=200)
    found = reweigh(columns, task(y, choose="1se"), how)
    assert_allclose(found.coefs[0, [3, 7]], [2, -1], atol=0.15)
    assert np.count_nonzero(found.coefs) < 6


def test_coefficients_below_zero_can_be_ruled_out(columns):
    y = 2 * columns[:, 3] - columns[:, 7]
    assert (reweigh(columns, task(y, non_negative=True), "lasso").coefs >= 0).all()


def test_shrinking_keeps_an_average_that_is_right(columns):
    y = columns.mean(axis=1) * 5 + 0.5 * np.random.default_rng(2).normal(size=200)
    found = reweigh(columns, task(y, choose="1se"), "shrink")
    assert_allclose(found.coefs, 5 / 12, rtol=0.2)


def test_shrinking_averages_the_columns_of_each_class(columns):
    y = (np.arange(200) % 3).astype(float)
    found = reweigh(columns, task(y, "multinomial", 3, choose="1se"), "shrink")
    assert found.coefs.shape == (3, 12)
    assert found.intercepts.shape == (3,)
    for k in range(3):
        of_class = found.coefs[:, k::3]
        assert_allclose(of_class, of_class[:, :1].repeat(4, axis=1), atol=1e-6)
