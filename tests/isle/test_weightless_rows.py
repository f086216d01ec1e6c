"""Rows of weight zero are taken out at the door: with or without them the same bits."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier
from sklearn.model_selection import KFold

from foldwise import (
    ForwardStagewiseClassifier,
    ForwardStagewiseRegressor,
    ISLEClassifier,
    ISLERegressor,
    LassoPathClassifier,
    LassoPathRegressor,
    RuleFitClassifier,
    RuleFitRegressor,
)

SMALL = {"n_estimators": 5, "cv": 3, "random_state": 0}
PATHS = {"cv": 3, "random_state": 0}
MODELS = [
    RuleFitRegressor(**SMALL),
    RuleFitClassifier(**SMALL),
    ISLERegressor(loss="huber", **SMALL),
    ISLEClassifier(**SMALL),
    LassoPathRegressor(n_lambdas=10, **PATHS),
    LassoPathClassifier(n_lambdas=10, **PATHS),
    ForwardStagewiseRegressor(max_steps=20, **PATHS),
    ForwardStagewiseClassifier(max_steps=20, **PATHS),
]


@pytest.mark.usefixtures("short_paths")
@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("given_splits", [False, True])
def test_rows_of_weight_zero_change_no_bit(model, given_splits):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60).astype(float)
    X[:, 0] += 2 * y
    weight, groups = rng.integers(1, 4, 60).astype(float), np.arange(60) // 2
    # Garbage of every kind: levels, groups, classes and sizes that no other row has.
    used = np.ones(80, dtype=bool)
    used[::4] = False
    wide = np.full((80, 3), 1e9), np.full(80, 7.0), np.zeros(80), np.arange(1000, 1080)
    for whole, part in zip(wide, (X, y, weight, groups), strict=True):
        whole[used] = part
    more = dict(zip(("X", "y", "sample_weight", "groups"), wide, strict=True))
    few = {"X": X, "y": y, "sample_weight": weight, "groups": groups}
    if given_splits:
        splits = list(KFold(3).split(X))
        numbers = np.flatnonzero(used)
        left = np.flatnonzero(~used)
        larger = [(numbers[train], np.r_[numbers[test], left]) for train, test in splits]
        models = (model.set_params(cv=splits), larger)
    else:
        models = (model.set_params(cv=3), 3)
    expected = _scores(models[0].fit(**few), X)
    assert (_scores(model.set_params(cv=models[1]).fit(**more), X) == expected).all()


def test_levels_that_only_weightless_rows_have_are_unknown():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": list("xyz") * 20, "b": rng.normal(size=60)})
    y, weight = rng.normal(size=60), (X["a"] != "y").to_numpy(float)
    model = RuleFitRegressor(**SMALL).fit(X, y, sample_weight=weight)
    assert model.columns_.levels == {0: ("x", "z")}


def _scores(model, X):
    return model.decision_function(X) if is_classifier(model) else model.predict(X)
