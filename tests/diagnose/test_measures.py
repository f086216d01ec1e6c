import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from foldwise.diagnose.measures import (
    coincident_failure_diversity,
    correlation,
    difficulty,
    disagreement,
    double_fault,
    entropy,
    generalised_diversity,
    interrater_agreement,
    joint_shares,
    kohavi_wolpert_variance,
    mean_of_pairs,
    q_statistic,
)


def counted(correct, weight, i, k):
    """N11, N10, N01, N00 as in Kuncheva and Whitaker's table 1."""
    a = b = c = d = 0.0
    for row, w in zip(correct, weight, strict=True):
        a += w * (row[i] and row[k])
        b += w * (row[i] and not row[k])
        c += w * (not row[i] and row[k])
        d += w * (not row[i] and not row[k])
    return a, b, c, d


@pytest.fixture(params=["plain", "weighted"])
def case(request):
    rng = np.random.default_rng(3)
    correct = rng.random((60, 4)) < [0.9, 0.6, 0.7, 0.5]
    weight = np.ones(60) if request.param == "plain" else rng.integers(0, 4, 60).astype(float)
    return correct, weight, joint_shares(correct, weight / weight.sum())


def test_all_four_are_what_the_textbook_says(case) -> None:
    correct, weight, shares = case
    for i in range(4):
        for k in range(4):
            if i == k:
                continue
            a, b, c, d = counted(correct, weight, i, k)
            n = a + b + c + d
            assert_allclose(q_statistic(shares)[i, k], (a * d - b * c) / (a * d + b * c))
            rho = (a * d - b * c) / np.sqrt((a + b) * (c + d) * (a + c) * (b + d))
            assert_allclose(correlation(shares)[i, k], rho)
            assert_allclose(disagreement(shares)[i, k], (b + c) / n)
            assert_allclose(double_fault(shares)[i, k], d / n)


def test_correlation_is_pearsons(case) -> None:
    correct, weight, shares = case
    repeated = np.repeat(correct, weight.astype(int), axis=0)
    assert_allclose(correlation(shares), np.corrcoef(repeated.T), atol=1e-12)


def test_weights_repeat_rows_of_pairs(case) -> None:
    correct, weight, shares = case
    repeated = np.repeat(correct, weight.astype(int), axis=0)
    again = joint_shares(repeated, np.full(len(repeated), 1 / len(repeated)))
    assert_allclose(q_statistic(shares), q_statistic(again))


def test_a_constant_model_is_independent_of_others_and_like_itself() -> None:
    correct = np.array([[True, True, False], [True, False, True], [True, True, True]])
    shares = joint_shares(correct, np.full(3, 1 / 3))
    for measure in (q_statistic, correlation):
        assert measure(shares)[0].tolist() == [1.0, 0.0, 0.0]


def test_identical_columns_have_q_one_even_when_always_right() -> None:
    shares = joint_shares(np.ones((5, 2), dtype=bool), np.full(5, 0.2))
    assert q_statistic(shares).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert correlation(shares).tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_opposite_models_have_q_minus_one() -> None:
    correct = np.array([[True, False], [False, True]])
    shares = joint_shares(correct, np.full(2, 0.5))
    assert q_statistic(shares)[0, 1] == correlation(shares)[0, 1] == -1.0


def test_one_model_is_compared_with_itself() -> None:
    assert mean_of_pairs(np.array([[0.3]])) == 0.3


@given(st.data())
def test_pairs_have_no_nan_and_are_in_range_whatever_the_rows(data) -> None:
    n, m = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    rows = data.draw(st.lists(st.lists(st.booleans(), min_size=m, max_size=m), min_size=n))
    correct = np.array(rows)
    share = np.full(len(correct), 1 / len(correct))
    shares = joint_shares(correct, share)
    for measure in (q_statistic, correlation):
        values = measure(shares)
        assert np.isfinite(values).all()
        assert (np.abs(values) <= 1).all()
        assert_allclose(values, values.T)
    total = shares.both + shares.first_only + shares.second_only + shares.neither
    assert_allclose(total, 1.0)


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
    mean = mean_of_pairs(disagreement(joint_shares(correct, share)))
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
