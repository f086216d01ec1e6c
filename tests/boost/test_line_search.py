import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from foldwise.boost.class_losses import Exponential, Logistic, Multinomial
from foldwise.boost.line_search import LONGEST_STEP, line_step
from foldwise.boost.regression_losses import Absolute, Huber, Poisson, Quantile, Squared, Tweedie

LOSSES = [Squared(), Absolute(), Huber(0.9, 0.5), Quantile(0.2), Poisson(), Tweedie(1.5)]
LOSSES += [Logistic(), Exponential()]


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
