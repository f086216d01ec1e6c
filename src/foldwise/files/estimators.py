"""Whether the numbers inside an estimator fit together where compiled code does not look.

Most of scikit-learn predicts with NumPy, which checks. What is named here hands arrays to code
that does not: trees, support vectors, neighbours, centres, and the encoders that write indices
of sparse matrices.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster._kmeans import _BaseKMeans
from sklearn.ensemble._forest import BaseForest
from sklearn.ensemble._gb import BaseGradientBoosting
from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import BaseHistGradientBoosting
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.neighbors._base import NeighborsBase
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm._base import BaseLibSVM
from sklearn.tree import BaseDecisionTree

from foldwise.errors import Plain
from foldwise.files.compiled import check_grown
from foldwise.files.refuse import refused

State = dict[str, Any]
BITS = 8
# What estimators take memory by when they predict.
SIZES = (
    "n_outputs_", "n_classes_", "n_samples_fit_", "n_trees_per_iteration_", "n_layers_", "n_bins_",
    "n_components_", "_n_components", "n_features_out_", "n_output_features_", "_n_out_full",
)  # fmt: skip


def check_estimator(cls: type, state: State, longest: int) -> None:
    """Refuse an estimator whose parts do not belong together, or that would take much memory."""
    sizes = [np.asarray(state[name]) for name in SIZES if state.get(name) is not None]
    # Whole numbers beyond 64 bits are objects.
    small = all(size.dtype != object and size.max(initial=0) <= longest for size in sizes)
    if not small or any(issubclass(cls, base) and not fits(state) for base, fits in _RULES):
        raise refused("hold parts that belong together", Plain(f"a {cls.__name__} without"))


def check_predictor(state: State) -> None:
    """Refuse a histogram tree that loops or reads what is not there."""
    nodes, bits = state["nodes"], np.asarray(state["raw_left_cat_bitsets"])
    inner = nodes["is_leaf"] == 0
    fields = ("left_child", "right_child", "feature")
    plain = np.zeros(len(nodes), dtype=[(field, np.int64) for field in fields])
    plain["left_child"] = np.where(inner, nodes["left"].astype(np.int64), -1)
    plain["right_child"] = np.where(inner, nodes["right"].astype(np.int64), -1)
    plain["feature"] = nodes["feature_idx"]
    check_grown(plain, np.iinfo(np.int32).max)
    asked = nodes["bitset_idx"][inner & (nodes["is_categorical"] != 0)]
    whole = bits.ndim == 2 and bits.shape[1] == BITS and bits.dtype == np.uint32
    if not whole or (len(asked) and int(asked.max()) >= len(bits)):
        raise refused("hold trees with the categories they ask for", Plain("one without"))


def _width(state: State) -> int:
    width = state.get("n_features_in_", -1)
    return width if isinstance(width, int) else -1


def _tree(state: State) -> bool:
    tree = state.get("tree_")
    return tree is None or _asks(tree, state)


def _asks(tree: Any, state: State) -> bool:
    """Tell whether a tree has the columns, targets and classes that its owner will ask it for."""
    n_classes = np.ravel(state.get("n_classes_", tree.n_classes))
    return (
        tree.n_features == _width(state)
        and state.get("n_outputs_", tree.n_outputs) == tree.n_outputs
        and np.array_equal(n_classes, tree.n_classes)
    )


def _trees(estimators: Any) -> Iterator[Any]:
    for estimator in np.asarray(estimators, dtype=object).ravel():
        yield estimator.tree_


def _forest(state: State) -> bool:
    # A forest asks its trees without checking the rows again.
    return all(_asks(tree, state) for tree in _trees(state.get("estimators_", ())))


def _gradient_boosting(state: State) -> bool:
    if "estimators_" not in state:
        return True
    rounds = state["estimators_"]
    a_round = state.get("n_trees_per_iteration_")
    shape = isinstance(rounds, np.ndarray) and rounds.ndim == 2 and rounds.shape[1] == a_round
    same = {"n_features_in_": _width(state)}  # its trees know numbers only, whatever its classes
    return shape and all(tree.n_outputs == 1 and _asks(tree, same) for tree in _trees(rounds))


def _histogram_boosting(state: State) -> bool:
    if "_predictors" not in state:
        return True
    width, a_round = int(state["_n_features"]), state["n_trees_per_iteration_"]
    features = [
        int(predictor.nodes["feature_idx"][predictor.nodes["is_leaf"] == 0].max(initial=0))
        for predictors in state["_predictors"]
        for predictor in predictors
    ]
    mapper = vars(state["_bin_mapper"]) if "_bin_mapper" in state else {}
    flags, known = mapper.get("is_categorical_"), mapper.get("bin_thresholds_", ())
    return (
        0 < width == _width(state)
        and all(len(predictors) == a_round for predictors in state["_predictors"])
        and max(features, default=0) < width
        and (flags is None or (len(flags) == len(known) == width))
    )


def _support_vectors(state: State) -> bool:
    if "support_vectors_" not in state:
        return True
    vectors, counts = state["support_vectors_"], state["_n_support"]
    n, n_classes = vectors.shape[0], len(counts)
    classify = "classes_" in state
    pairs = n_classes * (n_classes - 1) // 2 if classify else 1
    weights = [state["dual_coef_"], state["_dual_coef_"]]
    chances = [state["_probA"], state["_probB"]]
    height = n_classes - 1 if classify else 1
    return (
        vectors.shape == (n, _width(state))
        and sparse.issparse(vectors) == bool(state["_sparse"])
        and len(state["support_"]) == n
        and int(np.min(counts, initial=0)) >= 0
        and (int(np.sum(counts)) == n if classify else n_classes == 2)
        and (not classify or n_classes == max(len(state["classes_"]), 2))
        and all(weight.shape == (height, n) for weight in weights)
        and all(len(state[name]) == pairs for name in ("intercept_", "_intercept_"))
        and all(chance.shape in ((0,), (pairs,)) for chance in chances)
        and chances[0].shape == chances[1].shape
    )


def _neighbours(state: State) -> bool:
    rows = state.get("_fit_X")
    if rows is None:
        return True
    tree = state.get("_tree")
    same = tree is None or np.asarray(tree.data).shape == rows.shape
    shape = (state.get("n_samples_fit_", len(rows)), _width(state))
    return rows.shape == shape and same


def _centres(state: State) -> bool:
    centres = state.get("cluster_centers_")
    return centres is None or (centres.ndim == 2 and centres.shape[1] == _width(state))


def _one_hot(state: State) -> bool:
    if "categories_" not in state:
        return True
    kept = state.get("_n_features_outs", ())
    return len(kept) == len(state["categories_"]) == _width(state) and all(
        0 < n <= len(levels) + 1 for n, levels in zip(kept, state["categories_"], strict=True)
    )


def _words(state: State) -> bool:
    words = state.get("vocabulary_", {})
    return sorted(words.values()) == list(range(len(words)))


_RULES: list[tuple[type, Callable[[State], bool]]] = [
    (BaseDecisionTree, _tree),
    (BaseForest, _forest),
    (BaseGradientBoosting, _gradient_boosting),
    (BaseHistGradientBoosting, _histogram_boosting),
    (BaseLibSVM, _support_vectors),
    (NeighborsBase, _neighbours),
    (_BaseKMeans, _centres),
    (OneHotEncoder, _one_hot),
    (CountVectorizer, _words),
]
