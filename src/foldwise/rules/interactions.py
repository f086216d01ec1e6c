"""Interactions: Friedman and Popescu's H statistics, exactly and without predicting anything.

A rule is a product of conditions on single columns. Averaging over some of the columns
therefore averages the product of their conditions and leaves the others as they are: every
partial dependence function is a sum over rules of such products.
"""

from collections.abc import Iterable
from functools import cache
from itertools import combinations

import numpy as np

from foldwise.arrays import BoolArray, FloatArray
from foldwise.isle.table import CodedTable
from foldwise.rules.rule_model import RuleModel


class PartialDependence:
    """Centred partial dependence functions of a rule ensemble, at the rows of a table.

    A function costs O(n_rows) for each rule that speaks of its columns; the textbook way
    predicts n_rows² rows.
    """

    def __init__(self, model: RuleModel, table: CodedTable, weight: FloatArray) -> None:
        self._model = model
        self._weight = weight / weight.sum()
        self._masks: list[dict[int, BoolArray]] = [
            {c.feature: c.holds(table.column(c.feature)) for c in rule.conditions}
            for rule in model.rules
        ]
        self._lines = model.linear.values(table)
        self.of = cache(self._of)

    def _of(self, features: frozenset[int]) -> FloatArray:
        """Return the function of the given columns, shape (n_rows, n_outputs)."""
        model = self._model
        inside = np.isin(model.linear.features, list(features))
        out = self._lines[:, inside] @ model.linear_coefs[:, inside].T
        for masks, coefs in zip(self._masks, model.rule_coefs.T, strict=True):
            seen = [mask for feature, mask in masks.items() if feature in features]
            if not seen:
                continue
            averaged = [mask for feature, mask in masks.items() if feature not in features]
            rest = float(np.logical_and.reduce(averaged) @ self._weight) if averaged else 1.0
            out += np.outer(np.logical_and.reduce(seen), coefs * rest)
        return out - self._weight @ out

    def share(self, part: FloatArray, whole: FloatArray) -> float:
        """Return sqrt(Σ part² / Σ whole²), 0 where the whole is constant."""
        total = float(self._weight @ (whole**2).sum(axis=1))
        if total <= 1e-24:
            return 0.0
        return float(np.sqrt(self._weight @ (part**2).sum(axis=1) / total))

    def interaction(self, features: Iterable[int]) -> float:
        """Return H of two or three columns: what no sum of smaller functions explains."""
        chosen = frozenset(features)
        part = np.zeros_like(self.of(chosen))
        for size in range(1, len(chosen) + 1):
            sign = (-1) ** (len(chosen) - size)
            for subset in combinations(sorted(chosen), size):
                part += sign * self.of(frozenset(subset))
        return self.share(part, self.of(chosen))

    def total_interaction(self, feature: int, n_features: int) -> float:
        """Return H of one column with all others together."""
        everything = frozenset(range(n_features))
        whole = self.of(everything)
        part = whole - self.of(frozenset({feature})) - self.of(everything - {feature})
        return self.share(part, whole)


def tuples_that_interact(model: RuleModel, order: int) -> list[tuple[int, ...]]:
    """Return the sets of columns that stand together in some rule; all others have H = 0."""
    found = {s for rule in model.rules for s in combinations(sorted(rule.features), order)}
    return sorted(found)
