"""Whether the trees in a booster's text can be walked: compiled code follows them blindly."""

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from foldwise.errors import Plain
from foldwise.files.refuse import refused

# Arrays of LightGBM's trees: how many numbers more than inner nodes each must have.
LIGHT_ARRAYS = dict.fromkeys(
    ["split_feature", "split_gain", "threshold", "decision_type", "left_child", "right_child",
     "internal_value", "internal_weight", "internal_count"], 0,
) | dict.fromkeys(
    ["leaf_value", "leaf_weight", "leaf_count", "leaf_const", "num_features"], 1
)  # fmt: skip
LIGHT_KEYS = {*LIGHT_ARRAYS, "Tree", "num_leaves", "num_cat", "cat_boundaries", "cat_threshold",
              "is_linear", "shrinkage", "leaf_features", "leaf_coeff"}  # fmt: skip
XGBOOST_ARRAYS = ("base_weights", "default_left", "left_children", "loss_changes", "parents",
                  "right_children", "split_conditions", "split_indices", "split_type",
                  "sum_hessian")  # fmt: skip
FIRST_TREE = re.compile(r"^Tree=", re.MULTILINE)


def check_trees(content: bytes, name: str) -> None:
    """Refuse a booster whose trees loop, or point to nodes or columns that are not there."""
    try:
        good = (_light_is_good if name.endswith("txt") else _xgboost_is_good)(content.decode())
    except Exception as error:
        raise refused(
            "hold boosters that can be read", Plain(f"{name!r} ({str(error)[:80]})")
        ) from error
    if not good:
        raise refused("hold boosters whose trees can be walked", Plain(f"{name!r}"))


def is_walkable(left: Any, right: Any, n_nodes: int) -> bool:
    """Tell whether a walk from node 0 ends: every child is there and has one parent.

    Examples
    --------
    >>> import numpy as np
    >>> is_walkable(np.array([1, -1, -1]), np.array([2, -1, -1]), 3)
    True
    >>> is_walkable(np.array([1, 0]), np.array([-1, -1]), 2)
    False
    """
    children = np.concatenate([left, right])
    children = children[children >= 0]
    inside = bool((children < n_nodes).all()) and not bool((children == 0).any())
    return inside and len(np.unique(children)) == len(children)


def _light_is_good(text: str) -> bool:
    start = FIRST_TREE.search(text)
    if start is None:
        return True
    header = _fields(text[: start.start()])
    place, sizes = start.start(), _whole(header["tree_sizes"]).tolist()
    a_round = int(header["num_tree_per_iteration"])
    if a_round != int(header["num_class"]) or a_round < 1 or len(sizes) % a_round:
        return False
    for size in sizes:
        block = text[place : place + size]
        if size <= 0 or not block.startswith("Tree="):
            return False
        if not _light_tree_is_good(_fields(block), int(header["max_feature_idx"])):
            return False
        place += size
    return text[place:].startswith("end of trees")


def _fields(block: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in block.split("\n") if "=" in line)


def _whole(text: str) -> Any:
    return np.array(text.split(), dtype=np.int64)


def _numbers(text: str) -> Any:
    return np.array(text.split(), dtype=np.float64)


def _light_tree_is_good(tree: dict[str, str], last_feature: int) -> bool:
    n_leaves, n_categories = int(tree["num_leaves"]), int(tree["num_cat"])
    if set(tree) - LIGHT_KEYS or n_categories < 0 or not np.isfinite(float(tree["shrinkage"])):
        return False
    if len(_numbers(tree["leaf_value"])) != n_leaves or n_leaves < 1:
        return False
    if n_leaves == 1:
        return True
    n_inner = n_leaves - 1
    for name, more in LIGHT_ARRAYS.items():
        # LightGBM ends the process when one is too short; only some have to be there.
        if name in tree and len(_numbers(tree[name])) not in (n_inner + more, 0):
            return False
    left, right = _whole(tree["left_child"]), _whole(tree["right_child"])
    features, kinds = _whole(tree["split_feature"]), _whole(tree["decision_type"])
    thresholds = _numbers(tree["threshold"]).tolist()
    if {len(part) for part in (left, right, features, kinds, thresholds)} != {n_inner}:
        return False
    leaves = -1 - np.concatenate([left, right])
    leaves = leaves[leaves >= 0]
    return (
        is_walkable(left, right, n_inner)
        and bool((leaves < n_leaves).all())
        and bool(((features >= 0) & (features <= last_feature)).all())
        and _categories_are_good(tree, thresholds, kinds)
        and _leaf_models_are_good(tree, last_feature)
    )


