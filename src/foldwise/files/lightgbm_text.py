"""LightGBM's text of a booster, read field by field and written anew from what was understood.

LightGBM follows the numbers of a model without looking, and ends the process where an array is
too short. So it is only ever given a text that was put together here: known fields, arrays of the
right length, children, columns and categories that are there. Training parameters are left out;
prediction needs none of them.
"""

import re
from typing import Any

import numpy as np

from foldwise.arrays import Array

# Arrays of a tree: whether it has one number an inner node (0) or one a leaf (1), and of what kind.
ARRAYS = {
    "split_feature": (0, int), "split_gain": (0, float), "threshold": (0, float),
    "decision_type": (0, int), "left_child": (0, int), "right_child": (0, int),
    "leaf_value": (1, float), "leaf_weight": (1, float), "leaf_count": (1, int),
    "internal_value": (0, float), "internal_weight": (0, float), "internal_count": (0, int),
}  # fmt: skip
NEEDED = {"split_feature", "threshold", "decision_type", "left_child", "right_child", "leaf_value"}
TREE_KEYS = ("num_leaves", "num_cat", *ARRAYS, "cat_boundaries", "cat_threshold", "is_linear",
             "leaf_const", "num_features", "leaf_features", "leaf_coeff", "shrinkage")  # fmt: skip
OBJECTIVES = {
    "regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma",
    "tweedie", "binary", "multiclass", "multiclassova", "cross_entropy", "cross_entropy_lambda",
    "lambdarank", "rank_xendcg", "custom",
}  # fmt: skip
OPTION = re.compile(r"sqrt|num_class:(\d+)|(sigmoid|alpha|c):[0-9.e+-]+|max_position:\d+")
INFO = re.compile(r"none|\[[^\s:\[\]]+:[^\s:\[\]]+\]|-?\d+(:-?\d+)*")
MOST_CLASSES = 10_000


def understood(text: str) -> str:
    """Return the text of the same booster in known fields only; raise ValueError otherwise."""
    head, *trees = re.split(r"^Tree=", text.split("\nend of trees")[0], flags=re.MULTILINE)
    ends = text.count("\nend of trees") == 1 or (not trees and "end of trees" in text)
    expect(ends, "no end of trees")
    header = _fields(head)
    n_features = _whole(header["max_feature_idx"], 1)[0] + 1
    a_round = _whole(header["num_tree_per_iteration"], 1)[0]
    known = header["num_class"] == str(a_round) and 1 <= a_round <= MOST_CLASSES
    expect(known, "another number of classes than trees a round")
    expect(len(trees) % a_round == 0 and n_features >= 1, "rounds of different length")
    blocks = [
        f"Tree={number}\n{_tree(_fields(tree, number), n_features)}\n\n"
        for number, tree in enumerate(trees)
    ]
    lines = [
        "tree",
        "version=v4",
        f"num_class={a_round}",
        f"num_tree_per_iteration={a_round}",
        "label_index=0",
        f"max_feature_idx={n_features - 1}",
        *_objective(header, int(a_round)),
        *(["average_output"] if re.search(r"^average_output$", head, re.MULTILINE) else []),
        f"feature_names={_tokens(header['feature_names'], n_features, re.compile(r'.+'))}",
        *_constraints(header, n_features),
        f"feature_infos={_tokens(header['feature_infos'], n_features, INFO)}",
        f"tree_sizes={' '.join(str(len(block.encode())) for block in blocks)}",
    ]
    return "\n".join(lines) + "\n\n" + "".join(blocks) + "end of trees\n\npandas_categorical:null\n"


def expect(good: Any, what: str) -> None:
    """Raise the ValueError that a text is not understood by, unless it is good."""
    if not good:
        raise ValueError(what)


def _fields(block: str, number: int | None = None) -> dict[str, str]:
    lines = block.split("\n")
    expect(number is None or lines[0] == str(number), "trees out of order")
    pairs = [line.split("=", 1) for line in lines if "=" in line]
    found = dict(pairs)
    expect(len(found) == len(pairs), "a field twice")
    return found


def _whole(text: str, length: int) -> Array:
    numbers = np.array(text.split(), dtype=np.int64)
    expect(len(numbers) == length, "an array of another length")
    return numbers


