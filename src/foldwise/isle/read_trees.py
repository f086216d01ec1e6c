"""Trees out of fitted models of scikit-learn, LightGBM and XGBoost."""

import json
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.tree import BaseDecisionTree

from foldwise.arrays import FloatArray
from foldwise.errors import unsupported
from foldwise.isle.tree_set import (
    LightGBMLeaves,
    SklearnLeaves,
    TreeSet,
    XGBoostLeaves,
    lightgbm_blocks,
)


def read_trees(owner: str, model: Any) -> TreeSet:
    """Return the trees of a fitted model.

    ``model``: scikit-learn's forests, extra trees, gradient boosting, AdaBoost and bagging over
    decision trees; LightGBM and XGBoost models and boosters.
    """
    library = library_of(model)
    if library == "lightgbm":
        return lightgbm_set(owner, getattr(model, "booster_", model))
    if library == "xgboost":
        return xgboost_set(model.get_booster() if hasattr(model, "get_booster") else model)
    return sklearn_set(decision_trees(owner, model))


def library_of(model: Any) -> str:
    """Return the name of the package a model comes from."""
    return type(model).__module__.split(".")[0]


def decision_trees(owner: str, model: Any) -> list[Any]:
    """Return the decision trees of a fitted scikit-learn ensemble, or say why not."""
    trees = list(np.ravel(getattr(model, "estimators_", [])))
    if not trees or not all(isinstance(tree, BaseDecisionTree) for tree in trees):
        raise unsupported(
            owner,
            "ensemble",
            must="be an ensemble of decision trees that can be read",
            got=type(model).__name__,
            fix="Use a forest, extra trees, GradientBoosting, LightGBM or XGBoost.",
        )
    _refuse_column_samples(owner, model)
    return trees


def sklearn_set(trees: Iterable[Any]) -> TreeSet:
    """Return scikit-learn's decision trees; classifiers say probabilities."""
    found = [tree.tree_ for tree in trees]
    values = tuple(_node_values(tree) for tree in found)
    return TreeSet(SklearnLeaves(tuple(found)), values, tuple(int(tree.n_leaves) for tree in found))


def _node_values(tree: Any) -> FloatArray:
    values = tree.value[:, 0, :]
    if values.shape[1] == 1:
        return values.copy()
    shares = values / values.sum(axis=1, keepdims=True)
    return shares[:, 1:] if shares.shape[1] == 2 else shares


def lightgbm_set(owner: str, booster: Any, scale: float = 1.0) -> TreeSet:
    """Return the trees of a LightGBM booster, their leaf values times ``scale``."""
    if booster.pandas_categorical:
        raise unsupported(
            owner,
            "ensemble",
            must="be fitted on columns of numbers",
            got="a LightGBM model with pandas categories",
            fix="Encode the categories first.",
        )
    _, blocks = lightgbm_blocks(booster)
    lines = [re.search(r"^leaf_value=(.*)$", block, flags=re.M) for block in blocks]
    leaves = [np.array(line[1].split(), dtype=float) for line in lines if line is not None]
    values = tuple(leaf[:, None] * scale for leaf in leaves)
    return TreeSet(LightGBMLeaves(booster), values, tuple(map(len, leaves)))


def xgboost_set(booster: Any) -> TreeSet:
    """Return the trees of an XGBoost booster."""
    model = json.loads(bytes(booster.save_raw("json")))
    trees = model["learner"]["gradient_booster"]["model"]["trees"]
    # Leaves keep their value where splits keep their threshold.
    values = tuple(np.array(tree["split_conditions"], dtype=float)[:, None] for tree in trees)
    n_leaves = tuple(tree["left_children"].count(-1) for tree in trees)
    return TreeSet(XGBoostLeaves(booster), values, n_leaves)


def _refuse_column_samples(owner: str, model: Any) -> None:
    columns = getattr(model, "estimators_features_", None)
    if columns is None:
        return
    everything = np.arange(model.n_features_in_)
    if not all(np.array_equal(chosen, everything) for chosen in columns):
        raise unsupported(
            owner,
            "ensemble",
            must="show every tree all columns",
            got="trees on random columns",
            fix="Use max_features=1.0 in the bagging, or a forest.",
        )