def _categories_are_good(tree: dict[str, str], thresholds: Sequence[float], kinds: Any) -> bool:
    used = [t for t, kind in zip(thresholds, kinds.tolist(), strict=True) if kind & 1]
    n_cat = int(tree["num_cat"])
    if not used and n_cat == 0:
        return True
    bounds = _whole(tree["cat_boundaries"])
    n_words = len(tree["cat_threshold"].split())
    steady = len(bounds) == n_cat + 1 and bounds[0] == 0 and bool((np.diff(bounds) >= 0).all())
    return steady and int(bounds[-1]) <= n_words and all(0 <= t < n_cat for t in used)


def _leaf_models_are_good(tree: dict[str, str], last_feature: int) -> bool:
    features = _whole(tree.get("leaf_features", ""))
    counts, slopes = _whole(tree.get("num_features", "")), _numbers(tree.get("leaf_coeff", ""))
    inside = bool(((features >= 0) & (features <= last_feature)).all())
    return inside and bool((counts >= 0).all()) and counts.sum() == len(features) == len(slopes)


def _xgboost_is_good(text: str) -> bool:
    learner = json.loads(text)["learner"]
    booster = learner["gradient_booster"]
    model = booster.get("gbtree", booster)["model"]
    if "trees" not in model:
        return True
    trees, owners = model["trees"], np.array(model["tree_info"])
    bounds = np.array(model["iteration_indptr"])
    shape = {name: int(learner["learner_model_param"][f"num_{name}"])
             for name in ("class", "target", "feature")}  # fmt: skip
    n_trees, n_outputs = len(trees), max(shape["class"], shape["target"], 1)
    return (
        int(model["gbtree_model_param"]["num_trees"]) == n_trees == len(owners)
        and bool(((owners >= 0) & (owners < n_outputs)).all())
        and bool(bounds[0] == 0 and bounds[-1] == n_trees and (np.diff(bounds) >= 0).all())
        and all(_xgboost_tree_is_good(tree, shape["feature"]) for tree in trees)
    )


def _xgboost_tree_is_good(tree: dict[str, Any], n_features: int) -> bool:
    left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
    features = np.array(tree["split_indices"])[left >= 0]
    n_nodes = int(tree["tree_param"]["num_nodes"])
    return (
        {len(tree[name]) for name in XGBOOST_ARRAYS} == {n_nodes}
        and int(tree["tree_param"]["size_leaf_vector"]) <= 1
        and is_walkable(left, right, n_nodes)
        and bool(((left >= 0) == (right >= 0)).all())
        and bool(((features >= 0) & (features < n_features)).all())
        and _xgboost_categories_are_good(tree, n_nodes)
    )


def _xgboost_categories_are_good(tree: dict[str, Any], n_nodes: int) -> bool:
    nodes, starts, sizes = (
        np.array(tree[f"categories_{name}"], dtype=np.int64)
        for name in ("nodes", "segments", "sizes")
    )
    categorical = np.flatnonzero(np.array(tree["split_type"]) == 1)
    return (
        len(nodes) == len(starts) == len(sizes)
        and nodes.tolist() == categorical.tolist()
        and bool(((nodes >= 0) & (nodes < n_nodes)).all())
        and bool(((starts >= 0) & (sizes >= 0)).all())
        and bool((starts + sizes <= len(tree["categories"])).all())
    )