def _finite(text: str, length: int) -> Array:
    numbers = np.array(text.split(), dtype=np.float64)
    expect(len(numbers) == length and not np.isnan(numbers).any(), "an array of another length")
    return numbers


def _tokens(text: str, length: int, form: re.Pattern[str]) -> str:
    words = text.split(" ")
    fit = len(words) == length and all(form.fullmatch(word) for word in words)
    expect(fit, "names or ranges of other columns")
    return text


def _objective(header: dict[str, str], n_classes: int) -> list[str]:
    if "objective" not in header:
        return []
    name, *options = header["objective"].split()
    expect(name in OBJECTIVES, "an objective that is not known")
    for option in options:
        form = OPTION.fullmatch(option)
        fits = form is not None and form.group(1) in (None, str(n_classes))
        expect(fits, "an objective for other classes")
    said = not name.startswith("multiclass") or f"num_class:{n_classes}" in options
    expect(said, "an objective for other classes")
    return [f"objective={header['objective']}"]


def _constraints(header: dict[str, str], n_features: int) -> list[str]:
    if "monotone_constraints" not in header:
        return []
    signs = _whole(header["monotone_constraints"], n_features)
    return [f"monotone_constraints={' '.join(map(str, signs))}"]


def _tree(tree: dict[str, str], n_features: int) -> str:
    expect(set(tree) <= set(TREE_KEYS), "a field that is not known")
    n_leaves, n_cat = int(_whole(tree["num_leaves"], 1)[0]), int(_whole(tree["num_cat"], 1)[0])
    expect(n_leaves >= 1 and 0 <= n_cat < n_leaves, "a tree without leaves")
    n_inner, found = n_leaves - 1, {}
    for name, (more, kind) in ARRAYS.items():
        # LightGBM writes only the leaf of a tree that has no more, and no counts if it has none.
        if name in tree and tree[name].strip():
            read = _whole if kind is int else _finite
            found[name] = read(tree[name], n_inner + more)
    needed = NEEDED if n_inner else {"leaf_value"}
    expect(needed <= set(found), "a tree without its arrays")
    if n_inner:
        _check_walk(found, n_leaves, n_features)
        _check_categories(tree, found, n_cat)
    _check_leaf_models(tree, n_leaves, n_features)
    _finite(tree["shrinkage"], 1)
    return "\n".join(f"{name}={tree[name]}" for name in TREE_KEYS if name in tree)


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


def _check_walk(tree: dict[str, Array], n_leaves: int, n_features: int) -> None:
    left, right, features = tree["left_child"], tree["right_child"], tree["split_feature"]
    leaves = -1 - np.concatenate([left, right])
    good = is_walkable(left, right, n_leaves - 1) and (leaves < n_leaves).all()
    known = ((features >= 0) & (features < n_features)).all()
    expect(good and known, "a tree that leads nowhere")


def _check_categories(tree: dict[str, str], found: dict[str, Array], n_cat: int) -> None:
    used = found["threshold"][(found["decision_type"] & 1) == 1]
    if not n_cat:
        none = not len(used) and "cat_boundaries" not in tree and "cat_threshold" not in tree
        expect(none, "a split by categories that are not there")
        return
    bounds = _whole(tree["cat_boundaries"], n_cat + 1)
    words = _whole(tree["cat_threshold"], int(bounds[-1]))
    steady = bounds[0] == 0 and (np.diff(bounds) > 0).all()
    inside = ((used >= 0) & (used < n_cat)).all() and ((words >= 0) & (words < 2**32)).all()
    expect(steady and inside, "a split by categories that are not there")


def _check_leaf_models(tree: dict[str, str], n_leaves: int, n_features: int) -> None:
    named = {"leaf_const", "num_features", "leaf_features", "leaf_coeff"} & set(tree)
    if tree.get("is_linear", "0") == "0":
        expect(not named, "linear leaves of a plain tree")
        return
    _finite(tree["leaf_const"], n_leaves)
    counts = _whole(tree["num_features"], n_leaves)
    features = _whole(tree["leaf_features"], int(counts.sum()))
    _finite(tree["leaf_coeff"], int(counts.sum()))
    inside = ((features >= 0) & (features < n_features)).all() and (counts >= 0).all()
    expect(tree["is_linear"] == "1" and inside, "linear leaves of other columns")
