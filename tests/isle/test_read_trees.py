import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRegressor
from sklearn.datasets import make_friedman1
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LinearRegression

from foldwise.errors import UnsupportedError
from foldwise.isle.read_trees import read_trees


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
    model = LGBMRegressor(n_estimators=2, verbose=-1).fit(X, np.arange(80) % 4)
    with pytest.raises(UnsupportedError, match="must be fitted on columns of numbers"):
        read_trees("test", model)
