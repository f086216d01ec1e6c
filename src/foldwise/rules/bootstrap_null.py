"""How large H statistics are when there is no interaction at all: a parametric bootstrap."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state


def interaction_null(
    model: Any, X: Any, y: Any, *, n_bootstrap: int = 10, random_state: Any = None
) -> pd.DataFrame:
    """Return the H statistics of pairs beside those of data without interactions.

    An additive ensemble (rules of one condition) is fitted; new targets are drawn from it; the
    full ensemble is fitted to them, and any H it shows is there by chance.

    Costs ``n_bootstrap + 1`` fits. Numbers are redrawn by permuting the additive model's
    residuals, counts from Poisson distributions, classes from its probabilities.

    References
    ----------
    .. [1] Friedman and Popescu (2008). Predictive learning via rule ensembles. Section 8.3.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from foldwise.rules.rulefit import RuleFitRegressor
    >>> X, y = make_friedman1(150, n_features=5, random_state=0)
    >>> model = RuleFitRegressor(n_estimators=30, random_state=0).fit(X, y)
    >>> found = interaction_null(model, X, y, n_bootstrap=2, random_state=0)
    >>> found.columns.tolist()
    ['feature_1', 'feature_2', 'H', 'null_mean', 'null_std', 'excess']
    """
    rng = check_random_state(random_state)
    additive = clone(model).set_params(max_conditions=1).fit(X, y)
    draws = [
        _pairs(clone(model).fit(X, _redraw(additive, X, y, rng)), X) for _ in range(n_bootstrap)
    ]
    found = _pairs(model, X)
    null = pd.DataFrame(draws).reindex(columns=found.index).fillna(0.0)
    frame = pd.DataFrame(
        {
            "H": found,
            "null_mean": null.mean(axis=0),
            "null_std": null.std(axis=0, ddof=0),
        }
    )
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
