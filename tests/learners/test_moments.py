import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldwise.learners import rows as matrix_module
from foldwise.learners.moments import (
    atom_moments,
    factored,
    fits_in_memory,
    node_moments,
    solved,
    solved_by,
)
from foldwise.learners.rows import atoms_of, matrix_of
from learners.lattices import LATTICES


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("deal", LATTICES)
def test_moments_of_a_node_are_those_of_its_rows(deal, weighted, monkeypatch):
    monkeypatch.setattr(matrix_module, "BLOCK_BYTES", 1)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 3)) + 5, rng.normal(size=(150, 2)) - 7
    weight = rng.exponential(size=150) if weighted else None
    tasks = LATTICES[deal](150)
    atoms = atoms_of([task.train for task in tasks], 150)
    moments = atom_moments(matrix_of(X), y, weight, atoms)
    for task, members in zip(tasks, atoms.members, strict=True):
        ours = node_moments(moments, members)
        x, t = X[task.train] - ours.centre, y[task.train]
        w = np.ones(len(x)) if weight is None else weight[task.train]
        mean = w @ t / w.sum()
        expected = {
            "xx": x.T @ (w[:, None] * x),
            "xy": x.T @ (w[:, None] * (t - mean)),
            "x": w @ x / w.sum(),
            "y_mean": mean,
            "weight": w.sum(),
            "count": len(x),
            "plain_mean": x.mean(axis=0),
            "plain_var": x.var(axis=0),
        }
        for name, value in expected.items():
            np.testing.assert_allclose(getattr(ours, name), value, rtol=1e-11, atol=1e-11)


def test_numbers_that_are_not_finite_have_no_moments():
    X = np.ones((4, 2))
    X[2, 1] = np.nan
    atoms = atoms_of([np.arange(4)], 4)
    assert atom_moments(matrix_of(X), np.ones((4, 1)), None, atoms) is None


def test_a_node_without_weight_has_no_moments():
    atoms = atoms_of([np.arange(2), np.arange(2, 4)], 4)
    weight = np.array([0.0, 0.0, 1.0, 1.0])
    moments = atom_moments(matrix_of(np.eye(4)), np.ones((4, 1)), weight, atoms)
    assert node_moments(moments, atoms.members[0]) is None
    assert node_moments(moments, atoms.members[1]) is not None


def test_many_wide_moments_do_not_fit_in_memory():
    matrix = matrix_of(np.zeros((100, 2000)))
    assert fits_in_memory(2, 2000, matrix)
    assert not fits_in_memory(20, 2000, matrix)


@given(n=st.integers(1, 12), seed=st.integers(0, 2**16), spread=st.floats(0, 8))
def test_a_solution_that_is_returned_has_eight_digits(n, seed, spread):
    rng = np.random.default_rng(seed)
    vectors, _ = np.linalg.qr(rng.normal(size=(n, n)))
    gram = (vectors * np.logspace(0, -spread, n)) @ vectors.T
    gram = (gram + gram.T) / 2
    truth = rng.normal(size=(n, 2))
    solution = solved(gram, gram @ truth, 1.0)
    if solution is not None:
        np.testing.assert_allclose(solution, truth, rtol=0, atol=1e-8 * np.abs(truth).max())
    assert spread > 4 or solution is not None


def test_the_units_of_the_columns_do_not_matter():
    units = np.diag([1e-6, 1.0, 1e7])
    gram = units @ (np.eye(3) + 0.5) @ units
    truth = np.array([[1e6], [1.0], [1e-7]])
    np.testing.assert_allclose(solved(gram, gram @ truth, 1.0), truth, rtol=1e-12)


@pytest.mark.parametrize("gram", [np.ones((2, 2)), np.diag([1.0, -1.0]), np.diag([1.0, 0.0])])
def test_a_singular_or_indefinite_matrix_has_no_factor(gram):
    assert factored(gram.copy(), 1.0) is None


def test_errors_that_have_grown_already_count():
    assert solved(np.eye(2), np.ones((2, 1)), 1e7) is None


def test_a_factor_is_the_square_root_of_the_scaled_matrix():
    gram = np.array([[4.0, 1.0], [1.0, 9.0]])
    lower, unit = factored(gram.copy(), 1.0)
    np.testing.assert_allclose(lower @ lower.T, gram * np.outer(unit, unit))
    np.testing.assert_allclose(gram @ solved_by((lower, unit), np.eye(2)), np.eye(2), atol=1e-15)
