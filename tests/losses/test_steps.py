import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from foldwise.losses import (
    Absolute,
    Exponential,
    Huber,
    Logistic,
    Multinomial,
    Poisson,
    Quantile,
    Squared,
    Tweedie,
)
from foldwise.losses.steps import (
    LONGEST_STEP,
    leaf_steps,
    line_step,
    newton_steps,
    safe_steps,
    searched_steps,
)

LOSSES = [Squared(), Absolute(), Huber(0.9, 0.5), Quantile(0.2), Poisson(), Tweedie(1.5)]
LOSSES += [Logistic(), Exponential()]


def leaf_losses(loss, y, raw, weight, leaf, steps):
    return np.bincount(leaf, weights=weight * loss.value(y, raw + steps[leaf]), minlength=4)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_no_leaf_step_raises_the_loss(loss) -> None:
    rng = np.random.default_rng(0)
    for spread in [0.1, 1.0, 5.0]:
        y, raw = rng.integers(2, size=60).astype(float), rng.normal(scale=spread, size=60)
        weight, leaf = rng.random(60), rng.integers(4, size=60)
        steps = leaf_steps(loss, y, raw, weight, leaf, 4)
        before = leaf_losses(loss, y, raw, weight, leaf, np.zeros(4))
        after = leaf_losses(loss, y, raw, weight, leaf, steps)
        assert (after <= before * (1 + 1e-9)).all()


def test_an_overshooting_newton_step_is_halved() -> None:
    loss, y, raw = Logistic(), np.ones(1), np.array([-8.0])
    newton = newton_steps(loss.gradient(y, raw), loss.hessian(y, raw), np.ones(1), np.array([0]), 1)
    assert newton[0] > 1000
    wrong, leaf = np.array([1.0, 0.0]), np.zeros(2, int)
    raw = np.array([-8.0, -8.0])
    step = safe_steps(loss, wrong, raw, np.ones(2), leaf, newton)
    assert 0 < step[0] < newton[0]


def test_the_search_finds_the_formula() -> None:
    rng = np.random.default_rng(1)
    y, raw, weight = rng.poisson(2.0, 50).astype(float), rng.normal(size=50), rng.random(50)
    leaf = rng.integers(3, size=50)
    searched = searched_steps(Poisson(), y, raw, weight, leaf, 3)
    np.testing.assert_allclose(
        searched, Poisson().leaf_steps(y, raw, weight, leaf, 3), rtol=1e-8, atol=1e-8
    )


def test_a_leaf_without_curvature_does_not_move() -> None:
    assert newton_steps(np.ones(1), np.zeros(1), np.ones(1), np.array([0]), 1).tolist() == [0]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_step_never_raises_the_loss_and_none_is_better(loss, seed) -> None:
    rng = np.random.default_rng(seed)
    y, raw = rng.integers(2, size=30).astype(float), rng.normal(size=30)
    direction, weight = rng.normal(size=30), rng.random(30)
    step = line_step(loss, y, raw, direction, weight)

    def phi(alpha: float) -> float:
        return float(weight @ loss.value(y, raw + alpha * direction))

    assert phi(step) <= phi(0.0)
    best = minimize_scalar(phi, bounds=(0, 4 * step + 1), method="bounded").fun
    assert phi(step) <= best + 1e-6 * (1 + abs(best))


def test_separated_classes_stop_at_the_longest_step() -> None:
    y, direction = np.array([0.0, 1.0]), np.array([-1.0, 1.0])
    assert line_step(Logistic(), y, np.zeros(2), direction, np.ones(2)) <= LONGEST_STEP


def test_a_direction_that_cannot_help_gets_no_step() -> None:
    y = np.array([1.0, 2.0])
    assert line_step(Squared(), y, np.zeros(2), -y, np.ones(2)) == 0
    assert line_step(Squared(), y, np.zeros(2), np.zeros(2), np.ones(2)) == 0


def test_several_outputs_share_one_step() -> None:
    rng = np.random.default_rng(0)
    y, raw = rng.integers(3, size=40).astype(float), np.zeros((40, 3))
    loss = Multinomial(3)
    direction = -loss.gradient(y, raw)
    step = line_step(loss, y, raw, direction, np.ones(40))
    assert loss.value(y, raw + step * direction).sum() < loss.value(y, raw).sum()
