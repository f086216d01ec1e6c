"""Compiled parts of scikit-learn: taken apart into numbers, and built again from checked ones.

Compiled code follows the numbers it is given without looking, so no loader of another library
reads them from a file: decision trees are checked node by node, search trees are grown again
from their rows, losses are made anew from their names and parameters.
"""

from typing import Any

import numpy as np

from foldwise.arrays import Array
from foldwise.errors import Plain
from foldwise.files.refuse import not_saved, refused

HOMES = ("sklearn._loss._loss", "sklearn.linear_model._sgd_fast")
# Every loss scikit-learn's estimators hold, with the number of its parameters.
LOSSES = {
    "CyAbsoluteError": 0, "CyExponentialLoss": 0, "CyHalfBinomialLoss": 0, "CyHalfGammaLoss": 0,
    "CyHalfMultinomialLoss": 0, "CyHalfPoissonLoss": 0, "CyHalfSquaredError": 0,
    "CyHalfTweedieLoss": 1, "CyHalfTweedieLossIdentity": 1, "CyHuberLoss": 1, "CyPinballLoss": 1,
    "EpsilonInsensitive": 1, "Hinge": 1, "Huber": 1, "Log": 0, "ModifiedHuber": 0,
    "SquaredEpsilonInsensitive": 1, "SquaredHinge": 1, "SquaredLoss": 0,
}  # fmt: skip
# What each metric of a search tree is made of: how scikit-learn calls it, and where it keeps it
# (its state is an exponent, a vector and a matrix).
METRICS: dict[str, dict[str, int]] = {
    "BrayCurtis": {}, "Canberra": {}, "Chebyshev": {}, "Dice": {}, "Euclidean": {}, "Hamming": {},
    "Haversine": {}, "Jaccard": {}, "Mahalanobis": {"VI": 2}, "Manhattan": {},
    "Minkowski": {"p": 0, "w": 1}, "RogersTanimoto": {}, "RussellRao": {}, "SEuclidean": {"V": 1},
    "SokalMichener": {}, "SokalSneath": {},
}  # fmt: skip


def is_compiled(cls: type) -> bool:
    """Tell whether objects of a class are taken apart here."""
    if cls.__module__ == "sklearn.tree._tree":
        return cls.__name__ == "Tree"
    if cls.__module__ in ("sklearn.neighbors._kd_tree", "sklearn.neighbors._ball_tree"):
        return cls.__name__ in ("KDTree", "BallTree")
    return cls.__module__ in HOMES and cls.__name__ in LOSSES


def parts_of(thing: Any) -> tuple[str, list[Any]]:
    """Return the name of a compiled object and what it is made of."""
    name = type(thing).__name__
    if name == "Tree":
        _, (n_features, n_classes, _), state = thing.__reduce__()
        return name, [n_features, n_classes, state["nodes"], state["values"]]
    if name in LOSSES:
        return name, [float(number) for number in thing.__reduce__()[1][: LOSSES[name]]]
    rows, _, _, _, leaf_size, *_, metric, weight = thing.__getstate__()
    kind = type(metric).__name__.removesuffix("64").removesuffix("Distance")
    if kind not in METRICS:
        got, fix = Plain(f"{type(metric).__name__}"), "Use metric='minkowski' or another name."
        raise not_saved("measure distances by a metric of scikit-learn", got, fix)
    state = metric.__getstate__()
    given = {key: state[place] for key, place in METRICS[kind].items()}
    if "w" in given and not len(given["w"]):
        del given["w"]
    rows = np.asarray(rows)
    weight = None if weight is None else np.asarray(weight)
    return name, [rows, int(leaf_size), kind, given, weight]


def rebuilt(name: str, parts: list[Any]) -> Any:
    """Return the compiled object of that name made anew, or refuse."""
    if name == "Tree":
        return _decision_tree(*parts)
    if name in LOSSES:
        return _loss(name, parts)
    return _search_tree(name, *parts)


