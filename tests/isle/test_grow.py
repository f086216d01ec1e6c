from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator

from foldwise.errors import InvalidDataError
from foldwise.isle.data import CodedTable, Columns, TreeData
from foldwise.isle.grow import (
    Growth,
    fitted_ensemble,
    grow_trees,
    start,
    tree_sizes,
)
from foldwise.losses import Huber

GROWTH = Growth((3,) * 10, sample_fraction=0.5, memory=0.1, min_samples_leaf=5)


def rows(table, y, **changes):
    return TreeData(table, y, np.ones(len(y)), **changes)


@pytest.fixture
def table():
    return CodedTable(np.random.default_rng(0).normal(size=(300, 4)), Columns.numeric(4))


def test_the_sampling_fraction_is_friedman_and_popescus():
    growth = replace(GROWTH, sample_fraction=None)
    assert growth.fraction_of(100) == 0.5
    assert_allclose(growth.fraction_of(10_000), 0.07)


def test_tree_sizes_are_two_plus_the_floor_of_an_exponential():
    sizes = np.array(tree_sizes(100_000, 4.0, np.random.default_rng(0)))
    assert sizes.min() == 2
    # P(size = 2) = 1 − exp(−1/2); the mean of the floor is 1 / (exp(1/2) − 1).
    assert_allclose((sizes == 2).mean(), 1 - np.exp(-0.5), atol=0.005)
    assert_allclose(sizes.mean(), 2 + 1 / (np.exp(0.5) - 1), atol=0.03)


def test_a_mean_of_two_leaves_gives_stumps():
    assert set(tree_sizes(50, 2.0, np.random.default_rng(0))) == {2}


@pytest.mark.parametrize("n_threads", [1, 2])
def test_each_tree_has_the_leaves_asked_for(table, n_threads):
    y = table.values[:, 0] * table.values[:, 1]
    leaves = (2, 7, 3, 5)
    booster = grow_trees(rows(table, y), replace(GROWTH, leaves=leaves, n_threads=n_threads))
    found = [tree["num_leaves"] for tree in booster.dump_model()["tree_info"]]
    assert tuple(found) == leaves


def test_several_classes_grow_a_tree_each_a_round(table):
    y = np.arange(300) % 3
    booster = grow_trees(rows(table, y, loss="multinomial", n_outputs=3), GROWTH)
    assert booster.num_trees() == 30


def test_nothing_is_printed(table, capfd):
    grow_trees(rows(table, np.arange(300.0)), GROWTH)
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


def test_the_start_minimises_the_loss():
    rng = np.random.default_rng(0)
    y = rng.normal(size=99)
    assert_allclose(start(rows(None, y)), y.mean())
    assert_allclose(start(rows(None, y, loss="huber")), np.median(y))
    tiny = minimize_scalar(
        lambda c: Huber(threshold=1e-6).value(y, np.full(99, c)).sum(), bracket=(-1, 1)
    )
    assert_allclose(tiny.x, np.median(y), atol=1e-3)
    counts = rng.poisson(3, size=99)
    assert_allclose(start(rows(None, counts, loss="poisson")), np.log(counts.mean()))
    assert_allclose(start(rows(None, np.r_[1, 0, 0, 0], loss="logistic")), np.log(1 / 3))
    shares = start(rows(None, np.r_[0, 1, 2, 2], loss="multinomial", n_outputs=3))
    assert_allclose(np.exp(shares), [0.25, 0.25, 0.5])


def test_the_booster_leaves_the_start_out(table):
    y = table.values[:, 0] + 100
    booster = grow_trees(rows(table, y), GROWTH)
    assert np.abs(booster.predict(table.values)).max() < 10


def test_categories_are_split_as_sets():
    codes = np.random.default_rng(0).integers(0, 6, 400).astype(float)
    table = CodedTable(codes[:, None], Columns(("c",), {0: tuple("abcdef")}))
    booster = grow_trees(rows(table, np.isin(codes, [1, 4]) * 1.0), replace(GROWTH, leaves=(2,)))
    root = booster.dump_model()["tree_info"][0]["tree_structure"]
    assert root["decision_type"] == "=="
    named = {int(code) for code in root["threshold"].split("||")}
    assert named in ({1, 4}, {0, 2, 3, 5})


TABLE = CodedTable(np.arange(24.0).reshape(12, 2), Columns.numeric(2))
Y = np.arange(12.0) % 2


def test_a_frozen_model_is_returned_as_it_is():
    model = RandomForestClassifier(2).fit(TABLE.values, Y)
    frozen = FrozenEstimator(model)
    assert fitted_ensemble("me", frozen, rows(TABLE, Y, loss="logistic")) is model


def test_any_other_model_is_cloned_and_fitted_with_whole_classes():
    model = RandomForestClassifier(2)
    fitted = fitted_ensemble("me", model, rows(TABLE, Y, loss="logistic"))
    assert fitted is not model
    assert fitted.classes_.dtype.kind == "i"


def test_other_columns_are_refused():
    frozen = FrozenEstimator(RandomForestClassifier(2).fit(np.eye(12), Y))
    with pytest.raises(InvalidDataError) as caught:
        fitted_ensemble("me", frozen, rows(TABLE, Y, loss="logistic"))
    assert str(caught.value) == (
        "me: X must have the 12 columns the ensemble was fitted on; got 2. Pass the same columns."
    )
