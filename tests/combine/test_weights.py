import numpy as np
import pytest
from scipy.optimize import minimize

from foldwise.combine import best_weights, mean_weights, nnls_weights


@pytest.fixture
def problem() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    predictions = y[:, None] * [0.7, 0.5, -0.3, 0.0] + rng.normal(size=(60, 4))
    return predictions, y, rng.uniform(0.1, 2.0, size=60)


def test_the_plain_mean_weighs_all_alike() -> None:
    assert mean_weights(3).tolist() == [1 / 3] * 3


def test_the_best_takes_all_and_the_first_of_a_tie() -> None:
    assert best_weights(np.array([1.0, 2.0, 2.0])).tolist() == [0, 1, 0]


def test_nan_never_wins() -> None:
    assert best_weights(np.array([np.nan, -5.0])).tolist() == [0, 1]
    assert best_weights(np.array([np.nan, np.nan])).sum() == 1


@pytest.mark.parametrize("weighted", [False, True])
def test_nnls_is_the_constrained_minimum(
    problem: tuple[np.ndarray, np.ndarray, np.ndarray], weighted: bool
) -> None:
    predictions, y, weight = problem
    used = weight if weighted else np.ones(len(y))
    found = nnls_weights(predictions, y, weight if weighted else None)
    brute = minimize(
        lambda w: used @ (y - predictions @ w) ** 2,
        np.full(4, 0.25),
        bounds=[(0, None)] * 4,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10},
    )
    np.testing.assert_allclose(found, brute.x, atol=1e-6)
    assert (found >= 0).all()


def test_an_integer_weight_repeats_its_row(
    problem: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    predictions, y, _ = problem
    times = np.arange(60) % 3
    repeated = nnls_weights(np.repeat(predictions, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(nnls_weights(predictions, y, times), repeated, atol=1e-12)


def test_nnls_bears_fewer_rows_than_models_and_equal_models() -> None:
    y = np.array([1.0, 2.0])
    weights = nnls_weights(np.column_stack([y, y, y]), y)
    np.testing.assert_allclose(weights.sum(), 1.0)
