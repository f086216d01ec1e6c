import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.special import comb

from foldwise.subset.posterior import (
    density,
    g_score,
    local_g,
    mixture_quantile,
    model_prior,
    occams_window,
)


@pytest.mark.parametrize("name", ["uniform", "beta_binomial"])
def test_priors_of_all_models_sum_to_one(name):
    sizes = np.arange(6)
    assert_allclose((comb(5, sizes) * np.exp(model_prior(name, 5)(sizes))).sum(), 1)


def test_the_local_g_makes_the_data_most_likely():
    left, k, spare = np.array([0.6]), np.array([3]), 40.0
    flat = model_prior("uniform", 3)
    best = float(local_g(left, k, spare)[0])
    scores = [g_score(g, 1.0, spare, flat, 0)(left, k)[0] for g in (best, 0.99 * best, 1.01 * best)]
    assert scores[0] == min(scores)
    assert local_g(np.array([0.99]), k, spare) == 0


def test_strictness_removes_models_with_a_better_submodel():
    kept = np.array([[True, False], [True, True], [False, True]])
    scores = np.array([0.0, 1.0, 2.0])
    assert_array_equal(occams_window(kept, scores, 20.0, strict=False), [0, 1, 2])
    assert_array_equal(occams_window(kept, scores, 20.0, strict=True), [0, 2])
    assert_array_equal(occams_window(kept, scores, np.exp(0.6), strict=False), [0, 1])
    assert_array_equal(occams_window(kept, scores, None, strict=False), [0, 1, 2])


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
