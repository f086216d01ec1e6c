import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from foldwise.combine import (
    best_weights,
    bic_weights,
    mean_weights,
    nnls_weights,
    pseudo_bma_plus_weights,
    pseudo_bma_weights,
)


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


# The table of test_log_score.py; loo 2.5.1: i <- 1:30
# lpd <- sapply(1:3, function(k) -1 - (sin(i * k) + 0.1 * k)^2)
MODEL = np.arange(1, 4)
TABLE = -1 - (np.sin(np.arange(1, 31)[:, None] * MODEL) + 0.1 * MODEL) ** 2


def test_bic_weights_by_hand() -> None:
    # BIC = -2 loglik + d log(n), n = 100: 209.2103, 213.8155, 215.8155 - 2 * 1.5.
    logs, d = np.array([-100.0, -100.0, -99.5]), np.array([2, 3, 3])
    bic = np.array([209.21034037, 213.81551056, 212.81551056])
    np.testing.assert_allclose(-2 * logs + d * np.log(100), bic)
    expected = np.exp(-(bic - bic.min()) / 2)
    expected /= expected.sum()
    np.testing.assert_allclose(bic_weights(logs, d, 100), expected, rtol=1e-8)
    np.testing.assert_allclose(bic_weights(logs, d, 100), [0.7906, 0.0791, 0.1303], atol=1e-4)


def test_a_prior_multiplies_and_a_model_without_one_has_no_weight() -> None:
    logs, d = np.array([-10.0, -11.0, -9.0]), np.array([1, 1, 1])
    prior = np.array([1.0, 3.0, 0.0])
    expected = prior * np.exp(logs)
    np.testing.assert_allclose(bic_weights(logs, d, 50, prior), expected / expected.sum())


def test_pseudo_bma_is_that_of_rs_loo() -> None:
    # The R call: pseudobma_weights(lpd, BB = FALSE).
    np.testing.assert_allclose(
        pseudo_bma_weights(TABLE), [0.53297310252, 0.28970539833, 0.17732149915], rtol=1e-10
    )


def test_pseudo_bma_plus_is_that_of_rs_loo() -> None:
    # set.seed(1); pseudobma_weights(lpd, BB = TRUE, BB_n = 400000); its own error is 3e-4.
    found = pseudo_bma_plus_weights(TABLE, n_draws=100_000, random_state=0)
    np.testing.assert_allclose(found, [0.396315, 0.323308, 0.280376], atol=3e-3)


def test_pseudo_bma_plus_is_the_mean_over_reweighted_rows() -> None:
    rng = np.random.default_rng(5)
    drawn = rng.exponential(size=(40, 30))
    drawn *= 30 / drawn.sum(axis=1, keepdims=True)
    expected = softmax(drawn @ TABLE, axis=1).mean(axis=0)
    found = pseudo_bma_plus_weights(TABLE, n_draws=40, random_state=5)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_a_row_of_weight_two_is_two_rows() -> None:
    weight = np.tile([0.0, 1.0, 2.0], 10)
    twice = np.repeat(TABLE, weight.astype(int), axis=0)
    np.testing.assert_allclose(pseudo_bma_weights(TABLE, weight), pseudo_bma_weights(twice))
    found = pseudo_bma_plus_weights(TABLE, weight, n_draws=20_000, random_state=0)
    expected = pseudo_bma_plus_weights(twice, n_draws=20_000, random_state=1)
    np.testing.assert_allclose(found, expected, atol=0.015)


def test_one_seed_gives_one_answer() -> None:
    one, two = (pseudo_bma_plus_weights(TABLE, random_state=4) for _ in range(2))
    assert one.tolist() == two.tolist()


def test_hopeless_models_get_nothing_and_no_warning() -> None:
    logs = np.column_stack([TABLE[:, 0], TABLE[:, 1] - 1000])
    assert pseudo_bma_weights(logs).tolist() == [1.0, 0.0]
    assert pseudo_bma_plus_weights(logs, random_state=0) == pytest.approx([1.0, 0.0])
