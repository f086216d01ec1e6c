import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldwise.errors import InvalidDataError, InvalidParameterError
from foldwise.losses.loss import Loss, total_loss
from foldwise.losses.numbers import (
    Absolute,
    Huber,
    Poisson,
    Quantile,
    Squared,
    Tweedie,
    leaf_quantiles,
    regression_loss,
)

LOSSES = [Squared(), Absolute(), Huber(0.9, 0.7), Quantile(0.3), Poisson(), Tweedie(1.4)]


def name_of(loss: Loss) -> str:
    return loss.name


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.gamma(2.0, size=40), rng.normal(size=40), rng.random(40)


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_gradients_agree_with_finite_differences(loss, rows) -> None:
    y, raw, _ = rows
    slope = (loss.value(y, raw + 1e-6) - loss.value(y, raw - 1e-6)) / 2e-6
    np.testing.assert_allclose(loss.gradient(y, raw), slope, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("loss", [Squared(), Huber(0.9, 0.7), Poisson(), Tweedie(1.4)], ids=name_of)
def test_hessians_agree_with_finite_differences(loss, rows) -> None:
    y, raw, _ = rows
    bend = (loss.gradient(y, raw + 1e-6) - loss.gradient(y, raw - 1e-6)) / 2e-6
    np.testing.assert_allclose(loss.hessian(y, raw), bend, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss.name != "huber"], ids=name_of)
def test_no_constant_is_better_than_the_best_constant(loss, rows) -> None:
    y, _, weight = rows
    best = float(loss.constant(y, weight))
    lowest = total_loss(loss, y, np.full(40, best), weight)
    for other in best + np.linspace(-1, 1, 41):
        assert lowest <= total_loss(loss, y, np.full(40, other), weight) + 1e-12


@pytest.mark.parametrize("loss", [Absolute(), Quantile(0.3), Poisson(), Tweedie(1.4)], ids=name_of)
def test_no_leaf_step_is_better_than_the_formula(loss, rows) -> None:
    y, raw, weight = rows
    leaf = np.arange(40) % 3
    steps = loss.leaf_steps(y, raw, weight, leaf, 3)
    for k in range(3):
        inside = leaf == k
        lowest = weight[inside] @ loss.value(y[inside], raw[inside] + steps[k])
        for other in steps[k] + np.linspace(-0.5, 0.5, 21):
            assert lowest <= weight[inside] @ loss.value(y[inside], raw[inside] + other) + 1e-10


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 4)), min_size=1, max_size=30),
    st.floats(0.05, 0.95),
)
def test_a_weighted_quantile_is_the_quantile_of_repeated_values(pairs, level) -> None:
    values, counts = np.array(pairs, dtype=float).T
    if not counts.any():
        return
    repeated = np.repeat(values, counts.astype(int))
    ours = leaf_quantiles(values, counts, level, np.zeros(len(values), int), 1)[0]
    same = leaf_quantiles(repeated, np.ones(len(repeated)), level, np.zeros(len(repeated), int), 1)
    assert ours == same[0]
    assert np.mean(repeated <= ours) >= level - 1e-9
    assert np.mean(repeated >= ours) >= 1 - level - 1e-9


def test_the_median_of_even_numbers_is_the_middle() -> None:
    assert leaf_quantiles(np.arange(4.0), np.ones(4), 0.5, np.zeros(4, int), 1)[0] == 1.5


def test_leaves_without_weight_get_a_zero() -> None:
    assert leaf_quantiles(np.ones(1), np.zeros(1), 0.5, np.zeros(1, int), 2).tolist() == [0, 0]


def test_hubers_threshold_follows_the_residuals() -> None:
    y = np.arange(1.0, 11.0)
    assert Huber(0.9).adapted(y, np.zeros(10), np.ones(10)).threshold == 9.5


def test_a_threshold_that_was_given_stays() -> None:
    loss, y = Huber(threshold=0.5), np.arange(1.0, 11.0)
    assert loss.adapted(y, np.zeros(10), np.ones(10)) is loss


@pytest.mark.parametrize("wrong", [{"threshold": -1.0}, {"threshold": "1"}, {"level": 1.0}])
def test_hubers_parameters_are_checked(wrong) -> None:
    (name,) = wrong
    with pytest.raises(InvalidParameterError, match=f"Huber: {name} must be a number"):
        Huber(**wrong)


def test_a_leaf_without_events_takes_the_newton_step() -> None:
    loss, zeros = Poisson(), np.zeros(3)
    assert loss.leaf_steps(zeros, zeros, np.ones(3), np.zeros(3, int), 1).tolist() == [-1.0]


def test_negative_counts_are_refused() -> None:
    message = (
        r"Owner: y must be at least 0, not all 0, for loss='poisson'; got -1.0. "
        r"Use loss='squared' for such targets."
    )
    with pytest.raises(InvalidDataError, match=message):
        Poisson().check_targets("Owner", np.array([1.0, -1.0]))


def test_an_unknown_loss_is_named_with_the_nearest_known_one() -> None:
    message = "Owner: loss must be a known name or a Loss; got 'squard'. Did you mean 'squared'?"
    with pytest.raises(InvalidParameterError) as caught:
        regression_loss("Owner", "squard", 0.5, 1.5)
    assert str(caught.value) == message


def test_a_loss_of_ones_own_is_taken_as_it_is() -> None:
    loss = Squared()
    assert regression_loss("Owner", loss, 0.5, 1.5) is loss
