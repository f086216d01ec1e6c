"""XGBoost's JSON of a booster, read field by field and written anew from what was understood.

XGBoost follows the numbers of a model without looking. So it is only ever given what was put
together here from known fields.
"""

import json
import re
from typing import Any

import numpy as np

from foldwise.arrays import Array
from foldwise.files.lightgbm_text import expect, is_walkable

ARRAYS = {
    "base_weights": float, "default_left": int, "left_children": int, "loss_changes": float,
    "parents": int, "right_children": int, "split_conditions": float, "split_indices": int,
    "split_type": int, "sum_hessian": float,
}  # fmt: skip
CATEGORIES = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
NO_PARENT = 2**31 - 1
OBJECTIVE = re.compile(r"(reg|binary|multi|count|survival|rank):\w+")
LIST = re.compile(r"\[?[0-9.eE+,-]+\]?")
MOST_OUTPUTS = 10_000
CODES = range(12, 18)  # the numeric types a list of categories may have


def understood(text: str) -> str:
    """Return the JSON of the same booster in known fields only; raise ValueError otherwise."""
    document = json.loads(text)
    learner = document["learner"]
    sizes = learner["learner_model_param"]
    shape = {name: _number(sizes[f"num_{name}"]) for name in ("class", "target", "feature")}
    n_outputs = max(shape["class"], shape["target"], 1)
    expect(n_outputs <= MOST_OUTPUTS and shape["feature"] > 0, "sizes that cannot be")
    known = {
        "attributes": _words(learner.get("attributes", {})),
        "feature_names": _names(learner.get("feature_names", []), shape["feature"]),
        "feature_types": _names(learner.get("feature_types", []), shape["feature"]),
        "gradient_booster": _booster(learner["gradient_booster"], shape["feature"], n_outputs),
        "learner_model_param": {
            "base_score": _numbers_in_words(sizes["base_score"], n_outputs),
            "boost_from_average": "1",
            **{f"num_{name}": str(number) for name, number in shape.items()},
        },
        "objective": _objective(learner["objective"], shape),
    }
    version = [_number(part) for part in document["version"]]
    expect(len(version) == 3, "another version")
    return json.dumps({"learner": known, "version": version}, separators=(",", ":"))


def _number(value: Any) -> int:
    number = int(value) if isinstance(value, str | int) and not isinstance(value, bool) else -1
    expect(0 <= number < 2**31, "a size that cannot be")
    return number


def _words(given: Any) -> dict[str, str]:
    expect(all(type(k) is type(v) is str for k, v in given.items()), "attributes without words")
    return dict(given)


def _names(given: Any, n_features: int) -> list[str]:
    expect(len(given) in (0, n_features) and all(type(n) is str for n in given), "other columns")
    return list(given)


def _numbers_in_words(given: Any, most: int) -> str:
    expect(type(given) is str and LIST.fullmatch(given), "a score that is no number")
    numbers = [float(part) for part in given.strip("[]").split(",")]
    expect(len(numbers) in (1, most) and np.isfinite(numbers).all(), "other scores than outputs")
    return given


def _objective(given: Any, shape: dict[str, int]) -> dict[str, Any]:
    expect(OBJECTIVE.fullmatch(given["name"]), "an objective that is not known")
    known: dict[str, Any] = {"name": given["name"]}
    for name, parameters in given.items():
        if name == "name":
            continue
        expect(re.fullmatch(r"\w+_param", name), "an objective that is not known")
        known[name] = _words(parameters)
        classes = known[name].get("num_class", str(shape["class"]))
        expect(classes == str(shape["class"]), "an objective for other classes")
        if "quantile_alpha" in known[name]:
            _numbers_in_words(known[name]["quantile_alpha"], shape["target"])
    multi = given["name"].startswith("multi:")
    expect(not multi or shape["class"] > 1, "an objective for other classes")
    return known


def _booster(given: Any, n_features: int, n_outputs: int) -> dict[str, Any]:
    name = given["name"]
    if name == "gblinear":
        model = given["model"]
        weights = _array(model["weights"], float, (n_features + 1) * n_outputs)
        rounds = _number(model["boosted_rounds"])
        return {"name": name, "model": {"boosted_rounds": rounds, "weights": weights.tolist()}}
    if name == "dart":
        inner = _booster(given["gbtree"], n_features, n_outputs)
        dropped = _array(given["weight_drop"], float, len(inner["model"]["trees"]))
        return {"name": name, "gbtree": inner, "weight_drop": dropped.tolist()}
    expect(name == "gbtree", "a booster of another kind")
    return {"name": name, "model": _trees(given["model"], n_features, n_outputs)}


