import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldwise.errors import InvalidDataError, InvalidParameterError
from foldwise.losses.classes import Logistic
from foldwise.losses.loss import CustomLoss, Loss, check_loss, searched_constant, total_loss
from foldwise.losses.numbers import Absolute, CappedPoisson, Huber, Poisson, Quantile, Squared

LOG_COSH = CustomLoss(lambda y, raw: np.log(np.cosh(raw - y)), lambda y, raw: np.tanh(raw - y))


def test_the_searched_constant_is_the_closed_one() -> None:
    y, weight = np.array([1.0, 4.0, 2.0]), np.array([1.0, 2.0, 3.0])
    searched = searched_constant(Poisson(), y, weight)
    assert searched == pytest.approx(float(Poisson().constant(y, weight)), abs=1e-5)


def test_the_total_loss_weighs_the_rows() -> None:
    y, raw = np.array([0.0, 2.0]), np.zeros(2)
    assert total_loss(LOG_COSH, y, raw, np.array([1.0, 0.0])) == 0


def test_a_base_loss_has_no_hessian_and_predicts_what_is_raw() -> None:
    assert Loss().hessian(np.zeros(1), np.zeros(1)) is None
    assert Loss().inverse_link(np.array([3.0])).tolist() == [3.0]


@pytest.mark.parametrize("loss", [Absolute(), Huber(), Quantile(0.9), Squared()])
@pytest.mark.parametrize("size", [1e-12, 1e-8, 1.0, 1e12])
def test_a_right_loss_passes_whatever_the_targets_size(loss, size) -> None:
    y = size * np.random.default_rng(0).normal(size=50)
    check_loss("Owner", loss, y, np.full(50, y.mean()))


def test_a_right_loss_passes() -> None:
    check_loss("Owner", LOG_COSH, np.array([0.0, 5.0]), np.ones(2))


def test_a_summed_loss_is_refused() -> None:
    summed = CustomLoss(lambda y, raw: np.sum((y - raw) ** 2), lambda y, raw: raw - y)
    message = (
        "Owner: loss must return an array of shape (3,) from value(y, raw); got shape (). "
        "Return one number a row, without summing."
    )
    with pytest.raises(InvalidParameterError) as caught:
        check_loss("Owner", summed, np.zeros(3), np.ones(3))
    assert str(caught.value) == message


def test_a_gradient_of_the_wrong_sign_is_refused() -> None:
    wrong = CustomLoss(lambda y, raw: (y - raw) ** 2, lambda y, raw: y - raw)
    message = (
        "Owner: loss must have the derivative of value(y, raw) in raw as its gradient; "
        "got a loss that rises against its gradient. Check the gradient's sign."
    )
    with pytest.raises(InvalidParameterError) as caught:
        check_loss("Owner", wrong, np.zeros(3), np.ones(3))
    assert str(caught.value) == message


def test_a_loss_that_is_not_finite_is_refused() -> None:
    broken = CustomLoss(lambda y, raw: y / 0.0 * raw, lambda _, raw: raw)
    message = (
        "Owner: loss must give finite numbers from value(y, raw); got 2 that are not. "
        "Check that y is in the loss's range."
    )
    with np.errstate(all="ignore"), pytest.raises(InvalidDataError) as caught:
        check_loss("Owner", broken, np.ones(2), np.ones(2))
    assert str(caught.value) == message


def linear_losses() -> list[Loss]:
    return [Squared(), Logistic(), CappedPoisson(), Huber(threshold=1.5)]


@pytest.mark.parametrize("loss", linear_losses(), ids=lambda loss: type(loss).__name__)
@given(y=st.sampled_from([0.0, 1.0]), eta=st.floats(-8, 8))
def test_the_curvature_bounds_the_loss_from_above(loss, y, eta) -> None:
    y, eta, h = np.array([y]), np.array([eta]), 1e-5
    numeric = (loss.value(y, eta + h) - loss.value(y, eta - h)) / (2 * h)
    np.testing.assert_allclose(loss.gradient(y, eta), numeric, atol=1e-4, rtol=1e-4)
    parabola = loss.value(y, eta) + loss.gradient(y, eta) * h + loss.curvature(y, eta) * h**2 / 2
    assert loss.value(y, eta + h) <= parabola + 1e-9


@pytest.mark.parametrize("loss", linear_losses(), ids=lambda loss: type(loss).__name__)
@given(y=st.floats(0, 1), eta=st.floats(-8, 8))
def test_no_loss_is_below_the_least(loss, y, eta) -> None:
    y = np.array([y])
    assert loss.value(y, np.array([eta])) >= loss.least(y) - 1e-12


def test_a_huge_predictor_overflows_nothing() -> None:
    y, eta = np.ones(2), np.array([-1e4, 1e4])
    for loss in linear_losses():
        assert np.isfinite(loss.value(y, eta)).all()
        assert (loss.curvature(y, eta) > 0).all()
