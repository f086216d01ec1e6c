import numpy as np
import pytest
from betacal import BetaCalibration
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from foldwise.combine.calibration import fit_beta, fit_platt, fit_quadratic
from tests.combine.calibration.predictions import breast_cancer, log_loss


def test_platt_is_the_minimum_of_a_general_optimiser() -> None:
    z, y = breast_cancer()
    found = fit_platt(z, y, ridge=0.0)

    def loss(theta):
        p = expit(theta[0] * z + theta[1])
        return log_loss(np.column_stack([1 - p, p]), y)

    brute = minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 0})
    np.testing.assert_allclose([found.slope, found.intercept], brute.x, rtol=1e-5)


def test_the_mean_probability_becomes_the_share_of_the_class() -> None:
    z, y = breast_cancer()
    p = fit_platt(z + 3.0, y, ridge=0.0).predict(z + 3.0)[:, 1]
    assert p.mean() == pytest.approx(y.mean(), abs=1e-9)


def test_the_order_of_platt_is_never_turned_round() -> None:
    z = np.array([-2.0, -1.0, 1.0, 2.0])
    found = fit_platt(z, np.array([1, 1, 0, 1]))
    assert found.slope == 0.0
    np.testing.assert_allclose(found.predict(z)[:, 1], 0.75, atol=0.01)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", [slice(None), slice(0, None, 3), slice(1, None, 3)])
def test_beta_agrees_with_betacal(part) -> None:
    """betacal stops at a gradient of 1e-4, hence the tolerance."""
    z, y = (array[part] for array in breast_cancer())
    peer = BetaCalibration("abm").fit(expit(z)[:, None], y)
    a, b, _ = peer.calibrator_.map_
    found = fit_beta(z, y, ridge=0.0)
    np.testing.assert_allclose([found.a, found.b], [a, b], atol=2e-3)
    np.testing.assert_allclose(found.predict(z)[:, 1], peer.predict(expit(z)), atol=5e-4)


@pytest.mark.filterwarnings("ignore")
def test_beta_agrees_with_betacal_where_a_slope_is_held_at_zero() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 2000)
    y = (rng.uniform(size=2000) < 0.3 + 0.1 * p**6).astype(int)
    z = np.log(p / (1 - p))
    found = fit_beta(z, y, ridge=0.0)
    assert min(found.a, found.b) == 0.0
    peer = BetaCalibration("abm").fit(p[:, None], y)
    np.testing.assert_allclose(found.predict(z)[:, 1], peer.predict(p), atol=5e-4)


def test_beta_contains_the_map_that_changes_nothing() -> None:
    z, y = breast_cancer()
    found = fit_beta(z, y, ridge=1e9)
    np.testing.assert_allclose(found.predict(z)[:, 1], expit(z), atol=1e-4)


def test_beta_never_falls() -> None:
    z, y = breast_cancer()
    for part in (y, 1 - y):
        assert (np.diff(fit_beta(z, part).predict(np.sort(z))[:, 1]) >= 0).all()


def test_quadratic_is_logistic_regression_on_the_logit_and_its_square() -> None:
    z, y = breast_cancer()
    found = fit_quadratic(z, y, ridge=0.0)
    columns = np.column_stack([z, z**2])
    model = LogisticRegression(C=np.inf, tol=1e-10, solver="newton-cholesky").fit(columns, y)
    np.testing.assert_allclose([found.a, found.b], model.coef_[0], rtol=1e-6)
    np.testing.assert_allclose(found.predict(z), model.predict_proba(columns), atol=1e-8)


def test_quadratic_does_not_turn_beyond_what_it_saw() -> None:
    z, y = breast_cancer()
    found = fit_quadratic(z, y)
    ends = found.predict(np.array([z.min(), z.max()]))
    np.testing.assert_array_equal(found.predict(np.array([-1e9, 1e9])), ends)


def test_rows_without_weight_do_not_widen_its_range() -> None:
    z, y = breast_cancer()
    weight = np.ones(len(y))
    weight[np.argmax(z)] = 0.0
    assert fit_quadratic(z, y, weight).highest == np.sort(z[weight > 0])[-1]


def test_a_parabola_is_found() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=50_000)
    y = (rng.uniform(size=50_000) < expit(-0.5 + z + 0.3 * z**2)).astype(int)
    found = fit_quadratic(z, y)
    np.testing.assert_allclose([found.c, found.a, found.b], [-0.5, 1.0, 0.3], atol=0.05)
