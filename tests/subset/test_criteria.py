import numpy as np
import pytest
from numpy.testing import assert_allclose

from foldwise.subset.criteria import TargetSummary, criterion, largest_rss

SAMPLE = TargetSummary(n_rows=50.0, total=100.0, intercept=1, noise=1.5)


@pytest.mark.parametrize("name", ["aic", "aicc", "bic", "cp", "adjusted_r2"])
def test_the_largest_residual_sum_is_the_inverse_of_the_criterion(name):
    score = criterion(name, SAMPLE)
    sizes = np.arange(6)
    bound = float(score(np.array([60.0]), np.array([3]))[0])
    limits = largest_rss(score, sizes, bound, SAMPLE.total)
    assert_allclose(limits[3], 60.0, rtol=1e-12)
    reached = limits < 100.0
    assert_allclose(score(limits, sizes)[reached], bound, rtol=1e-9)


def test_aicc_is_aic_with_its_correction():
    rss, size = np.array([60.0]), np.array([3])
    k = 5
    correction = 2 * k * (k + 1) / (50 - k - 1)
    expected = criterion("aic", SAMPLE)(rss, size) + correction
    assert_allclose(criterion("aicc", SAMPLE)(rss, size), expected)


def test_models_without_rows_to_spare_score_infinity():
    few = TargetSummary(n_rows=6.0, total=1.0)
    for name, largest in (("bic", 4), ("aic", 4), ("aicc", 2), ("adjusted_r2", 4)):
        scores = criterion(name, few)(np.full(8, 0.5), np.arange(8))
        assert np.isfinite(scores[: largest + 1]).all()
        assert np.isinf(scores[largest + 1 :]).all()


def test_out_of_reach_is_a_limit_of_zero():
    assert largest_rss(criterion("bic", SAMPLE), np.array([2]), -1e6, 100.0) == 0
