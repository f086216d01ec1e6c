import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, make_friedman1
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from foldwise.isle.read_trees import read_trees


@pytest.fixture(scope="module")
def friedman():
    return make_friedman1(200, random_state=0)


def models(name):
    if name == "forest":
        return RandomForestRegressor(8, max_leaf_nodes=9, random_state=0)
    if name == "lightgbm":
        from lightgbm import LGBMRegressor

        return LGBMRegressor(n_estimators=8, num_leaves=5, verbose=-1)
    xgboost = pytest.importorskip("xgboost")
    return xgboost.XGBRegressor(n_estimators=8, max_depth=3, base_score=0.0)


@pytest.mark.parametrize("name", ["forest", "lightgbm", "xgboost"])
def test_columns_add_up_to_the_models_own_prediction(friedman, name):
    X, y = friedman
    model = models(name).fit(X, y)
    trees = read_trees("test", model)
    total = trees.columns(X).sum(axis=1) / (8 if name == "forest" else 1)
    assert_allclose(total, model.predict(X), rtol=1e-4)
    assert_allclose(trees.weighted_sum(X)[:, 0], trees.columns(X).sum(axis=1))


@pytest.mark.parametrize("name", ["forest", "lightgbm", "xgboost"])
def test_dropped_trees_are_gone_and_the_others_unchanged(friedman, name):
    X, y = friedman
    trees = read_trees("test", models(name).fit(X, y))
    coefs = np.zeros((1, 8))
    coefs[0, [1, 4, 6]] = [2.0, -1.0, 0.5]
    kept = trees.reweighted(coefs)
    assert len(kept) == 3
    assert kept.finder.leaves(X).shape == (200, 3)
    assert kept.n_leaves == tuple(trees.n_leaves[m] for m in (1, 4, 6))
    assert_allclose(kept.weighted_sum(X)[:, 0], trees.columns(X) @ coefs[0], atol=1e-9)


def test_trees_of_several_classes_say_probabilities():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(6, max_leaf_nodes=4, random_state=0).fit(X, y)
    trees = read_trees("test", forest)
    columns = trees.columns(X).reshape(150, 6, 3)
    assert_allclose(columns.sum(axis=2), 1)
    assert_allclose(columns.mean(axis=1), forest.predict_proba(X))
    assert trees.width == 3


def test_no_trees_say_nothing(friedman):
    X, y = friedman
    trees = read_trees("test", models("lightgbm").fit(X, y)).reweighted(np.zeros((1, 8)))
    assert len(trees) == 0
    assert_allclose(trees.weighted_sum(X), 0)
