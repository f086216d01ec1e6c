import numpy as np
import pytest
from betacal import BetaCalibration
from scipy.special import expit

from foldwise.combine.calibration import fit_beta
from tests.combine.calibration.predictions import breast_cancer


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", [slice(None), slice(0, None, 3), slice(1, None, 3)])
def test_it_agrees_with_betacal(part) -> None:
    """betacal stops at a gradient of 1e-4, hence the tolerance."""
    z, y = (array[part] for array in breast_cancer())
    peer = BetaCalibration("abm").fit(expit(z)[:, None], y)
    a, b, _ = peer.calibrator_.map_
    found = fit_beta(z, y, ridge=0.0)
    np.testing.assert_allclose([found.a, found.b], [a, b], atol=2e-3)
    np.testing.assert_allclose(found.predict(z)[:, 1], peer.predict(expit(z)), atol=5e-4)


@pytest.mark.filterwarnings("ignore")
def test_it_agrees_with_betacal_where_a_slope_is_held_at_zero() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 2000)
    y = (rng.uniform(size=2000) < 0.3 + 0.1 * p**6).astype(int)
    z = np.log(p / (1 - p))
    found = fit_beta(z, y, ridge=0.0)
    assert min(found.a, found.b) == 0.0
    peer = BetaCalibration("abm").fit(p[:, None], y)
    np.testing.assert_allclose(found.predict(z)[:, 1], peer.predict(p), atol=5e-4)


def test_it_contains_the_map_that_changes_nothing() -> None:
    z, y = breast_cancer()
    found = fit_beta(z, y, ridge=1e9)
    np.testing.assert_allclose(found.predict(z)[:, 1], expit(z), atol=1e-4)


def test_it_never_falls() -> None:
    z, y = breast_cancer()
    for part in (y, 1 - y):
        assert (np.diff(fit_beta(z, part).predict(np.sort(z))[:, 1]) >= 0).all()
