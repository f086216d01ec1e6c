import numpy as np
import pytest
from scipy.special import expit, log_softmax

from foldwise.errors import InvalidParameterError
from foldwise.losses.classes import (
    Exponential,
    Logistic,
    Multinomial,
    class_loss,
)
from foldwise.losses.loss import CustomLoss


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize("loss", [Logistic(), Exponential()], ids=lambda loss: loss.name)
def test_two_class_derivatives_agree_with_finite_differences(loss, rng) -> None:
    y, raw, h = rng.integers(2, size=30).astype(float), rng.normal(size=30), 1e-6
    slope = (loss.value(y, raw + h) - loss.value(y, raw - h)) / (2 * h)
    bend = (loss.gradient(y, raw + h) - loss.gradient(y, raw - h)) / (2 * h)
    np.testing.assert_allclose(loss.gradient(y, raw), slope, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(loss.hessian(y, raw), bend, rtol=1e-6, atol=1e-8)


def test_multinomial_derivatives_agree_with_finite_differences(rng) -> None:
    loss, h = Multinomial(3), 1e-6
    y, raw = rng.integers(3, size=20).astype(float), rng.normal(size=(20, 3))
    for k in range(3):
        step = h * np.eye(3)[k]
        slope = (loss.value(y, raw + step) - loss.value(y, raw - step)) / (2 * h)
        bend = (loss.gradient(y, raw + step) - loss.gradient(y, raw - step))[:, k] / (2 * h)
        np.testing.assert_allclose(loss.gradient(y, raw)[:, k], slope, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(loss.hessian(y, raw)[:, k], bend, rtol=1e-6, atol=1e-8)


def test_many_paths_have_their_losses_at_once(rng) -> None:
    raw, codes = rng.normal(size=(4, 10, 3)), rng.integers(0, 3, 10)
    expected = -log_softmax(raw, axis=2)[:, np.arange(10), codes]
    np.testing.assert_allclose(Multinomial(3).value(codes, raw), expected)


def test_the_best_constants_give_the_weighted_shares(rng) -> None:
    y, weight = rng.integers(2, size=50).astype(float), rng.random(50)
    share = np.average(y, weights=weight)
    for loss in [Logistic(), Exponential()]:
        assert loss.inverse_link(loss.constant(y, weight)) == pytest.approx(share)
    shares = Multinomial(2).inverse_link(Multinomial(2).constant(y, weight)[None])
    np.testing.assert_allclose(shares[0], [1 - share, share])


def test_a_class_without_weight_does_not_break_the_constant() -> None:
    constant = Multinomial(3).constant(np.array([0.0, 1.0]), np.ones(2))
    assert np.isfinite(constant).all()


def test_auto_is_logistic_for_two_classes_and_multinomial_for_more() -> None:
    assert class_loss("Owner", "auto", 2).name == "logistic"
    assert class_loss("Owner", "auto", 3).name == "multinomial"


def test_a_loss_of_ones_own_becomes_a_probability_by_the_logistic_function() -> None:
    plain = CustomLoss(Logistic().value, Logistic().gradient)
    loss = class_loss("Owner", plain, 2)
    np.testing.assert_allclose(loss.inverse_link(np.array([0.3])), expit(0.3))


def test_two_class_losses_are_refused_for_three_classes() -> None:
    message = (
        "Owner: loss must be 'multinomial' for more than two classes; "
        "got 'exponential' for 3 classes. Use loss='auto'."
    )
    with pytest.raises(InvalidParameterError) as caught:
        class_loss("Owner", "exponential", 3)
    assert str(caught.value) == message


def test_an_unknown_loss_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="Did you mean 'logistic'"):
        class_loss("Owner", "logistc", 2)
