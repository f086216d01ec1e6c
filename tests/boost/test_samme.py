import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldwise.boost.samme import add_votes, gridded, reweighted, vote_weight


@given(st.floats(0.001, 0.499))
def test_after_a_round_the_learner_is_no_better_than_chance(error) -> None:
    n_wrong = max(1, round(error * 1000))
    wrong = np.arange(1000) < n_wrong
    weight = np.full(1000, 1e-3)
    say = vote_weight(float(weight @ wrong), 2, 1000)
    assert reweighted(weight, wrong, say, 2) @ wrong == pytest.approx(0.5)


@pytest.mark.parametrize("n_classes", [3, 7])
def test_samme_leaves_the_learner_at_its_chance_level(n_classes) -> None:
    wrong = np.arange(100) < 30
    weight = np.full(100, 0.01)
    say = vote_weight(0.3, n_classes, 100)
    assert reweighted(weight, wrong, say, n_classes) @ wrong == pytest.approx(1 - 1 / n_classes)


def test_a_perfect_learner_has_a_finite_say() -> None:
    assert vote_weight(0.0, 2, 50) == pytest.approx(0.5 * np.log(99))


def test_two_class_votes_differ_by_twice_the_say() -> None:
    votes = np.zeros((1, 2))
    add_votes(votes, np.array([1]), 0.7)
    assert votes.tolist() == [[0.0, 1.4]]


def test_gridded_weights_add_up_exactly() -> None:
    rng = np.random.default_rng(0)
    weight = rng.random(1000)
    weight /= weight.sum()
    parts = gridded(weight, np.ones(1000))
    assert parts.sum() == parts[::-1].sum() == np.cumsum(rng.permutation(parts))[-1]
    np.testing.assert_allclose(parts, weight * 1000, atol=1e-9)
