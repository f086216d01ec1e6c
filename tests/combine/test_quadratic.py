import numpy as np
import pytest
from scipy.optimize import minimize

from foldwise.combine.quadratic import pull_to_mean, simplex_minimum, triangle

RNG = np.random.default_rng(0)


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
    rows = RNG.normal(size=(20, 3)) + 0.5
    for scale in (1e-9, 1e9):
        np.testing.assert_allclose(simplex_minimum(scale * rows), simplex_minimum(rows), rtol=1e-9)


def test_nothing_to_choose_by_gives_equal_weights() -> None:
    assert simplex_minimum(np.zeros((3, 2))).tolist() == [0.5, 0.5]


def test_a_triangle_has_the_same_lengths() -> None:
    rows, w = RNG.normal(size=(30, 3)), RNG.normal(size=3)
    assert np.sum((triangle(rows) @ w) ** 2) == pytest.approx(np.sum((rows @ w) ** 2), rel=1e-12)


def test_the_pull_measures_the_distance_from_equal_weights() -> None:
    w = RNG.dirichlet(np.ones(4))
    found = np.sum((pull_to_mean(4, 3.0) @ w) ** 2)
    assert found == pytest.approx(3 * np.sum((w - 0.25) ** 2), rel=1e-12)
