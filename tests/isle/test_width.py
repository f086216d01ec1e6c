import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss

from foldwise.isle.width import Width, logistic_relevance, sampling_width, squared_relevance


def test_squared_relevance_is_that_of_a_line():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(50, 4)), rng.normal(size=50), rng.random(50)
    shares = weight / weight.sum()
    wanted = []
    for x in X.T:
        line = LinearRegression().fit(x[:, None], y, weight)
        wanted.append(shares @ (y - line.predict(x[:, None])) ** 2 / 2)
    assert_allclose(squared_relevance(X, y, shares), wanted)


def test_logistic_relevance_is_that_of_logistic_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [1.0, 100.0, 0.01]
    y = (X[:, 0] + rng.normal(size=200) > 0.5).astype(float)
    wanted = []
    for x in X.T:
        z = (x / x.std())[:, None]
        model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(z, y)
        wanted.append(log_loss(y, model.predict_proba(z)))
    assert_allclose(logistic_relevance(X, y, np.full(200, 1 / 200)), wanted, rtol=1e-6)


def test_equal_trees_have_width_zero_and_irrelevant_ones_width_one():
    rng = np.random.default_rng(0)
    y = rng.normal(size=500)
    alike = sampling_width(np.column_stack([y, y, y]), y, y, np.ones(500), "squared")
    assert_allclose([alike.sigma, alike.relative, alike.similarity], [0, 0, 1], atol=1e-12)
    noise = rng.normal(size=(500, 20))
    astray = sampling_width(noise, y, y, np.ones(500), "squared")
    assert astray.relative > 0.98
    assert astray.similarity < 0.01


def test_the_width_is_the_mean_distance_from_the_best():
    rng = np.random.default_rng(0)
    y = rng.normal(size=300)
    trees = y[:, None] + rng.normal(size=(300, 4))
    best = y + 0.5 * rng.normal(size=300)
    shares = np.full(300, 1 / 300)
    width = sampling_width(trees, best, y, np.ones(300), "squared")
    q, least = squared_relevance(trees, y, shares), squared_relevance(best[:, None], y, shares)[0]
    assert_allclose(width.sigma, q.mean() - least)
    assert_allclose(width.relative, width.sigma / (y.var() / 2 - least))


@pytest.mark.parametrize(
    ("relative", "word"), [(0.02, "narrow: "), (0.95, "wide: "), (0.5, "neither ")]
)
def test_widths_are_put_into_words(relative, word):
    width = Width(1.0, relative, 0.25)
    assert width.verdict.startswith(word)
    assert "trees correlated 0.50" in str(width)
