import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_friedman1

from foldwise.isle.grow import Growth
from foldwise.isle.table import CodedTable, Columns
from foldwise.rules import dictionary as module
from foldwise.rules.coverage import coverage, unpacked
from foldwise.rules.dictionary import grow_dictionary

GROWTH = Growth("squared", (4,) * 40, 0.5, 0.1, 5, None, 1, 1.0, 0, 1)


@pytest.fixture(scope="module")
def grown():
    X, y = make_friedman1(203, random_state=0)
    table = CodedTable(X, Columns.numeric(10))
    return *grow_dictionary(table, y, np.ones(203), GROWTH, 0.025), table, y


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
    assert_array_equal(D[:, n_rules:], dictionary.linear.values(table))


def test_a_large_matrix_is_sparse_and_the_same(grown, monkeypatch):
    dictionary, bits, table, _ = grown
    dense = dictionary.matrix(table, bits)
    monkeypatch.setattr(module, "DENSE_NUMBERS", 10)
    thin = dictionary.matrix(table, bits)
    assert sparse.issparse(thin)
    assert_array_equal(thin.toarray(), dense)


def test_without_linear_terms_there_are_rules_only(grown):
    _, _, table, y = grown
    dictionary, bits = grow_dictionary(table, y, np.ones(203), GROWTH, None)
    assert len(dictionary) == len(dictionary.rules)
    assert_array_equal(unpacked(bits, 203), unpacked(coverage(dictionary.rules, table), 203))
