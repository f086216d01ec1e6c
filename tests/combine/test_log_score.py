import numpy as np
import pytest
from scipy.optimize import minimize

from foldwise.combine import log_score_weights


def table() -> np.ndarray:
    """Return pointwise log densities of three models, as R's `sapply(1:3, function(k) ...)`."""
    i, k = np.arange(1, 31)[:, None], np.arange(1, 4)
    return -1 - (np.sin(i * k) + 0.1 * k) ** 2


def test_the_weights_are_those_of_rs_loo() -> None:
    # loo 2.5.1: i <- 1:30; lpd <- sapply(1:3, function(k) -1 - (sin(i * k) + 0.1 * k)^2)
    # The R call: stacking_weights(lpd, optim_control = list(reltol = 1e-14)).
    np.testing.assert_allclose(
        log_score_weights(table()), [0.339034817792, 0.337058538347, 0.323906643861], atol=1e-6
    )
    score = np.log(np.exp(table()) @ log_score_weights(table())).sum()
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


def test_the_duality_gap_is_closed() -> None:
    rng = np.random.default_rng(0)
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
