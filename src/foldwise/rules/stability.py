"""Whether other rows would have given the same rules."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils import check_random_state

from foldwise._sklearn import take
from foldwise.arrays import BoolArray, FloatArray
from foldwise.isle.data import CodedTable, new_table
from foldwise.rules.fitting import RuleModel
from foldwise.rules.text import rule_text

# Two rules on the same columns count as the same from this correlation on.
ALIKE = 0.8


@dataclass(frozen=True)
class Stability:
    """How often rules come back on other rows.

    Parameters
    ----------
    rules : DataFrame
        The model's ``rules_`` (rules only) with a column "frequency": the share of refits that
        kept a rule on the same columns selecting nearly the same rows (or nearly the others).
    dice : float
        Mean over refits of the Dice-Sørensen index, ``2 |A ∩ B| / (|A| + |B|)``, between the
        model's rules and the refit's: 1 for always the same rules.
    """

    rules: pd.DataFrame
    dice: float


def rule_stability(
    model: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 10,
    share: float = 0.8,
    random_state: Any = None,
) -> Stability:
    """Return how stable the rules of a fitted ensemble are.

    Parameters
    ----------
    model : RuleFitRegressor or RuleFitClassifier
        A fitted rule ensemble.
    X, y : array-like
        The rows and targets it was fitted to.
    n_resamples : int, default=10
        Refits, each to a random part of the rows.
    share : float, default=0.8
        That part.
    random_state : int, RandomState or None, default=None
        Seed of the parts.

    Returns
    -------
    Stability
        The rules with the share of refits that found them again, and one index for all.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from foldwise.rules import RuleFitRegressor
    >>> X, y = make_friedman1(200, random_state=0)
    >>> model = RuleFitRegressor(n_estimators=30, max_terms=20, random_state=0).fit(X, y)
    >>> found = rule_stability(model, X, y, n_resamples=3, random_state=0)
    >>> 0 <= found.dice <= 1
    True
    """
    rng = check_random_state(random_state)
    table, y = new_table(model, X), np.asarray(y)
    X = X.tocsr() if hasattr(X, "tocsr") else X
    own = _selections(model.model_, table)
    counts, indices = np.zeros(len(own)), []
    for _ in range(n_resamples):
        rows = np.sort(rng.permutation(len(y))[: max(2, round(share * len(y)))])
        refit = clone(model).set_params(cv_score=False).fit(take(X, rows), y[rows])
        other = _selections(refit.model_, table)
        alike = _alike(model.model_, own, refit.model_, other)
        counts += alike.any(axis=1)
        total = len(own) + len(other)
        common = alike.any(axis=1).sum() + alike.any(axis=0).sum()
        indices.append(common / total if total else 1.0)
    frame = model.rules_
    frame = frame[frame["kind"] == "rule"].copy()
    texts = [rule_text(rule, model.columns_) for rule in model.model_.rules]
    by_text = dict(zip(texts, counts / n_resamples, strict=True))
    frame["frequency"] = [by_text[text] for text in frame["rule"]]
    return Stability(frame, float(np.mean(indices)))


def _selections(model: RuleModel, table: CodedTable) -> FloatArray:
    """Return the rules' standardised selections, shape (n_rules, n_rows)."""
    masks = np.array([rule.holds(table) for rule in model.rules], dtype=float)
    masks = masks.reshape(len(model.rules), table.n_rows)
    masks -= masks.mean(axis=1, keepdims=True)
    size = np.sqrt((masks**2).sum(axis=1, keepdims=True))
    return np.divide(masks, size, out=np.zeros_like(masks), where=size > 0)


def _alike(model: RuleModel, own: FloatArray, refit: RuleModel, other: FloatArray) -> BoolArray:
    features = [set(rule.features) for rule in refit.rules]
    same = np.array(
        [[set(rule.features) == those for those in features] for rule in model.rules], dtype=bool
    ).reshape(len(own), len(other))
    return same & (np.abs(own @ other.T) >= ALIKE)
