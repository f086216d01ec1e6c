"""A set of fitted trees of any library: which leaf each row falls into, what each leaf says."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.tree import BaseDecisionTree

from foldwise.arrays import FloatArray
from foldwise.errors import Plain, unsupported
from foldwise.isle.data import CodedTable
from foldwise.learners.in_parts import asked_alone


@dataclass(frozen=True)
class TreeSet:
    """Trees and the numbers at their leaves."""

    finder: "SklearnLeaves | LightGBMLeaves | XGBoostLeaves"  # finds leaves, drops trees
    # (n_nodes, width): for each tree, the numbers at its nodes: one, or one a class
    values: tuple[FloatArray, ...]
    n_leaves: tuple[int, ...]  # leaves of each tree

    def __len__(self) -> int:
        return len(self.values)

    @property
    def width(self) -> int:
        """Numbers at a leaf."""
        return self.values[0].shape[1] if self.values else 1

    def columns(self, X: Any) -> FloatArray:
        """Return what each tree says of each row, shape (n_rows, n_trees · width)."""
        if not len(self):
            return np.empty((X.shape[0], 0))
        leaves = self.finder.leaves(X)
        return np.hstack([value[leaf] for value, leaf in zip(self.values, leaves.T, strict=True)])

    def matrix(self, table: CodedTable) -> FloatArray:
        """Return what each tree says of each row of a table."""
        return self.columns(table.values)

    def weighted_sum(self, X: Any) -> FloatArray:
        """Return the sum of what the trees say, shape (n_rows, width)."""
        out = np.zeros((X.shape[0], self.width))
        if len(self):
            leaves = self.finder.leaves(X)
            for value, leaf in zip(self.values, leaves.T, strict=True):
                out += value[leaf]
        return out

    def reweighted(self, coefs: FloatArray) -> "TreeSet":
        """Return the trees with a coefficient, their leaves multiplied by it."""
        by_tree = coefs.reshape(len(coefs), len(self), self.width)
        kept = np.flatnonzero(by_tree.any(axis=(0, 2)))
        values = tuple(self.values[m] @ by_tree[:, m].T for m in kept)
        n_leaves = tuple(self.n_leaves[m] for m in kept)
        return TreeSet(self.finder.keep(kept.tolist()), values, n_leaves)


@dataclass(frozen=True)
class SklearnLeaves:
    """Leaves of scikit-learn's trees (their ``tree_`` objects)."""

    trees: tuple[Any, ...]

    def leaves(self, X: Any) -> NDArray[np.integer]:
        """Return the node each row ends in, shape (n_rows, n_trees)."""
        X = X.tocsr() if sparse.issparse(X) else X
        X = X.astype(np.float32)
        return np.column_stack([tree.apply(X) for tree in self.trees])

    def keep(self, trees: Sequence[int]) -> "SklearnLeaves":
        """Return a finder with these trees only."""
        return SklearnLeaves(tuple(self.trees[m] for m in trees))


@dataclass(frozen=True)
class LightGBMLeaves:
    """Leaves of a LightGBM booster."""

    booster: Any

    def leaves(self, X: Any) -> NDArray[np.integer]:
        """Return the leaf each row ends in, shape (n_rows, n_trees)."""
        with asked_alone(self.booster):
            found = self.booster.predict(X, pred_leaf=True)
        return np.asarray(found).reshape(X.shape[0], -1).astype(np.intp)

    def keep(self, trees: Sequence[int]) -> "LightGBMLeaves":
        """Return a finder with these trees only."""
        head, blocks = lightgbm_blocks(self.booster)
        # Without its sizes LightGBM reads the trees one after the other; and a plain
        # regression model may have any number of them.
        head = re.sub(r"^tree_sizes=.*\n", "", head, flags=re.M)
        head = re.sub(r"^(num_class|num_tree_per_iteration)=.*$", r"\1=1", head, flags=re.M)
        head = re.sub(r"^objective=.*$", "objective=regression", head, flags=re.M)
        chosen = [re.sub(r"^Tree=\d+", f"Tree={k}", blocks[m]) for k, m in enumerate(trees)]
        text = "".join([head, *chosen, "end of trees\n\n"])
        return LightGBMLeaves(lightgbm.Booster(model_str=text))


def lightgbm_blocks(booster: Any) -> tuple[str, list[str]]:
    """Return the head of a LightGBM model's text and the text of each tree."""
    text = booster.model_to_string(num_iteration=-1).split("end of trees")[0]
    head, *blocks = re.split(r"(?m)^(?=Tree=\d+$)", text)
    return head, blocks


