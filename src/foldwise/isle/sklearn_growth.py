"""Growing a dictionary by scikit-learn's gradient boosting, where LightGBM is not wanted."""

from typing import Any

from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from foldwise.arrays import Array, FloatArray
from foldwise.errors import invalid_parameter
from foldwise.isle.grow import Growth
from foldwise.isle.read_trees import sklearn_set
from foldwise.isle.tree_set import TreeSet


def grow_sklearn_trees(owner: str, X: Any, y: Array, weight: FloatArray, growth: Growth) -> TreeSet:
    """Return trees grown as :func:`foldwise.isle.grow.grow_trees` grows them.

    Shapes: ``X`` (n_rows, n_features).
    """
    if growth.loss == "poisson":
        raise invalid_parameter(
            owner,
            "trees",
            must='be "lightgbm" with loss="poisson"',
            got="sklearn",
            fix="scikit-learn's gradient boosting has no Poisson loss.",
        )
    common: dict[str, Any] = {
        "n_estimators": len(growth.leaves),
        "learning_rate": growth.memory,
        "subsample": growth.sample_fraction,
        "max_leaf_nodes": growth.leaves[0],
        "max_depth": growth.max_depth,
        "min_samples_leaf": growth.min_samples_leaf,
        "random_state": growth.seed,
    }
    if growth.loss in {"logistic", "multinomial"}:
        model = GradientBoostingClassifier(**common).fit(X, y.astype(int), weight)
    else:
        loss = "squared_error" if growth.loss == "squared" else "huber"
        model = GradientBoostingRegressor(loss=loss, **common).fit(X, y, weight)
    return sklearn_set(model.estimators_.ravel())
