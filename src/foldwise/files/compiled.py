"""Compiled parts of scikit-learn, written by skops and read with our own list.

skops trusts much by default and the file says what it needs; both are ignored here. Its
schema is read first and every type and loader in it must be on the list below. Then the
numbers inside are checked: compiled code follows them without looking.
"""

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from foldwise.errors import FoldwiseError, Plain, listing
from foldwise.files.arrays import array_from
from foldwise.files.refuse import refused

TREES = {"sklearn.neighbors._ball_tree.BallTree", "sklearn.neighbors._kd_tree.KDTree"}
GROWN = "sklearn.tree._tree.Tree"
LOSSES = ("sklearn._loss._loss", "sklearn.linear_model._sgd_fast")
COMPILED_MODULES = (*LOSSES, "sklearn.metrics._dist_metrics")
PLAIN = {"builtins.dict", "builtins.list", "builtins.str", "builtins.tuple", "numpy.ndarray"}
LOADERS = {"DictNode", "JsonNode", "ListNode", "LossNode", "NdArrayNode", "ObjectNode", "TreeNode",
           "TupleNode", "CachedNode", "TypeNode"}  # fmt: skip


def is_compiled(cls: type) -> bool:
    """Tell whether objects of a class are written by skops."""
    name = f"{cls.__module__}.{cls.__qualname__}"
    return name in TREES or name == GROWN or cls.__module__ in LOSSES


def parts_content(parts: list[Any]) -> bytes:
    """Return compiled objects in the format of skops, nothing in it compressed."""
    from skops.io import dumps

    return dumps(parts)


def parts_from(content: bytes) -> list[Any]:
    """Return compiled objects, or refuse."""
    from skops.io import loads

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            schema = _checked_schema(archive, len(content))
        parts = loads(content, trusted=sorted(schema))
    except FoldwiseError:
        raise
    except Exception as error:
        raise refused("hold compiled parts that can be read", Plain(str(error)[:200])) from error
    if not isinstance(parts, list):
        raise refused("hold a list of compiled parts", Plain(type(parts).__name__))
    for part in parts:
        _check_part(part)
    return parts


def _checked_schema(archive: zipfile.ZipFile, size: int) -> set[str]:
    infos = archive.infolist()
    names = [info.filename for info in infos]
    if len(set(names)) < len(names):
        raise refused("hold each compiled part once", Plain("a name twice in 'parts.skops'"))
    if any(i.compress_type != zipfile.ZIP_STORED or i.file_size > size for i in infos):
        raise refused("hold compiled parts as they are", Plain("a packed 'parts.skops'"))
    for name in names:
        if name != "schema.json":
            array_from(archive.read(name), f"parts.skops/{name}")
    found = set(_types(json.loads(archive.read("schema.json"))))
    unknown = {name for name in found if not _may_be_part(name)}
    if unknown:
        raise refused("hold only types that foldwise allows", listing(unknown))
    return found


def _may_be_part(name: str) -> bool:
    module, _, own = name.rpartition(".")
    if own == "PyFuncDistance":
        return False
    return name in TREES | PLAIN | {GROWN} or module in COMPILED_MODULES


def _types(node: Any) -> Iterator[str]:
    """Yield every type a schema names, and every loader that is not known."""
    if isinstance(node, dict):
        if "__class__" in node or "__module__" in node:
            yield f"{node.get('__module__')}.{node.get('__class__')}"
        if "__loader__" in node and node["__loader__"] not in LOADERS:
            yield f"loader {node['__loader__']}"
        for value in node.values():
            yield from _types(value)
    elif isinstance(node, list):
        for value in node:
            yield from _types(value)


def _check_part(part: Any) -> None:
    name = f"{type(part).__module__}.{type(part).__qualname__}"
    if not is_compiled(type(part)):
        raise refused("hold only compiled parts in 'parts.skops'", name)
    if name == GROWN:
        check_grown(part.__getstate__()["nodes"], part.n_features, part.node_count)
    elif name in TREES:
        _check_search_tree(part)


def check_grown(nodes: Any, n_features: int, n_nodes: int) -> None:
    """Refuse a decision tree that loops or reads what is not there."""
    left, right = nodes["left_child"], nodes["right_child"]
    inner = left != -1
    own = np.arange(len(nodes))
    good = len(nodes) == n_nodes and n_nodes > 0 and n_features > 0
    for children in (left[inner], right[inner]):
        good = good and bool((children > own[inner]).all() and (children < n_nodes).all())
    features = nodes["feature"][inner]
    if not good or not bool(((features >= 0) & (features < n_features)).all()):
        raise refused("hold trees whose branches lead forward", Plain("one that does not"))


def check_features(state: dict[str, Any]) -> None:
    """Refuse an estimator whose trees look at more columns than it asks for."""
    n_features = state.get("n_features_in_")
    wanted = [state["tree_"].n_features - 1] if is_compiled(type(state.get("tree_"))) else []
    for predictors in state.get("_predictors", ()):
        wanted += [int(predictor.nodes["feature_idx"].max()) for predictor in predictors]
    if wanted and not (isinstance(n_features, int) and max(wanted) < n_features):
        raise refused("hold trees of the features it names", Plain("one of others"))


def _check_search_tree(tree: Any) -> None:
    data, index, nodes, bounds = (np.asarray(array) for array in tree.get_arrays())
    n = len(data)
    start, end = nodes["idx_start"], nodes["idx_end"]
    inside = (start >= 0).all() and (start <= end).all() and (end <= n).all()
    spread = len(index) == n and (index >= 0).all() and (index < n).all()
    room = bounds.ndim == 3 and bounds.shape[1:] == (len(nodes), data.shape[1])
    if not (inside and spread and room and _fits(tree, nodes)):
        raise refused("hold search trees of their own rows", Plain("one that is not"))


def _fits(tree: Any, nodes: Any) -> bool:
    """Tell whether the nodes are the whole binary tree that a search walks through."""
    _, _, _, _, _, n_levels, n_nodes, *_ = tree.__getstate__()
    last = np.arange(len(nodes)) >= 2 ** (n_levels - 1) - 1
    whole = len(nodes) == n_nodes == 2**n_levels - 1
    return whole and bool((nodes["is_leaf"][last] != 0).all())
