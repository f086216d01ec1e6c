"""Against the textbook's two by two tables, counted by loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from foldwise.diagnose.pairwise import (
    correlations,
    disagreements,
    double_faults,
    joint_shares,
    mean_of_pairs,
    q_statistics,
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
            assert_allclose(q_statistics(shares)[i, k], (a * d - b * c) / (a * d + b * c))
            rho = (a * d - b * c) / np.sqrt((a + b) * (c + d) * (a + c) * (b + d))
            assert_allclose(correlations(shares)[i, k], rho)
            assert_allclose(disagreements(shares)[i, k], (b + c) / n)
            assert_allclose(double_faults(shares)[i, k], d / n)


def test_correlation_is_pearsons(case) -> None:
    correct, weight, shares = case
    repeated = np.repeat(correct, weight.astype(int), axis=0)
    assert_allclose(correlations(shares), np.corrcoef(repeated.T), atol=1e-12)


def test_weights_repeat_rows(case) -> None:
    correct, weight, shares = case
    repeated = np.repeat(correct, weight.astype(int), axis=0)
    again = joint_shares(repeated, np.full(len(repeated), 1 / len(repeated)))
    assert_allclose(q_statistics(shares), q_statistics(again))


def test_a_constant_model_is_independent_of_others_and_like_itself() -> None:
    correct = np.array([[True, True, False], [True, False, True], [True, True, True]])
    shares = joint_shares(correct, np.full(3, 1 / 3))
    for measure in (q_statistics, correlations):
        assert measure(shares)[0].tolist() == [1.0, 0.0, 0.0]


def test_identical_columns_have_q_one_even_when_always_right() -> None:
    shares = joint_shares(np.ones((5, 2), dtype=bool), np.full(5, 0.2))
    assert q_statistics(shares).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert correlations(shares).tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_opposite_models_have_q_minus_one() -> None:
    correct = np.array([[True, False], [False, True]])
    shares = joint_shares(correct, np.full(2, 0.5))
    assert q_statistics(shares)[0, 1] == correlations(shares)[0, 1] == -1.0


def test_one_model_is_compared_with_itself() -> None:
    assert mean_of_pairs(np.array([[0.3]])) == 0.3


@given(st.data())
def test_no_nan_and_in_range_whatever_the_rows(data) -> None:
    n, m = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    rows = data.draw(st.lists(st.lists(st.booleans(), min_size=m, max_size=m), min_size=n))
    correct = np.array(rows)
    share = np.full(len(correct), 1 / len(correct))
    shares = joint_shares(correct, share)
    for measure in (q_statistics, correlations):
        values = measure(shares)
        assert np.isfinite(values).all()
        assert (np.abs(values) <= 1).all()
        assert_allclose(values, values.T)
    total = shares.both + shares.first_only + shares.second_only + shares.neither
    assert_allclose(total, 1.0)
