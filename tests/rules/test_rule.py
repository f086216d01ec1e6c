import numpy as np
from numpy.testing import assert_array_equal

from foldwise.isle.table import CodedTable, Columns
from foldwise.rules.conditions import Interval
from foldwise.rules.rule import Rule, conjunction


def test_conditions_on_one_column_become_one():
    rule = conjunction([Interval(1, high=9.0), Interval(0, low=1.0), Interval(1, high=5.0)])
    assert rule == Rule((Interval(0, low=1.0), Interval(1, high=5.0)))


def test_a_rule_selects_rows_where_all_conditions_hold():
    table = CodedTable(np.array([[1.0, 5.0], [2.0, 5.0], [2.0, 6.0]]), Columns.numeric(2))
    rule = conjunction([Interval(0, low=1.0), Interval(1, high=5.0)])
    assert_array_equal(rule.holds(table), [False, True, False])
