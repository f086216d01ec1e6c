import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from foldwise.paths.penalty import Penalty


def test_the_largest_lambda_is_the_strongest_pull_per_factor():
    every = np.ones(3, dtype=bool)
    penalty = Penalty(0.5, np.array([1.0, 2.0, 0.0]), every, False)
    assert penalty.largest_lambda(np.array([1.0, -4.0, 100.0])) == 4.0


def test_without_a_sign_constraint_pulls_have_two_directions():
    gradient = np.array([3.0, -2.0])
    assert Penalty.uniform(1.0, 2, False).largest_lambda(gradient) == 3.0
    assert Penalty.uniform(1.0, 2, True).largest_lambda(gradient) == 2.0


def test_the_strong_rule_keeps_used_columns_and_those_near_the_threshold():
    penalty = Penalty.uniform(1.0, 4, False)
    w, gradient = np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.7, -0.85, 0.8])
    assert_array_equal(penalty.may_enter(w, gradient, 0.9, 1.0), [True, False, True, True])


def test_a_column_that_is_not_allowed_never_enters():
    penalty = Penalty(1.0, np.ones(2), np.array([True, False]), False)
    assert_array_equal(penalty.violated(np.array([5.0, 5.0]), 1.0, 0.0), [True, False])


def test_value_is_the_penalty_written_out():
    penalty = Penalty(0.25, np.array([1.0, 3.0]), np.ones(2, dtype=bool), False)
    expected = 2.0 * (1 * (0.25 * 1 + 0.375 * 1) + 3 * (0.25 * 2 + 0.375 * 4))
    assert_allclose(penalty.value(np.array([-1.0, 2.0]), 2.0), expected)
