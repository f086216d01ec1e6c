import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from foldwise.paths.losses import Huber, Logistic, Poisson, Squared

LOSSES = [Squared(), Logistic(), Poisson(), Huber(1.5)]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@given(y=st.sampled_from([0.0, 1.0]), eta=st.floats(-8, 8))
def test_slope_is_the_derivative_and_curvature_bounds_the_loss_from_above(loss, y, eta):
    y, eta, h = np.array([y]), np.array([eta]), 1e-5
    numeric = (loss.value(y, eta + h) - loss.value(y, eta - h)) / (2 * h)
    assert_allclose(loss.slope(y, eta), numeric, atol=1e-4, rtol=1e-4)
    parabola = loss.value(y, eta) + loss.slope(y, eta) * h + loss.curvature(y, eta) * h**2 / 2
    assert loss.value(y, eta + h) <= parabola + 1e-9


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@given(y=st.floats(0, 1), eta=st.floats(-8, 8))
def test_no_loss_is_below_the_least(loss, y, eta):
    y = np.array([y])
    assert loss.value(y, np.array([eta])) >= loss.least(y) - 1e-12


def test_a_huge_predictor_overflows_nothing():
    y, eta = np.ones(2), np.array([-1e4, 1e4])
    for loss in LOSSES:
        assert np.isfinite(loss.value(y, eta)).all()
        assert (loss.curvature(y, eta) > 0).all()
