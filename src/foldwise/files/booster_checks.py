"""Whether the trees in a booster's text can be walked: compiled code follows them blindly."""

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from foldwise.errors import Plain
from foldwise.files.refuse import refused

FIRST_TREE = re.compile(r"^Tree=", re.MULTILINE)


def check_trees(content: bytes, name: str) -> None:
    """Refuse a booster whose trees loop, or point to nodes or columns that are not there.

    Parameters
    ----------
    content : bytes
        The model.
    name : str
        The member; it ends in "txt" for LightGBM, in "json" for XGBoost.
    """
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

    Parameters
    ----------
    left, right : ndarray of int
        Children of each inner node; negative for none.
    n_nodes : int
        What children stay below.

    Returns
    -------
    bool
        Node 0 may have no parent.

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
    place = start.start()
    for size in _whole(header["tree_sizes"]).tolist():
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


def _light_tree_is_good(tree: dict[str, str], last_feature: int) -> bool:
    n_leaves = int(tree["num_leaves"])
    if len(tree["leaf_value"].split()) != n_leaves or n_leaves < 1:
        return False
    if n_leaves == 1:
        return True
    left, right = _whole(tree["left_child"]), _whole(tree["right_child"])
    features, kinds = _whole(tree["split_feature"]), _whole(tree["decision_type"])
    thresholds = tree["threshold"].split()
    n_inner = n_leaves - 1
    if {len(part) for part in (left, right, features, kinds, thresholds)} != {n_inner}:
        return False
    leaves = -1 - np.concatenate([left, right])
    leaves = leaves[leaves >= 0]
    return (
        is_walkable(left, right, n_inner)
        and bool((leaves < n_leaves).all())
        and bool(((features >= 0) & (features <= last_feature)).all())
        and _categories_are_good(tree, [float(t) for t in thresholds], kinds)
        and _leaf_features_are_good(tree, last_feature)
    )


def _categories_are_good(tree: dict[str, str], thresholds: Sequence[float], kinds: Any) -> bool:
    used = [t for t, kind in zip(thresholds, kinds.tolist(), strict=True) if kind & 1]
    n_cat = int(tree.get("num_cat", "0"))
    if not used and n_cat == 0:
        return True
    bounds = _whole(tree["cat_boundaries"])
    n_words = len(tree["cat_threshold"].split())
    steady = len(bounds) == n_cat + 1 and bounds[0] == 0 and bool((np.diff(bounds) >= 0).all())
    return steady and int(bounds[-1]) <= n_words and all(0 <= t < n_cat for t in used)


def _leaf_features_are_good(tree: dict[str, str], last_feature: int) -> bool:
    features = _whole(tree.get("leaf_features", ""))
    return bool(((features >= 0) & (features <= last_feature)).all())


def _xgboost_is_good(text: str) -> bool:
    learner = json.loads(text)["learner"]
    booster = learner["gradient_booster"]
    booster = booster.get("gbtree", booster)
    if "trees" not in booster["model"]:
        return True
    n_features = int(learner["learner_model_param"]["num_feature"])
    return all(_xgboost_tree_is_good(tree, n_features) for tree in booster["model"]["trees"])


def _xgboost_tree_is_good(tree: dict[str, Any], n_features: int) -> bool:
    left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
    features = np.array(tree["split_indices"])[left >= 0]
    n_nodes = int(tree["tree_param"]["num_nodes"])
    lengths = {len(left), len(right), len(tree["split_indices"]), len(tree["split_conditions"])}
    return (
        lengths == {n_nodes}
        and is_walkable(left, right, n_nodes)
        and bool(((left >= 0) == (right >= 0)).all())
        and bool(((features >= 0) & (features < n_features)).all())
    )