@dataclass(frozen=True)
class XGBoostLeaves:
    """Leaves of an XGBoost booster."""

    booster: Any

    def leaves(self, X: Any) -> NDArray[np.integer]:
        """Return the node each row ends in, shape (n_rows, n_trees)."""
        # XGBoost is optional: it is there when a model of its own is.
        data = import_module("xgboost").DMatrix(X, feature_names=self.booster.feature_names)
        found = self.booster.predict(data, pred_leaf=True)
        return np.asarray(found).reshape(X.shape[0], -1).astype(np.intp)

    def keep(self, trees: Sequence[int]) -> "XGBoostLeaves":
        """Return a finder with these trees only."""
        model = json.loads(bytes(self.booster.save_raw("json")))
        learner = model["learner"]
        content = learner["gradient_booster"]["model"]
        content["trees"] = [content["trees"][m] | {"id": k} for k, m in enumerate(trees)]
        content["tree_info"] = [0] * len(trees)
        content["iteration_indptr"] = list(range(len(trees) + 1))
        content["gbtree_model_param"]["num_trees"] = str(len(trees))
        learner["learner_model_param"] |= {"num_class": "0", "num_target": "1", "base_score": "0"}
        weight = {"scale_pos_weight": "1"}
        learner["objective"] = {"name": "reg:squarederror", "reg_loss_param": weight}
        smaller = type(self.booster)()
        smaller.load_model(bytearray(json.dumps(model).encode()))
        return XGBoostLeaves(smaller)


def read_trees(owner: str, model: Any) -> TreeSet:
    """Return the trees of a fitted model.

    ``model``: scikit-learn's forests, extra trees, gradient boosting, AdaBoost and bagging over
    decision trees; LightGBM and XGBoost models and boosters.
    """
    library, trees = trees_of(owner, model)
    if library == "lightgbm":
        return lightgbm_set(trees)
    return xgboost_set(trees) if library == "xgboost" else sklearn_set(trees)


def trees_of(owner: str, model: Any) -> tuple[str, Any]:
    """Return the library of a fitted model, and its booster or list of decision trees."""
    # Our own NewtonBoosting keeps a LightGBM booster too.
    trees = getattr(model, "booster_", model)
    library = type(trees).__module__.split(".")[0]
    if library == "lightgbm":
        linear = "\nis_linear=1" in trees.model_to_string(num_iteration=-1)
        if linear or trees.pandas_categorical or getattr(model, "categories_", None):
            must = "be trees of constants" if linear else "be fitted on columns of numbers"
            got = Plain(f"a LightGBM model with {'linear_tree' if linear else 'pandas categories'}")
            fix = "Fit it without linear_tree." if linear else "Encode the categories first."
            raise unsupported(owner, "ensemble", must=must, got=got, fix=fix)
        return library, trees
    if library == "xgboost":
        trees = model.get_booster() if hasattr(model, "get_booster") else model
        kind = json.loads(trees.save_config())["learner"]["gradient_booster"]["name"]
        if kind != "gbtree":
            must, fix = "be XGBoost trees that all count the same", "Fit it with booster='gbtree'."
            raise unsupported(owner, "ensemble", must=must, got=Plain(f"booster={kind!r}"), fix=fix)
        return library, trees
    return library, decision_trees(owner, model)


def decision_trees(owner: str, model: Any) -> list[Any]:
    """Return the decision trees of a fitted scikit-learn ensemble, or say why not."""
    trees = list(np.ravel(getattr(model, "estimators_", [])))
    if not trees or not all(isinstance(tree, BaseDecisionTree) for tree in trees):
        must = "be an ensemble of decision trees that can be read"
        fix = "Use a forest, extra trees, GradientBoosting, LightGBM or XGBoost."
        raise unsupported(owner, "ensemble", must=must, got=type(model).__name__, fix=fix)
    columns = getattr(model, "estimators_features_", None) or ()
    every = np.arange(getattr(model, "n_features_in_", 0))
    if not all(np.array_equal(chosen, every) for chosen in columns):
        got, fix = "trees on random columns", "Use max_features=1.0 in the bagging, or a forest."
        raise unsupported(owner, "ensemble", must="show every tree all columns", got=got, fix=fix)
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


def lightgbm_set(booster: Any, scale: float = 1.0) -> TreeSet:
    """Return the trees of a LightGBM booster, their leaf values times ``scale``."""
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
