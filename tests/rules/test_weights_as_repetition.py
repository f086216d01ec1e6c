"""Stands in for scikit-learn's exact check, which random row samples cannot pass."""

from typing import Any

import numpy as np
import pytest

from foldwise import ISLEClassifier, ISLERegressor, RuleFitClassifier, RuleFitRegressor


def two_minds(n: int, seed: int) -> tuple[Any, Any, Any]:
    """Return rows of which half say y rises with the first column and half that it falls.

    The first half weighs five times as much, so weights decide what is learned.
    """
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    sign = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    return X, sign * X[:, 0] * 3 + 0.2 * rng.normal(size=n), np.where(sign > 0, 5, 1)


@pytest.mark.usefixtures("short_paths")
@pytest.mark.parametrize(
    ("model", "classify"),
    [
        (ISLERegressor(n_estimators=40, cv=2), False),
        (RuleFitRegressor(n_estimators=40, cv=2), False),
        (ISLEClassifier(n_estimators=40, cv=2), True),
        (RuleFitClassifier(n_estimators=40, cv=2), True),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
def test_weights_act_like_repetition(model: Any, classify: bool) -> None:
    X, y, weight = two_minds(240, 0)
    y = (y > 0).astype(int) if classify else y
    rows = np.repeat(np.arange(len(y)), weight)
    new = two_minds(400, 1)[0]

    def slope(*arguments: Any, **groups: Any) -> float:
        """Return how predictions rise with the first column: what the weights decide."""
        each = []
        for seed in range(2):
            fitted = model.set_params(random_state=seed).fit(*arguments, **groups)
            values = fitted.predict_proba(new)[:, 1] if classify else fitted.predict(new)
            each.append(np.polyfit(new[:, 0], values, 1)[0])
        return float(np.mean(each))

    repeated = slope(X[rows], y[rows], groups=rows)
    assert abs(slope(X, y, weight) - repeated) < 0.3 * abs(slope(X, y) - repeated)