def _trees(model: Any, n_features: int, n_outputs: int) -> dict[str, Any]:
    trees = model["trees"]
    owners = _array(model["tree_info"], int, len(trees))
    bounds = _array(model["iteration_indptr"], int, len(model["iteration_indptr"]))
    sizes = model["gbtree_model_param"]
    expect(((owners >= 0) & (owners < n_outputs)).all(), "trees of other outputs")
    whole = len(bounds) and bounds[0] == 0 and bounds[-1] == len(trees)
    expect(whole and (np.diff(bounds) >= 0).all(), "rounds of other trees")
    expect(_number(sizes["num_trees"]) == len(trees), "another number of trees")
    return {
        "cats": _recoding(model.get("cats", {}), n_features),
        "gbtree_model_param": {
            "num_parallel_tree": str(_number(sizes["num_parallel_tree"])),
            "num_trees": str(len(trees)),
        },
        "iteration_indptr": bounds.tolist(),
        "tree_info": owners.tolist(),
        "trees": [_tree(tree, number, n_features) for number, tree in enumerate(trees)],
    }


def _array(values: Any, kind: type, length: int) -> Array:
    numbers = np.array(values, dtype=np.float64)
    expect(type(values) is list and numbers.shape == (length,), "an array of another length")
    expect(np.isfinite(numbers).all(), "a number that is none")
    if kind is float:
        return numbers
    expect((numbers == np.round(numbers)).all() and (abs(numbers) < 2**31).all(), "no whole number")
    return numbers.astype(np.int64)


def _tree(tree: Any, number: int, n_features: int) -> dict[str, Any]:
    sizes = tree["tree_param"]
    n_nodes = _number(sizes["num_nodes"])
    expect(tree["id"] == number and n_nodes > 0, "a tree out of order")
    expect(_number(sizes["num_feature"]) in (0, n_features), "a tree of other columns")
    expect(_number(sizes["size_leaf_vector"]) <= 1, "a tree with vectors in its leaves")
    found = {name: _array(tree[name], kind, n_nodes) for name, kind in ARRAYS.items()}
    left, right = found["left_children"], found["right_children"]
    inner = left >= 0
    expect(is_walkable(left, right, n_nodes), "a tree that leads nowhere")
    expect(((left >= 0) == (right >= 0)).all() and (left >= -1).all() and (right >= -1).all(),
            "a tree that leads nowhere")  # fmt: skip
    features = found["split_indices"]
    expect(((features >= 0) & (features < n_features))[inner].all(), "a split by other columns")
    expect(np.isin(found["split_type"], (0, 1)).all(), "a split of another kind")
    expect(np.isin(found["default_left"], (0, 1)).all(), "a way of another kind")
    parents, nodes = found["parents"], np.flatnonzero(inner)
    for children in (left[inner], right[inner]):
        expect((parents[children] == nodes).all(), "children of others")
    expect(parents[0] == NO_PARENT, "children of others")
    return {
        **{name: found[name].tolist() for name in ARRAYS},
        **_tree_categories(tree, found["split_type"]),
        "id": number,
        "tree_param": {
            "num_deleted": str(min(_number(sizes["num_deleted"]), n_nodes - 1)),
            "num_feature": str(n_features),
            "num_nodes": str(n_nodes),
            "size_leaf_vector": str(_number(sizes["size_leaf_vector"])),
        },
    }


def _tree_categories(tree: Any, split_type: Array) -> dict[str, Any]:
    levels, nodes, starts, sizes = (_array(tree[n], int, len(tree[n])) for n in CATEGORIES)
    expect(nodes.tolist() == np.flatnonzero(split_type == 1).tolist(), "other categories")
    expect(len(nodes) == len(starts) == len(sizes), "other categories")
    inside = ((starts >= 0) & (sizes >= 0) & (starts + sizes <= len(levels))).all()
    expect(inside and ((levels >= 0) & (levels < 2**24)).all(), "other categories")
    return dict(zip(CATEGORIES, (a.tolist() for a in (levels, nodes, starts, sizes)), strict=True))


def _recoding(given: Any, n_features: int) -> dict[str, Any]:
    """Return how the levels of a frame's categories are numbered, column by column."""
    columns = given.get("enc", [])
    segments = given.get("feature_segments", [])
    order = given.get("sorted_idx", [])
    if not columns:
        expect(not segments and not order, "other categories")
        return {"enc": [], "feature_segments": [], "sorted_idx": []}
    expect(len(columns) == n_features, "other categories")
    levels, counts = zip(*map(_levels, columns), strict=True)
    bounds = np.concatenate([[0], np.cumsum(counts)])
    expect(segments == bounds.tolist() and len(order) == bounds[-1], "other categories")
    for start, count in zip(bounds[:-1], counts, strict=True):
        part = order[start : start + count]
        expect(sorted(part) == list(range(count)), "other categories")
    return {"enc": list(levels), "feature_segments": segments, "sorted_idx": order}


def _levels(column: Any) -> tuple[dict[str, Any], int]:
    values = _array(column["values"], int, len(column["values"])).tolist()
    if "offsets" not in column:
        expect(_number(column["type"]) in CODES, "levels of another type")
        return {"type": column["type"], "values": values}, len(values)
    offsets = _array(column["offsets"], int, len(column["offsets"]))
    if not len(offsets):
        expect(not values, "levels without words")
        return {"offsets": [], "values": []}, 0
    whole = offsets[0] == 0 and offsets[-1] == len(values) and (np.diff(offsets) >= 0).all()
    expect(whole and all(-128 <= v < 256 for v in values), "levels without words")
    return {"offsets": offsets.tolist(), "values": values}, len(offsets) - 1
