import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_friedman1

from foldwise.isle.data import CodedTable, Columns, TreeData
from foldwise.isle.grow import Growth
from foldwise.rules import dictionary as module
from foldwise.rules.dictionary import coverage, distinct, grow_dictionary, supports, unpacked
from foldwise.rules.rule import Interval, Rule, conjunction

GROWTH = Growth((4,) * 40, sample_fraction=0.5, memory=0.1, min_samples_leaf=5)


@pytest.fixture(scope="module")
def grown():
    X, y = make_friedman1(203, random_state=0)
    table = CodedTable(X, Columns.numeric(10))
    return *grow_dictionary("test", TreeData(table, y, np.ones(203)), GROWTH, 0.025), table, y


def test_no_two_rules_select_the_same_or_the_other_rows(grown):
    dictionary, _, table, _ = grown
    rows = {tuple(rule.holds(table)) for rule in dictionary.rules}
    assert len(rows) == len(dictionary.rules)
    assert not any(tuple(~np.array(row)) in rows for row in rows)
    assert all(0 < sum(row) < 203 for row in rows)


def test_the_matrix_is_rules_then_linear_terms(grown):
    dictionary, bits, table, _ = grown
    D = dictionary.matrix(table)
    assert_array_equal(D, dictionary.matrix(table, bits))
    n_rules = len(dictionary.rules)
    assert_array_equal(D[:, :n_rules].T, [rule.holds(table) for rule in dictionary.rules])
    assert_allclose(D[:, :n_rules].mean(axis=0), dictionary.supports)
    assert_array_equal(D[:, n_rules:], dictionary.linear.matrix(table))


def test_a_large_matrix_is_sparse_and_the_same(grown, monkeypatch):
    dictionary, bits, table, _ = grown
    dense = dictionary.matrix(table, bits)
    monkeypatch.setattr(module, "DENSE_NUMBERS", 10)
    thin = dictionary.matrix(table, bits)
    assert sparse.issparse(thin)
    assert_array_equal(thin.toarray(), dense)


def test_without_linear_terms_there_are_rules_only(grown):
    _, _, table, y = grown
    dictionary, bits = grow_dictionary("test", TreeData(table, y, np.ones(203)), GROWTH, None)
    assert len(dictionary) == len(dictionary.rules)
    assert_array_equal(unpacked(bits, 203), unpacked(coverage(dictionary.rules, table), 203))


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
