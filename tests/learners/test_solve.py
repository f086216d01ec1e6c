import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldwise.learners.solve import factored, solved, solved_by


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
