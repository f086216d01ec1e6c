import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

from foldwise.subset.mixture import density, mixture_quantile


def test_quantiles_invert_the_distribution_function():
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(5))
    means, scales = 10 * rng.normal(size=(40, 5)), rng.random((40, 5)) + 0.01
    df = np.array([1.0, 3.0, 10.0, 100.0, 1e4])
    for level in (0.001, 0.05, 0.5, 0.95):
        at = mixture_quantile(level, weights, means, scales, df)
        below = stats.t(df).cdf((at[:, None] - means) / scales) @ weights
        assert_allclose(below, level, rtol=1e-9)


def test_one_part_gives_its_own_quantile():
    at = mixture_quantile(0.9, np.ones(1), np.array([[2.0]]), np.array([[3.0]]), np.array([7.0]))
    assert_allclose(at, 2 + 3 * stats.t(7).ppf(0.9), rtol=1e-12)


def test_the_density_is_that_of_scipy():
    z = np.linspace(-5, 5, 11)
    assert_allclose(density(z, np.array(4.0)), stats.t(4).pdf(z), rtol=1e-12)
