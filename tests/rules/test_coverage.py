import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from foldwise.isle.table import CodedTable, Columns
from foldwise.rules.conditions import Interval
from foldwise.rules.coverage import coverage, distinct, supports, unpacked
from foldwise.rules.rule import Rule, conjunction


def test_bits_are_what_each_rule_selects():
    rng = np.random.default_rng(0)
    table = CodedTable(rng.normal(size=(37, 3)), Columns.numeric(3))
    rules = [
        conjunction([Interval(0, high=0.1), Interval(2, low=-0.5)]),
        Rule((Interval(1, -1.0, 1.0),)),
    ]
    bits = coverage(rules, table)
    assert bits.shape == (2, 5)
    assert_array_equal(unpacked(bits, 37).astype(bool), [rule.holds(table) for rule in rules])


def test_supports_are_weighted_shares():
    rng = np.random.default_rng(0)
    masks, weight = rng.random((300, 21)) < 0.3, rng.random(21)
    found = supports(np.packbits(masks, axis=1), weight, block=7)
    assert_allclose(found, masks @ weight / weight.sum())


def test_no_rules_have_no_supports():
    assert supports(np.empty((0, 2), dtype=np.uint8), np.ones(9)).shape == (0,)


@given(arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 11))))
def test_what_is_kept_is_distinct_and_says_all_that_was_said(masks):
    kept = distinct(np.packbits(masks, axis=1), masks.shape[1], [1] * len(masks))

    def canonical(row):
        return tuple(row ^ row[0])

    wanted = {canonical(row) for row in masks} - {(False,) * masks.shape[1]}
    assert {canonical(masks[k]) for k in kept} == wanted
    assert len(kept) == len(wanted)


def test_the_shortest_rule_stands_for_its_equals():
    masks = np.array([[1, 1, 0], [0, 0, 1], [1, 1, 0]], dtype=bool)
    assert distinct(np.packbits(masks, axis=1), 3, [3, 2, 1]) == [2]
