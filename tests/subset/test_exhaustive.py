"""The sweep against a literal loop: every subset, every fold, fitted by itself."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

from foldwise.subset import exhaustive
from foldwise.subset.columns import Choice, choose_from, count_subsets
from foldwise.subset.exhaustive import sweep_all
from foldwise.subset.moments import SubsetRows, by_split
from foldwise.subset.sinks import BestBySize, Everything


class FoldErrors:
    """All errors, fold by fold, by subset number."""

    def __init__(self):
        self.errors = {}

    def take(self, errors, block):
        for number, column in zip(block.ids | block.more_id, errors.T, strict=True):
            assert number not in self.errors
            self.errors[int(number)] = column


def swept(X, y, weights, splits, units=None, forced=(0,), max_size=None):
    p = X.shape[1]
    units = units or [[j + 1] for j in range(p)]
    train, test = by_split(SubsetRows(X, y, weights), splits)
    sink = FoldErrors()
    choice = Choice(units, list(forced), max_size or p)
    shares = list(sweep_all(train.gram, test.gram, choice, sink))
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(sink.errors) == choice.n_subsets
    scale = train.scale[-1] ** 2
    numbers = {
        tuple(j for j in range(len(units)) if number >> (len(units) - 1 - j) & 1): number
        for number in sink.errors
    }
    return {subset: sink.errors[number] * scale for subset, number in numbers.items()}


def aliased_to_zero(Z, y):
    """R's lm: columns in order, those that add nothing get no coefficient."""
    used = []
    for j in range(Z.shape[1]):
        columns = Z[:, [*used, j]]
        if np.linalg.matrix_rank(columns, tol=1e-6 * np.linalg.norm(Z[:, j])) == len(used) + 1:
            used.append(j)
    beta = np.zeros(Z.shape[1])
    beta[used] = np.linalg.lstsq(Z[:, used], y, rcond=None)[0]
    return beta


@pytest.mark.parametrize("p", [1, 5, 8])
def test_every_error_equals_a_scikit_learn_fit(p):
    rng = np.random.default_rng(p)
    X, y = rng.normal(size=(50, p)) + 5, rng.normal(size=50)
    y += X[:, 0]
    weights = rng.random(50) + 0.1
    splits = list(KFold(4).split(X))
    found = swept(X, y, weights, splits)
    assert len(found) == 2**p
    for columns, errors in found.items():
        for (train, test), error in zip(splits, errors, strict=True):
            Z = X[:, columns] if columns else np.zeros((50, 1))
            model = LinearRegression().fit(Z[train], y[train], weights[train])
            expected = weights[test] @ (y[test] - model.predict(Z[test])) ** 2
            assert_allclose(error, expected, rtol=1e-10)


def test_columns_aliased_in_a_training_fold_get_zero_as_in_r():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(24, 5)), rng.normal(size=24)
    X[:, 2] = X[:, 0]
    X[:, 3] = 0.0
    X[:6, 3] = 1.0  # constant in the training rows of the first fold
    X[6:, 4] = X[6:, 1] + X[6:, 0]  # dependent in the first fold only
    splits = list(KFold(4).split(X))
    found = swept(X, y, np.ones(24), splits)
    for columns, errors in found.items():
        for (train, test), error in zip(splits, errors, strict=True):
            Z = np.column_stack([np.ones(24), X[:, columns]])
            beta = aliased_to_zero(Z[train], y[train])
            assert_allclose(error, np.sum((y[test] - Z[test] @ beta) ** 2), rtol=1e-9)


def test_more_columns_than_training_rows_are_aliased_too():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(6, 7)), rng.normal(size=6)
    splits = list(KFold(3).split(X))
    found = swept(X, y, np.ones(6), splits)
    for columns in [(0, 1, 2), (0, 1, 2, 3), tuple(range(7))]:
        for (train, test), error in zip(splits, found[columns], strict=True):
            Z = np.column_stack([np.ones(6), X[:, columns]])
            beta = aliased_to_zero(Z[train], y[train])
            assert_allclose(error, np.sum((y[test] - Z[test] @ beta) ** 2), rtol=1e-7)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=6),
    st.integers(0, 1),
    st.integers(1, 8),
    st.sampled_from([1, 30, 4096]),
)
def test_groups_forced_columns_and_largest_sizes_in_any_blocks(widths, n_forced, max_size, length):
    rng = np.random.default_rng(0)
    p = sum(widths) + n_forced
    X, y = rng.normal(size=(40, p)), rng.normal(size=40)
    edges = np.cumsum([1 + n_forced, *widths])
    units = [list(range(a, b)) for a, b in itertools.pairwise(edges)]
    splits = list(KFold(2).split(X))
    before, exhaustive.LENGTH = exhaustive.LENGTH, length
    try:
        found = swept(X, y, np.ones(40), splits, units, range(1 + n_forced), max_size)
    finally:
        exhaustive.LENGTH = before
    wanted = [
        subset
        for size in range(len(widths) + 1)
        for subset in itertools.combinations(range(len(widths)), size)
        if sum(widths[u] for u in subset) <= max_size
    ]
    assert sorted(found) == sorted(wanted)
    assert count_subsets(widths, max_size) == len(wanted)
    subset = wanted[-1]
    columns = [*range(n_forced), *(c - 1 for u in subset for c in units[u])]
    train, test = splits[0]
    Z = np.column_stack([np.ones(40), X[:, columns]])
    beta = np.linalg.lstsq(Z[train], y[train], rcond=None)[0]
    assert_allclose(found[subset][0], np.sum((y[test] - Z[test] @ beta) ** 2), rtol=1e-9)


def test_memory_does_not_grow_with_the_number_of_subsets():
    import tracemalloc

    class Nothing:
        def take(self, errors, block):
            pass

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 20)), rng.normal(size=60)
    train, test = by_split(SubsetRows(X, y, np.ones(60)), list(KFold(10).split(X)))
    tracemalloc.start()
    for _ in sweep_all(train.gram, test.gram, choose_from("Test", 20), Nothing()):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The errors alone would take twice that.
    assert peak < 2**20 * 10 * 8 / 2


def test_everything_lists_subsets_by_size_then_lexicographically():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    train, test = by_split(SubsetRows(X, y, np.ones(20)), list(KFold(2).split(X)))
    sink = Everything()
    for _ in sweep_all(train.gram, test.gram, choose_from("Test", 3), sink):
        pass
    kept, _ = sink.table(3)
    listed = [tuple(np.flatnonzero(row)) for row in kept]
    assert listed == [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]


def test_several_sinks_see_the_same():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    train, test = by_split(SubsetRows(X, y, np.ones(20)), list(KFold(2).split(X)))
    by_size, everything = BestBySize(3), Everything()
    list(sweep_all(train.gram, test.gram, choose_from("Test", 3), by_size, everything))
    kept, errors = everything.table(3)
    least = [errors[kept.sum(axis=1) == size].min() for size in range(4)]
    assert_allclose(by_size.errors, least)
