"""Against the textbook's sums, written as loops."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from foldwise.diagnose.overall import (
    coincident_failure_diversity,
    difficulty,
    entropy,
    generalised_diversity,
    interrater_agreement,
    kohavi_wolpert_variance,
)
from foldwise.diagnose.pairwise import disagreements, joint_shares, mean_of_pairs

ALL = (
    entropy,
    kohavi_wolpert_variance,
    interrater_agreement,
    difficulty,
    generalised_diversity,
    coincident_failure_diversity,
)


def textbook(correct: np.ndarray) -> dict[str, float]:
    """Kuncheva and Whitaker (2003), equations 8 to 19, row by row."""
    n, models = correct.shape
    right = [int(sum(row)) for row in correct]
    e = sum(min(r, models - r) for r in right) / (n * (models - math.ceil(models / 2)))
    kw = sum(r * (models - r) for r in right) / (n * models**2)
    p = sum(right) / (n * models)
    kappa = 1 - sum(r * (models - r) for r in right) / models / (n * (models - 1) * p * (1 - p))
    mean = sum(r / models for r in right) / n
    theta = sum((r / models - mean) ** 2 for r in right) / n
    fails = [sum(models - r == i for r in right) / n for i in range(models + 1)]
    p1 = sum(i / models * fails[i] for i in range(1, models + 1))
    p2 = sum(i * (i - 1) / (models * (models - 1)) * fails[i] for i in range(1, models + 1))
    cfd = sum((models - i) / (models - 1) * fails[i] for i in range(1, models + 1))
    return {
        "entropy": e,
        "kohavi_wolpert_variance": kw,
        "interrater_agreement": kappa,
        "difficulty": theta,
        "generalised_diversity": 1 - p2 / p1,
        "coincident_failure_diversity": cfd / (1 - fails[0]),
    }


@pytest.mark.parametrize("n_models", [2, 3, 4, 7])
def test_all_six_are_what_the_textbook_says(n_models: int) -> None:
    correct = np.random.default_rng(n_models).random((50, n_models)) < 0.7
    share = np.full(50, 1 / 50)
    for measure in ALL:
        assert_allclose(measure(correct, share), textbook(correct)[measure.__name__], atol=1e-14)


@pytest.mark.parametrize("measure", ALL)
def test_weights_repeat_rows(measure) -> None:
    rng = np.random.default_rng(0)
    correct, weight = rng.random((40, 5)) < 0.6, rng.integers(0, 4, 40)
    repeated = np.repeat(correct, weight, axis=0)
    even = np.full(len(repeated), 1 / len(repeated))
    assert_allclose(measure(correct, weight / weight.sum()), measure(repeated, even))


def test_variance_is_the_mean_disagreement_up_to_a_factor() -> None:
    correct = np.random.default_rng(1).random((80, 6)) < 0.8
    share = np.full(80, 1 / 80)
    mean = mean_of_pairs(disagreements(joint_shares(correct, share)))
    assert_allclose(kohavi_wolpert_variance(correct, share), 5 / 12 * mean)


@pytest.mark.parametrize("n_models", [1, 3])
@pytest.mark.parametrize("value", [True, False])
def test_models_that_never_differ_have_no_diversity(n_models: int, value: bool) -> None:
    correct, share = np.full((4, n_models), value), np.full(4, 0.25)
    found = [measure(correct, share) for measure in ALL]
    assert found == [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


def test_one_model_has_no_diversity() -> None:
    correct, share = np.array([[True], [False]]), np.array([0.5, 0.5])
    found = [measure(correct, share) for measure in ALL]
    assert found == [0.0, 0.0, 1.0, 0.25, 0.0, 0.0]


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=8))
def test_no_nan_and_in_range_whatever_the_rows(rows) -> None:
    correct = np.array(rows)
    share = np.full(len(rows), 1 / len(rows))
    for measure in ALL:
        low = -0.5 - 1e-12 if measure is interrater_agreement else 0.0
        assert low <= measure(correct, share) <= 1.0 + 1e-12
