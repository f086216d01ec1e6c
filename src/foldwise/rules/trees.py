"""Fitted trees of LightGBM, scikit-learn and XGBoost, read into one form, and their rules."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Union

import numpy as np

from foldwise.arrays import FloatArray
from foldwise.isle.data import CodedTable
from foldwise.isle.tree_set import trees_of
from foldwise.rules.rule import Condition, Interval, Members, Rule, conjunction


def short_number_between(low: float, high: float) -> float:
    """Return the number with the fewest decimals in the middle half of [low, high]."""
    gap = high - low
    if not 0 < gap < math.inf:
        return low
    middle = low + gap / 2
    decimals = -math.floor(math.log10(gap)) - 1
    for digits in range(decimals, decimals + 4):
        candidate = round(middle, digits)
        if abs(candidate - middle) <= gap / 4 and low <= candidate < high:
            return float(candidate)
    return middle if low <= middle < high else low


class Cuts:
    """Moves a cut point to the shortest number that splits the training rows the same way.

    In a column of whole numbers the cut is put on the lower neighbour, ``x <= 5``, else
    near the middle between the neighbours. One sort a column asked about.
    """

    def __init__(self, table: CodedTable) -> None:
        self._table = table
        self._known = cache(self._values_of)
        self.move = cache(self._move)

    def _values_of(self, feature: int) -> tuple[FloatArray, bool, bool]:
        """Return a column's values, sorted, whether all are whole, and whether some are missing."""
        column = self._table.column(feature)
        missing = np.isnan(column)
        values = np.unique(column[~missing])
        return values, bool(np.all(values == np.round(values))), bool(missing.any())

    def has_missing(self, feature: int) -> bool:
        """Tell whether a column has missing values."""
        return self._known(feature)[2]

    def _move(self, feature: int, threshold: float) -> float:
        values, whole, _ = self._known(feature)
        above = int(np.searchsorted(values, threshold, side="right"))
        if above == len(values):
            return math.inf
        if above == 0:
            return -math.inf
        low, high = float(values[above - 1]), float(values[above])
        return low if whole else short_number_between(low, high)


@dataclass(frozen=True, slots=True)
class TreeSplit:
    """An inner node of a tree: what its two sides ask, and what stands below them."""

    asks: tuple[Condition, Condition]  # left side and right side
    # the child on each side; None for a leaf
    below: tuple[Union["TreeSplit", None], Union["TreeSplit", None]]


def rules_of(trees: Iterable[TreeSplit | None]) -> list[Rule]:
    """Return the rule of every node but the roots, in tree order."""
    return [rule for tree in trees if tree is not None for rule in _walk(tree)]


def _walk(root: TreeSplit) -> Iterator[Rule]:
    waiting: list[tuple[TreeSplit, Rule]] = [(root, Rule(()))]
    while waiting:
        split, rule = waiting.pop()
        for asked, below in zip(split.asks, split.below, strict=True):
            deeper = conjunction((*rule.conditions, asked))
            yield deeper
            if below is not None:
                waiting.append((below, deeper))


def number_split(
    feature: int, threshold: float, missing_left: bool | None
) -> tuple[Interval, Interval]:
    """Return the two sides of ``x <= threshold``."""
    right = Interval(feature, threshold, math.inf, missing_left is False)
    if threshold == -math.inf:
        return Interval(feature, math.inf, math.inf, missing_left is True), right
    return Interval(feature, -math.inf, threshold, missing_left is True), right


def lightgbm_trees(booster: Any, cuts: Cuts) -> list[TreeSplit | None]:
    """Return the trees of a LightGBM booster."""

    def read(node: dict[str, Any]) -> TreeSplit | None:
        if "split_feature" not in node:
            return None
        feature, seen_missing = node["split_feature"], node["missing_type"] == "NaN"
        asks: tuple[Condition, Condition]
        if node["decision_type"] == "==":
            codes = frozenset(int(code) for code in str(node["threshold"]).split("||"))
            asks = Members(feature, codes), Members(feature, codes, True, seen_missing)
        else:
            side = node["default_left"] if seen_missing else None
            asks = number_split(feature, cuts.move(feature, node["threshold"]), side)
        return TreeSplit(asks, (read(node["left_child"]), read(node["right_child"])))

    return [read(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]]


def sklearn_trees(trees: Iterable[Any], cuts: Cuts) -> list[TreeSplit | None]:
    """Return scikit-learn's decision trees."""

    def read(tree: Any, node: int) -> TreeSplit | None:
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left == right:
            return None
        feature = int(tree.feature[node])
        threshold = cuts.move(feature, float(tree.threshold[node]))
        side = bool(tree.missing_go_to_left[node]) if cuts.has_missing(feature) else None
        asks = number_split(feature, threshold, side)
        return TreeSplit(asks, (read(tree, left), read(tree, right)))

    return [read(tree.tree_, 0) for tree in trees]


def xgboost_trees(booster: Any, cuts: Cuts) -> list[TreeSplit | None]:
    """Return the trees of an XGBoost booster over numeric columns."""
    frame = booster.trees_to_dataframe()
    names = booster.feature_names or [f"f{j}" for j in range(booster.num_features())]
    positions = {name: j for j, name in enumerate(names)}

    def read(nodes: Any, node: str) -> TreeSplit | None:
        row = nodes.loc[node]
        if row["Feature"] == "Leaf":
            return None
        feature = positions[row["Feature"]]
        before = float(np.nextafter(np.float32(row["Split"]), np.float32(-np.inf)))
        side = row["Missing"] == row["Yes"] if cuts.has_missing(feature) else None
        asks = number_split(feature, cuts.move(feature, before), side)
        return TreeSplit(asks, (read(nodes, row["Yes"]), read(nodes, row["No"])))

    return [
        read(nodes.set_index("ID"), f"{tree}-0") for tree, nodes in frame.groupby("Tree", sort=True)
    ]


def read_splits(owner: str, model: Any, cuts: Cuts) -> list[TreeSplit | None]:
    """Return the splits of the trees of a fitted model, for making rules of them."""
    library, trees = trees_of(owner, model)
    readers = {"lightgbm": lightgbm_trees, "xgboost": xgboost_trees}
    return readers.get(library, sklearn_trees)(trees, cuts)
