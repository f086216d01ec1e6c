import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from foldwise.isle.data import CodedTable, Columns
from foldwise.rules.rule import Interval, Members, Rule, both, conjunction


def test_conditions_on_one_column_become_one():
    rule = conjunction([Interval(1, high=9.0), Interval(0, low=1.0), Interval(1, high=5.0)])
    assert rule == Rule((Interval(0, low=1.0), Interval(1, high=5.0)))


def test_a_rule_selects_rows_where_all_conditions_hold():
    table = CodedTable(np.array([[1.0, 5.0], [2.0, 5.0], [2.0, 6.0]]), Columns.numeric(2))
    rule = conjunction([Interval(0, low=1.0), Interval(1, high=5.0)])
    assert_array_equal(rule.holds(table), [False, True, False])


VALUES = np.array([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, np.nan])
ends = st.sampled_from([-np.inf, -1.0, 0.0, 1.0, 2.0, np.inf])
intervals = st.builds(Interval, st.just(0), ends, ends, st.booleans())
codes = st.frozensets(st.integers(0, 3))
members = st.builds(Members, st.just(0), codes, st.booleans(), st.booleans())


@given(intervals, intervals)
def test_two_ranges_together_select_what_both_select(first, second):
    assert_array_equal(
        both(first, second).holds(VALUES), first.holds(VALUES) & second.holds(VALUES)
    )


@given(members, members)
def test_two_sets_together_select_what_both_select(first, second):
    assert_array_equal(
        both(first, second).holds(VALUES), first.holds(VALUES) & second.holds(VALUES)
    )


def test_a_range_and_a_set_on_one_column_cannot_be():
    with pytest.raises(TypeError, match="numbers or categories, not both"):
        both(Interval(0), Members(0, frozenset({1})))


def test_missing_passes_only_where_said():
    column = np.array([1.0, 2.0, np.nan])
    assert_array_equal(Members(0, frozenset({1})).holds(column), [True, False, False])
    assert_array_equal(Members(0, frozenset({1}), True).holds(column), [False, True, False])
    assert_array_equal(Members(0, frozenset({1}), True, True).holds(column), [False, True, True])
    assert_array_equal(Interval(0, high=1.0).holds(column), [True, False, False])
    assert_array_equal(Interval(0, low=1.0, missing=True).holds(column), [False, True, True])
