import re
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRegressor
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, make_friedman1
from sklearn.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from foldwise import ISLERegressor, NewtonBoostingRegressor, RuleFitRegressor
from foldwise.errors import UnsupportedError
from foldwise.isle.tree_set import LightGBMLeaves, read_trees
from foldwise.learners.in_parts import asked_alone


@pytest.fixture(scope="module")
def friedman():
    return make_friedman1(200, random_state=0)


def models(name):
    if name == "forest":
        return RandomForestRegressor(8, max_leaf_nodes=9, random_state=0)
    if name == "lightgbm":
        from lightgbm import LGBMRegressor

        return LGBMRegressor(n_estimators=8, num_leaves=5, n_jobs=1, verbose=-1)
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


def test_rounds_of_several_classes_are_read_class_by_class():
    X, _ = make_friedman1(90, random_state=0)
    model = GradientBoostingClassifier(n_estimators=4).fit(X, np.arange(90) % 3)
    trees = read_trees("test", model)
    assert trees.finder.trees == tuple(tree.tree_ for tree in model.estimators_.ravel())


def test_a_model_without_trees_is_refused():
    with pytest.raises(UnsupportedError) as caught:
        read_trees("ISLERegressor", LinearRegression())
    assert str(caught.value) == (
        "ISLERegressor: ensemble must be an ensemble of decision trees that can be read; "
        "got 'LinearRegression'. Use a forest, extra trees, GradientBoosting, LightGBM or XGBoost."
    )


def test_lightgbms_own_pandas_categories_are_refused():
    X = pd.DataFrame({"c": pd.Categorical(list("abcd") * 20)})
    model = LGBMRegressor(n_estimators=2, n_jobs=1, verbose=-1).fit(X, np.arange(80) % 4)
    with pytest.raises(UnsupportedError, match="must be fitted on columns of numbers"):
        read_trees("test", model)


def test_linear_leaves_are_refused_rather_than_read_as_constants():
    X, y = make_friedman1(100, random_state=0)
    model = LGBMRegressor(n_estimators=2, linear_tree=True, verbose=-1).fit(X, y)
    with pytest.raises(UnsupportedError) as raised:
        ISLERegressor.from_fitted(model).fit(X, y)
    assert str(raised.value) == (
        "ISLERegressor: ensemble must be trees of constants; got a LightGBM model with "
        "linear_tree. Fit it without linear_tree."
    )


@pytest.mark.parametrize("booster", ["dart", "gblinear"])
@pytest.mark.parametrize("kind", [ISLERegressor, RuleFitRegressor])
def test_other_boosters_of_xgboost_are_refused(booster, kind):
    xgboost = pytest.importorskip("xgboost")
    X, y = make_friedman1(60, random_state=0)
    model = FrozenEstimator(xgboost.XGBRegressor(n_estimators=2, booster=booster).fit(X, y))
    wanted = (
        f"{kind.__name__}: ensemble must be XGBoost trees that all count the same; got "
        f"booster='{booster}'. Fit it with booster='gbtree'."
    )
    with pytest.raises(UnsupportedError, match=re.escape(wanted)):
        kind(model).fit(X, y)


@pytest.mark.parametrize("kind", [ISLERegressor, RuleFitRegressor])
def test_our_own_newton_boosting_is_read(kind):
    X, y = make_friedman1(150, random_state=0)
    model = NewtonBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    assert kind(FrozenEstimator(model), random_state=0).fit(X, y).score(X, y) > 0.8


def test_categories_of_newton_boosting_are_not():
    X = pd.DataFrame({"a": pd.Categorical(list("xyz") * 20)})
    model = NewtonBoostingRegressor(n_estimators=2).fit(X, np.arange(60.0))
    with pytest.raises(UnsupportedError, match="be fitted on columns of numbers"):
        read_trees("Owner", model)


def test_leaves_are_not_asked_for_while_others_ask_the_same_trees(friedman):
    """LightGBM notes in the model which trees it is asked about: both answers would be wrong."""
    X, y = friedman
    model = NewtonBoostingRegressor(n_estimators=5).fit(X, y)
    finder = LightGBMLeaves(model.booster_)
    with ThreadPoolExecutor(1) as pool:
        with asked_alone(model.booster_):
            asked = pool.submit(finder.leaves, X)
            assert not wait([asked], 0.2).done
        assert asked.result().shape == (len(X), 5)
