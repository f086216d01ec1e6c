import itertools

import numpy as np
import pytest

from foldwise.combine import simplex_weights, weighted_mean
from foldwise.errors import InvalidParameterError

RNG = np.random.default_rng(0)
Y = RNG.normal(size=80)
MODELS = Y[:, None] + RNG.normal(size=(80, 3)) * [1.0, 0.7, 1.5] + [0.3, 0.0, -0.5]
CODES = RNG.integers(0, 3, 90)
CHANCES = 0.6 * RNG.dirichlet(np.ones(3), size=(90, 3)) + 0.4 * (
    np.eye(3)[CODES][:, None] * RNG.uniform(0.2, 1, size=(90, 3, 1)) + 0.0
)
CHANCES /= CHANCES.sum(axis=2, keepdims=True)
STEPS = np.arange(0, 101)
GRID = np.array([(i, j, 100 - i - j) for i, j in itertools.product(STEPS, STEPS) if i + j <= 100])
GRID = GRID / 100


def squared(w) -> float:
    return float(np.mean((MODELS @ w - Y) ** 2))


def logarithmic(w) -> float:
    return float(-np.log(CHANCES[np.arange(90), :, CODES] @ w).mean())


def brier(w) -> float:
    return float(np.mean((weighted_mean(CHANCES, w) - np.eye(3)[CODES]) ** 2))


@pytest.mark.parametrize(
    ("given", "y", "loss", "value"),
    [
        (MODELS, Y, "squared", squared),
        (CHANCES, CODES, "log", logarithmic),
        (CHANCES, CODES, "squared", brier),
    ],
    ids=["squared", "log", "brier"],
)
def test_three_models_agree_with_a_grid_of_all_weights(given, y, loss, value) -> None:
    found = simplex_weights(given, y, loss=loss)
    losses = np.array([value(w) for w in GRID])
    assert value(found) <= losses.min() + 1e-12
    # The grid is a hundredth wide, so its best point is no further away than that.
    assert np.abs(found - GRID[losses.argmin()]).max() <= 0.011


def test_any_loss_is_never_worse_than_the_mean_and_every_model_and_near_the_best() -> None:
    def absolute(combined) -> float:
        return float(np.abs(Y - combined).mean())

    found = simplex_weights(MODELS, Y, loss=absolute)
    value = absolute(MODELS @ found)
    assert value <= min(absolute(MODELS.mean(axis=1)), *(absolute(MODELS[:, m]) for m in range(3)))
    assert value <= min(absolute(MODELS @ w) for w in GRID[::3]) * 1.001
    assert found.sum() == pytest.approx(1.0)


def test_a_loss_that_is_nowhere_defined_leaves_the_mean() -> None:
    assert simplex_weights(MODELS, Y, loss=lambda _: np.nan).tolist() == [1 / 3] * 3


@pytest.mark.parametrize(("given", "y", "loss"), [(MODELS, Y, "squared"), (CHANCES, CODES, "log")])
def test_alpha_leads_from_the_least_loss_to_the_mean(given, y, loss) -> None:
    away = [
        np.abs(simplex_weights(given, y, loss=loss, alpha=a) - 1 / 3).max()
        for a in (0.0, 0.01, 1.0, 1e8)
    ]
    assert away == sorted(away, reverse=True)
    assert away[-1] < 1e-4


def test_alpha_is_in_units_of_the_squared_error_of_the_mean() -> None:
    alpha = 0.1
    found = simplex_weights(MODELS, Y, alpha=alpha)
    unit = squared(np.full(3, 1 / 3))
    losses = [squared(w) + alpha * unit * np.sum((w - 1 / 3) ** 2) for w in GRID]
    assert np.abs(found - GRID[np.argmin(losses)]).max() <= 0.011
    np.testing.assert_allclose(simplex_weights(10 * MODELS, 10 * Y, alpha=alpha), found, rtol=1e-9)


@pytest.mark.parametrize("loss", ["squared", "log"])
def test_a_row_of_weight_two_is_two_rows(loss: str) -> None:
    weight = RNG.integers(0, 3, 90)
    found = simplex_weights(CHANCES, CODES, weight.astype(float), loss=loss)
    twice = simplex_weights(np.repeat(CHANCES, weight, axis=0), np.repeat(CODES, weight), loss=loss)
    np.testing.assert_allclose(found, twice, atol=1e-5)


def test_an_unknown_loss_is_named() -> None:
    with pytest.raises(InvalidParameterError) as caught:
        simplex_weights(MODELS, Y, loss="square")
    assert str(caught.value) == (
        "simplex_weights: loss must be 'squared', 'log' or a function; got 'square'. "
        "Did you mean 'squared'?"
    )