def _decision_tree(n_features: int, n_classes: Any, nodes: Any, values: Any) -> Any:
    from sklearn.tree._tree import Tree

    n_classes = np.ascontiguousarray(n_classes, dtype=np.intp)
    shape = (len(nodes), len(n_classes), int(n_classes.max(initial=0)))
    numbers = np.ascontiguousarray(values, dtype=np.float64)
    if n_classes.ndim != 1 or n_classes.min(initial=1) < 1 or numbers.shape != shape:
        raise refused("hold trees with a value for every leaf", Plain("one without"))
    if not np.isfinite(numbers).all():
        raise refused("hold trees whose values are finite", Plain("one that is not"))
    depth = check_grown(nodes, n_features)
    tree = Tree(n_features, n_classes, len(n_classes))
    own = np.zeros(len(nodes), dtype=tree.__getstate__()["nodes"].dtype)
    for field in own.dtype.names:
        own[field] = nodes[field]
    # A depth that is too small would let compiled code write past the paths it collects.
    tree.__setstate__({"max_depth": depth, "node_count": len(own), "nodes": own, "values": numbers})
    return tree


def check_grown(nodes: Any, n_features: int) -> int:
    """Return the depth of a decision tree; refuse one that loops or reads what is not there."""
    left, right = nodes["left_child"], nodes["right_child"]
    inner = left != -1
    own, n_nodes = np.arange(len(nodes)), len(nodes)
    good = nodes.ndim == 1 and n_nodes > 0 and 0 < n_features < 2**31
    for children in (left[inner], right[inner]):
        good = good and bool((children > own[inner]).all() and (children < n_nodes).all())
    features = nodes["feature"][inner]
    if not good or not bool(((features >= 0) & (features < n_features)).all()):
        raise refused("hold trees whose branches lead forward", Plain("one that does not"))
    depth = np.zeros(n_nodes, dtype=np.intp)
    for node in np.flatnonzero(inner):
        for child in (left[node], right[node]):
            depth[child] = max(depth[child], depth[node] + 1)
    return int(depth.max())


def _loss(name: str, parts: list[Any]) -> Any:
    import sklearn._loss._loss as plain
    import sklearn.linear_model._sgd_fast as gradient

    numbers = [float(part) for part in parts]
    cls = getattr(plain if name.startswith("Cy") else gradient, name, None)
    if cls is None or len(numbers) != LOSSES[name] or not np.isfinite(numbers).all():
        raise refused("hold losses of this scikit-learn with their parameters", name)
    return cls(*numbers)


def _search_tree(name: str, rows: Any, leaf_size: int, kind: str, given: Any, weight: Any) -> Any:
    from sklearn.neighbors import BallTree, KDTree

    rows, weight = _numbers(rows, 2), None if weight is None else _numbers(weight, 1)
    width = rows.shape[1]
    if isinstance(leaf_size, bool) or not isinstance(leaf_size, int) or leaf_size < 1:
        raise refused("hold search trees with leaves", leaf_size)
    if kind not in METRICS or not set(given) <= set(METRICS[kind]):
        raise refused("measure distances by a metric of scikit-learn", kind)
    known: dict[str, Any] = {}
    for key, value in given.items():
        known[key] = float(value) if key == "p" else _numbers(value, 2 if key == "VI" else 1)
        if key != "p" and known[key].shape != (width,) * known[key].ndim:
            raise refused("hold metrics as wide as their rows", kind)
    if kind == "Haversine" and width != 2:
        raise refused("hold metrics as wide as their rows", kind)
    if len(rows) == 0 or (weight is not None and (len(weight) != len(rows) or weight.min() < 0)):
        raise refused("hold search trees of rows", Plain("one without"))
    grow = {"KDTree": KDTree, "BallTree": BallTree}[name]
    return grow(rows, leaf_size, metric=kind.lower(), sample_weight=weight, **known)


def _numbers(values: Any, n_axes: int) -> Array:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != n_axes or not np.isfinite(array).all():
        raise refused("hold finite numbers", Plain(f"an array of shape {array.shape}"))
    return array
