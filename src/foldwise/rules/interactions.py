"""Interactions: Friedman and Popescu's H statistics, exactly and without predicting anything.

A rule is a product of conditions on single columns. Averaging over some of the columns
therefore averages the product of their conditions and leaves the others as they are: every
partial dependence function is a sum over rules of such products.
"""

from collections.abc import Iterable
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state

from foldwise.arrays import BoolArray, FloatArray
from foldwise.isle.data import CodedTable
from foldwise.rules.fitting import RuleModel


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
        self._lines = model.linear.matrix(table)
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


def interaction_null(
    model: Any, X: Any, y: Any, *, n_bootstrap: int = 10, random_state: Any = None
) -> pd.DataFrame:
    """Return the H statistics of pairs beside those of data without interactions.

    An additive ensemble (rules of one condition) is fitted; new targets are drawn from it; the
    full ensemble is fitted to them, and any H it shows is there by chance.

    Parameters
    ----------
    model : RuleFitRegressor or RuleFitClassifier
        A fitted rule ensemble.
    X, y : array-like
        The rows and targets it was fitted to.
    n_bootstrap : int, default=10
        Fits to data without interactions.
    random_state : int, RandomState or None, default=None
        Seed of the new targets.

    Returns
    -------
    DataFrame
        A row a pair of columns: "feature_1", "feature_2", its "H", the mean and standard
        deviation of its H by chance, and the "excess" of H over that mean, largest first.

    Notes
    -----
    Costs ``n_bootstrap + 1`` fits. Numbers are redrawn by permuting the additive model's
    residuals, counts from Poisson distributions, classes from its probabilities.

    References
    ----------
    .. [1] Friedman and Popescu (2008). Predictive learning via rule ensembles. Section 8.3.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from foldwise.rules import RuleFitRegressor
    >>> X, y = make_friedman1(150, n_features=5, random_state=0)
    >>> model = RuleFitRegressor(n_estimators=30, random_state=0).fit(X, y)
    >>> found = interaction_null(model, X, y, n_bootstrap=2, random_state=0)
    >>> found.columns.tolist()
    ['feature_1', 'feature_2', 'H', 'null_mean', 'null_std', 'excess']
    """
    rng = check_random_state(random_state)
    unscored = clone(model).set_params(cv_score=False)
    additive = clone(unscored).set_params(max_conditions=1).fit(X, y)
    draws = [
        _pairs(clone(unscored).fit(X, _redraw(additive, X, y, rng)), X) for _ in range(n_bootstrap)
    ]
    found = _pairs(model, X)
    null = pd.DataFrame(draws).reindex(columns=found.index).fillna(0.0)
    chance = {"null_mean": null.mean(axis=0), "null_std": null.std(axis=0, ddof=0)}
    frame = pd.DataFrame({"H": found, **chance})
    frame["excess"] = frame["H"] - frame["null_mean"]
    frame = frame.sort_values("excess", ascending=False, kind="stable")
    return frame.rename_axis(["feature_1", "feature_2"]).reset_index()


def _pairs(model: Any, X: Any) -> "pd.Series[float]":
    frame = model.interactions(X)
    return frame.set_index(["feature_1", "feature_2"])["H"]


def _redraw(additive: Any, X: Any, y: Any, rng: np.random.RandomState) -> Any:
    """Return targets as the additive model would have them."""
    if is_classifier(additive):
        reach = additive.predict_proba(X).cumsum(axis=1)
        drawn = (rng.random_sample(len(reach))[:, None] > reach).sum(axis=1)
        return additive.classes_[np.minimum(drawn, len(additive.classes_) - 1)]
    mean = additive.predict(X)
    if additive.loss == "poisson":
        return rng.poisson(mean)
    return mean + rng.permutation(np.asarray(y, dtype=float) - mean)
