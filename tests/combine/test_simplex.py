import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from foldwise.combine import log_score_weights, simplex_weights, weighted_mean
from foldwise.combine.simplex import pull_to_mean, simplex_minimum, triangle
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
        "simplex_weights: loss must be one of 'squared', 'log' or a function; got 'square'. "
        "Did you mean 'squared'?"
    )


def log_table() -> np.ndarray:
    """Return pointwise log densities of three models, as R's `sapply(1:3, function(k) ...)`."""
    i, k = np.arange(1, 31)[:, None], np.arange(1, 4)
    return -1 - (np.sin(i * k) + 0.1 * k) ** 2


def test_the_weights_are_those_of_rs_loo() -> None:
    # loo 2.5.1: i <- 1:30; lpd <- sapply(1:3, function(k) -1 - (sin(i * k) + 0.1 * k)^2)
    # The R call: stacking_weights(lpd, optim_control = list(reltol = 1e-14)).
    np.testing.assert_allclose(
        log_score_weights(log_table()),
        [0.339034817792, 0.337058538347, 0.323906643861],
        atol=1e-6,
    )
    score = np.log(np.exp(log_table()) @ log_score_weights(log_table())).sum()
    assert score == pytest.approx(-44.254933905868, abs=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_the_score_is_that_of_a_generic_convex_solver(seed: int) -> None:
    rng = np.random.default_rng(seed)
    logs = rng.normal(size=(60, 5)) * rng.uniform(0.2, 2)
    weight = rng.uniform(size=60)
    share = weight / weight.sum()

    def loss(w) -> float:
        return float(-share @ np.log(np.exp(logs) @ w))

    generic = minimize(
        loss,
        np.full(5, 0.2),
        bounds=[(1e-12, 1)] * 5,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    found = log_score_weights(logs, weight)
    assert loss(found) <= generic.fun + 1e-9
    np.testing.assert_allclose(found, generic.x, atol=2e-4)


@pytest.mark.parametrize("seed", range(6))
def test_the_duality_gap_is_closed(seed: int) -> None:
    # Seeds 2 and 4 end where the loss no longer falls to the last bit, at gaps of 1e-9.
    rng = np.random.default_rng(seed)
    logs = rng.normal(size=(2000, 30))
    weights = log_score_weights(logs)
    densities = np.exp(logs)
    gains = (densities / (densities @ weights)[:, None]).mean(axis=0)
    assert gains.max() - 1 <= 1e-10


def test_huge_and_tiny_densities_do_not_matter() -> None:
    rng = np.random.default_rng(1)
    logs = rng.normal(size=(40, 3))
    shift = rng.normal(size=(40, 1)) * 1000
    np.testing.assert_allclose(log_score_weights(logs + shift), log_score_weights(logs), atol=1e-9)


def test_what_one_model_holds_impossible_needs_the_other() -> None:
    logs = np.array([[-np.inf, -1.0], [0.0, -3.0], [0.0, -3.0]])
    weights = log_score_weights(logs)
    assert 0 < weights[1] < 1
    both = np.array([[-np.inf, -np.inf], [0.0, -1.0]])
    assert np.isfinite(log_score_weights(both)).all()


def test_alpha_is_a_penalty_in_nats() -> None:
    rng = np.random.default_rng(2)
    logs = rng.normal(size=(50, 2)) + [0.5, 0.0]
    found = log_score_weights(logs, alpha=0.3)[0]
    grid = np.linspace(0, 1, 100_001)
    losses = [
        -np.log(np.exp(logs) @ [w, 1 - w]).mean() + 0.3 * 2 * (w - 0.5) ** 2 for w in grid[::50]
    ]
    assert found == pytest.approx(grid[::50][np.argmin(losses)], abs=1e-3)


ROWS_RNG = np.random.default_rng(0)


@pytest.mark.parametrize("seed", range(8))
def test_no_feasible_point_is_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(12, 4)) + rng.normal(size=4)
    found = simplex_minimum(rows)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1.0, abs=1e-15)
    other = minimize(
        lambda w: np.sum((rows @ w) ** 2),
        np.full(4, 0.25),
        jac=lambda w: 2 * rows.T @ (rows @ w),
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-15},
    )
    assert np.sum((rows @ found) ** 2) <= other.fun * (1 + 1e-9)


def test_the_scale_of_the_rows_does_not_matter() -> None:
    rows = ROWS_RNG.normal(size=(20, 3)) + 0.5
    for scale in (1e-9, 1e9):
        np.testing.assert_allclose(simplex_minimum(scale * rows), simplex_minimum(rows), rtol=1e-9)


def test_nothing_to_choose_by_gives_equal_weights() -> None:
    assert simplex_minimum(np.zeros((3, 2))).tolist() == [0.5, 0.5]


def test_a_triangle_has_the_same_lengths() -> None:
    rows, w = ROWS_RNG.normal(size=(30, 3)), ROWS_RNG.normal(size=3)
    assert np.sum((triangle(rows) @ w) ** 2) == pytest.approx(np.sum((rows @ w) ** 2), rel=1e-12)


def test_the_pull_measures_the_distance_from_equal_weights() -> None:
    w = ROWS_RNG.dirichlet(np.ones(4))
    found = np.sum((pull_to_mean(4, 3.0) @ w) ** 2)
    assert found == pytest.approx(3 * np.sum((w - 0.25) ** 2), rel=1e-12)
