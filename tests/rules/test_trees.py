import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.ensemble import RandomForestRegressor

from foldwise.isle.data import CodedTable, Columns, TreeData
from foldwise.isle.grow import Growth, grow_trees
from foldwise.rules.rule import Interval, Members, Rule
from foldwise.rules.trees import (
    Cuts,
    TreeSplit,
    lightgbm_trees,
    number_split,
    rules_of,
    short_number_between,
    sklearn_trees,
    xgboost_trees,
)


def leaf_rules(trees):
    """The rules of leaves only, tree by tree, by brute force recursion."""

    def walk(split, conditions):
        for asked, below in zip(split.asks, split.below, strict=True):
            if below is None:
                yield (*conditions, asked)
            else:
                yield from walk(below, (*conditions, asked))

    return [list(walk(tree, ())) for tree in trees]


def partition(trees, table):
    """For each tree, which leaf (in our order) each row falls into; each row in just one."""
    out = []
    for leaves in leaf_rules(trees):
        inside = np.array(
            [np.all([c.holds(table.column(c.feature)) for c in leaf], axis=0) for leaf in leaves]
        )
        assert_array_equal(inside.sum(axis=0), 1)
        out.append(inside.argmax(axis=0))
    return np.array(out).T


def same_partition(a, b):
    """Two labellings of rows are the same up to the names of the labels."""
    pairs = np.unique(np.column_stack([a, b]), axis=0)
    return len(pairs) == len(np.unique(a)) == len(np.unique(b))


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(600, 5)), 2)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 2] = rng.integers(0, 8, 600)
    X[rng.random(600) < 0.1, 2] = np.nan
    X[:, 3] = rng.integers(-3, 4, 600)
    y = np.nan_to_num(X[:, 0]) + 2 * (X[:, 2] % 3 == 1) + 3 * np.isnan(X[:, 1]) + X[:, 3] ** 2
    return CodedTable(X, Columns(("a", "b", "c", "d", "e"), {2: tuple("stuvwxyz")})), y


UNMOVED = SimpleNamespace(move=lambda _, threshold: threshold)


def grow(table, y):
    growth = Growth((2, 3, 4, 8, 5) * 6, sample_fraction=0.5, memory=0.1, min_samples_leaf=5)
    return grow_trees(TreeData(table, y, np.ones(len(y))), growth)


@pytest.mark.parametrize("moved", [False, True])
def test_lightgbm_rules_put_rows_where_lightgbm_puts_them(mixed, moved):
    table, y = mixed
    booster = grow(table, y)
    trees = lightgbm_trees(booster, Cuts(table) if moved else UNMOVED)
    ours, theirs = partition(trees, table), booster.predict(table.values, pred_leaf=True)
    assert len(trees) == 30
    assert all(same_partition(a, b) for a, b in zip(ours.T, theirs.T, strict=True))


def test_sklearn_rules_put_rows_where_sklearn_puts_them(mixed):
    table, y = mixed
    # Values in eighths are exact in float32, in which scikit-learn compares.
    table = CodedTable(np.round(table.values * 8) / 8, table.columns)
    forest = RandomForestRegressor(5, max_leaf_nodes=20, random_state=0).fit(table.values, y)
    ours = partition(sklearn_trees(forest.estimators_, Cuts(table)), table)
    theirs = forest.apply(table.values)
    assert all(same_partition(a, b) for a, b in zip(ours.T, theirs.T, strict=True))


def test_xgboost_rules_put_rows_where_xgboost_puts_them(mixed):
    xgboost = pytest.importorskip("xgboost")
    table, y = mixed
    table = CodedTable(np.round(table.values * 8) / 8, table.columns)
    model = xgboost.XGBRegressor(n_estimators=5, max_depth=3).fit(table.values, y)
    ours = partition(xgboost_trees(model.get_booster(), Cuts(table)), table)
    theirs = model.apply(table.values)
    assert all(same_partition(a, b) for a, b in zip(ours.T, theirs.T, strict=True))


def test_every_node_but_the_root_is_a_rule(mixed):
    table, y = mixed
    trees = lightgbm_trees(grow(table, y), UNMOVED)
    assert len(rules_of(trees)) == sum(2 * (size - 1) for size in (2, 3, 4, 8, 5) * 6)


def test_a_tree_without_splits_has_no_rules():
    assert rules_of([None]) == []


def test_conditions_on_the_way_down_are_merged():
    below = TreeSplit(number_split(0, 5.0, None), (None, None))
    rules = rules_of([TreeSplit(number_split(0, 10.0, None), (below, None))])
    assert Rule((Interval(0, high=5.0),)) in rules
    assert Rule((Interval(0, 5.0, 10.0),)) in rules


def test_a_split_below_all_values_leaves_only_the_missing_on_the_left():
    left, right = number_split(0, -np.inf, missing_left=True)
    column = np.array([-1.0, np.nan])
    assert_array_equal(left.holds(column), [False, True])
    assert_array_equal(right.holds(column), [True, False])


def test_missing_categories_go_right(mixed):
    table, y = mixed
    rules = rules_of(lightgbm_trees(grow(table, y), UNMOVED))
    conditions = {c for rule in rules for c in rule.conditions if isinstance(c, Members)}
    assert conditions
    assert not any(c.missing for c in conditions if not c.excluded)


def test_rules_do_not_speak_of_missing_values_that_never_were():
    X = np.random.default_rng(0).normal(size=(100, 2))
    forest = RandomForestRegressor(3, random_state=0).fit(X, X[:, 0])
    cuts = Cuts(CodedTable(X, Columns.numeric(2)))
    rules = rules_of(sklearn_trees(forest.estimators_, cuts))
    assert not any(c.missing for rule in rules for c in rule.conditions)


numbers = st.floats(-1e12, 1e12)


@given(numbers, numbers)
def test_a_short_number_separates_its_neighbours(a, b):
    low, high = min(a, b), max(a, b)
    if low < high:
        assert low <= short_number_between(low, high) < high


def test_whole_numbers_are_cut_at_whole_numbers():
    cuts = Cuts(CodedTable(np.array([[1.0], [2.0], [5.0]]), Columns.numeric(1)))
    assert cuts.move(0, 3.4) == 2.0


def test_cuts_outside_the_data_become_infinite():
    cuts = Cuts(CodedTable(np.array([[1.0], [2.5], [np.nan]]), Columns.numeric(1)))
    assert cuts.move(0, 1e300) == math.inf
    assert cuts.move(0, -5.0) == -math.inf


def test_moved_cuts_split_the_rows_as_before():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    cuts = Cuts(CodedTable(x[:, None], Columns.numeric(1)))
    for threshold in rng.normal(size=50):
        assert np.array_equal(x <= cuts.move(0, threshold), x <= threshold)
