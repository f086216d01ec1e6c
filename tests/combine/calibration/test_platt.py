import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from foldwise.combine.calibration import fit_platt
from tests.combine.calibration.predictions import breast_cancer, log_loss


def test_it_is_the_minimum_of_a_general_optimiser() -> None:
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


def test_the_order_is_never_turned_round() -> None:
    z = np.array([-2.0, -1.0, 1.0, 2.0])
    found = fit_platt(z, np.array([1, 1, 0, 1]))
    assert found.slope == 0.0
    np.testing.assert_allclose(found.predict(z)[:, 1], 0.75, atol=0.01)
