import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from foldwise.paths.pivoting import ActiveSet
from foldwise.paths.quadratic import PenalisedQuadratic


def moments(seed, n, p):
    rng = np.random.default_rng(seed)
    D = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    return D.T @ D / n, D.T @ (D[:, 0] - D[:, -1] + rng.normal(size=n)) / n


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), p=st.integers(2, 12), moves=st.lists(st.integers(0, 2**12)))
def test_the_inverse_stays_right_while_blocks_come_and_go(seed, p, moves):
    Q, q = moments(seed, 40, p)
    active = ActiveSet(Q, q, non_negative=False)
    for move in moves:
        wanted = np.array([bool(move >> j & 1) for j in range(p)])
        active.drop(~wanted[active.columns])
        new = np.setdiff1d(np.flatnonzero(wanted), active.columns)
        active.add(new, np.ones(len(new)))
        assert sorted(active.columns) == list(np.flatnonzero(wanted))
        block = Q[np.ix_(active.columns, active.columns)]
        assert_allclose(active.inverse @ block, np.eye(len(block)), atol=1e-7)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    p=st.integers(2, 20),
    share=st.floats(0.01, 0.9),
    non_negative=st.booleans(),
)
def test_it_finds_what_coordinate_descent_converges_to(seed, p, share, non_negative):
    Q, q = moments(seed, 60, p)
    lam = share * np.abs(q).max()
    found = ActiveSet(Q, q, non_negative).solve(lam, np.arange(p), Q)
    slow = PenalisedQuadratic(Q, q, 10.0, non_negative, 1e-13).descend(lam, np.zeros(p))
    assert found is not None
    assert_allclose(found, slow, atol=1e-5)


def test_a_copy_of_a_column_is_not_taken_in():
    Q, q = moments(0, 30, 3)
    twice = np.array([0, 1, 2, 0])
    active = ActiveSet(Q[np.ix_(twice, twice)], q[twice], non_negative=False)
    active.add(np.arange(4), np.ones(4))
    assert len(active.columns) == 3


def test_a_parent_rule_that_is_the_sum_of_its_children_does_no_harm():
    rng = np.random.default_rng(0)
    left, right = rng.random((2, 80, 10)) < 0.3
    right &= ~left
    D = np.hstack([left, right, left | right]).astype(float)
    D -= D.mean(axis=0)
    y = D[:, 0] + D[:, 25] + rng.normal(size=80)
    Q, q = D.T @ D / 80, D.T @ (y - y.mean()) / 80
    active = ActiveSet(Q, q, non_negative=False)
    for lam in np.abs(q).max() * np.geomspace(0.95, 0.02, 30):
        w = active.solve(lam, np.arange(30), Q)
        assert w is not None
        left_over = q - Q @ w
        assert np.abs(left_over).max() <= lam * (1 + 1e-7)
        assert_allclose(left_over[w != 0], lam * np.sign(w[w != 0]), rtol=1e-6)


def test_it_gives_up_rather_than_return_something_wrong(monkeypatch):
    Q, q = moments(3, 60, 8)
    monkeypatch.setattr("foldwise.paths.pivoting.PATIENCE", 1)
    active = ActiveSet(Q, q, non_negative=False)
    results = [active.solve(lam, np.arange(8), Q) for lam in (1e-4, 0.5, 1e-3)]
    for lam, w in zip((1e-4, 0.5, 1e-3), results, strict=True):
        assert w is None or np.abs(q - Q @ w).max() <= lam * (1 + 1e-7)


@pytest.mark.parametrize("non_negative", [True, False])
def test_start_from_takes_the_signs_of_the_start(non_negative):
    Q, q = moments(1, 40, 4)
    active = ActiveSet(Q, q, non_negative)
    active.start_from(np.array([0.0, 2.0, 0.0, -1.0]))
    assert list(active.columns) == [1, 3]
    assert list(active.signs) == [1, -1]
