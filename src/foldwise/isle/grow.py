"""Growing a dictionary: many small, different trees, by LightGBM.

Importance sampling in the words of Friedman and Popescu: each tree sees a small random part
of the rows (that makes trees differ) and what the trees before it have learned, a little
(that is the memory).
"""

from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.frozen import FrozenEstimator

from foldwise.arrays import FloatArray
from foldwise.errors import invalid_data, invalid_parameter
from foldwise.isle.data import TreeData
from foldwise.learners.one_learner import require_task

OBJECTIVES = {
    "squared": "regression",
    "huber": "huber",
    "poisson": "poisson",
    "logistic": "binary",
    "multinomial": "multiclass",
}

LARGEST_STEP = 4.0
# Rows without a fold may lack a class, or hold no count above zero.
LEAST_SHARE = 1e-9


@dataclass(frozen=True)
class Growth:
    """How the dictionary is grown."""

    # leaves of each tree; its length is the number of trees (of each class)
    leaves: tuple[int, ...]
    # part of the rows each tree sees, drawn without replacement; None for Friedman and Popescu's
    sample_fraction: float | None
    memory: float  # how much each tree adds to what the next one sees
    min_samples_leaf: int  # fewest rows in a leaf
    max_depth: int | None = None  # most conditions from root to leaf
    seed: int = 0  # seed of the row samples
    n_threads: int = 1  # threads of LightGBM. The trees do not depend on it.

    def fraction_of(self, n_rows: int) -> float:
        """Return the part of so many rows each tree sees."""
        return self.sample_fraction or min(0.5, (100 + 6 * n_rows**0.5) / n_rows)


def tree_sizes(n_trees: int, mean_leaves: float, rng: np.random.Generator) -> tuple[int, ...]:
    """Return the leaves of each tree, 2 + floor of an exponential with mean ``mean_leaves - 2``."""
    sizes = 2 + np.floor(rng.exponential(mean_leaves - 2, n_trees))
    return tuple(int(size) for size in sizes)


def start(data: TreeData) -> FloatArray:
    """Return f₀, the constants that minimise the loss, one a class."""
    y, weight = data.y, data.weight
    if data.loss == "multinomial":
        share = np.bincount(y.astype(int), weight, data.n_outputs) / weight.sum()
        return np.log(np.maximum(share, LEAST_SHARE))
    if data.loss == "huber":
        order = np.argsort(y, kind="stable")
        half = np.searchsorted(np.cumsum(weight[order]), weight.sum() / 2)
        return y[order[[half]]].astype(float)
    mean = np.atleast_1d(np.average(y, weights=weight))
    if data.loss == "logistic":
        mean = mean.clip(LEAST_SHARE, 1 - LEAST_SHARE)
        return np.log(mean / (1 - mean))
    return np.log(np.maximum(mean, LEAST_SHARE)) if data.loss == "poisson" else mean


def grow_trees(data: TreeData, growth: Growth) -> Any:
    """Return a LightGBM booster with trees of the sizes asked for.

    One training call whatever the sizes: LightGBM reads ``num_leaves`` anew for each tree.

    Its leaf values are shrunk by ``memory`` and leave the start out. There are fewer trees than
    asked for when no split was left to make.
    """
    parameters = {
        "objective": OBJECTIVES[data.loss],
        "num_class": data.n_outputs,
        "learning_rate": growth.memory,
        "bagging_fraction": growth.fraction_of(data.table.n_rows),
        "bagging_freq": 1,
        "min_data_in_leaf": growth.min_samples_leaf,
        "min_data_per_group": growth.min_samples_leaf,
        # LightGBM counts the rows of a leaf by its curvature, which must not vanish.
        "min_sum_hessian_in_leaf": 1e-3 * float(data.weight.mean()),
        # Newton's step of a leaf grows without bound where the trees before it were sure and
        # wrong; four units of the logit or logarithm are plenty.
        "max_delta_step": 0.0 if data.loss in {"squared", "huber"} else LARGEST_STEP,
        "min_data_in_bin": 1,
        "feature_pre_filter": False,
        "max_depth": growth.max_depth or -1,
        "alpha": data.delta,
        "boost_from_average": False,
        "seed": growth.seed,
        "num_threads": growth.n_threads,
        # Sums in an order that does not depend on the number of threads.
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    }
    first = np.repeat(start(data), data.table.n_rows)
    given: dict[str, Any] = {"label": data.y, "weight": data.weight, "init_score": first}
    given |= {"categorical_feature": sorted(data.table.columns.levels), "params": parameters}
    rows = lightgbm.Dataset(data.table.values, **given)
    sizes = lightgbm.reset_parameter(num_leaves=list(growth.leaves))
    return lightgbm.train(parameters, rows, len(growth.leaves), callbacks=[sizes])


def grow_sklearn_trees(owner: str, data: TreeData, growth: Growth) -> list[Any]:
    """Return trees grown as :func:`grow_trees` grows them, by scikit-learn's gradient boosting."""
    if data.loss == "poisson":
        must = 'be "lightgbm" with loss="poisson"'
        fix = "scikit-learn's gradient boosting has no Poisson loss."
        raise invalid_parameter(owner, "trees", must=must, got="sklearn", fix=fix)
    common: dict[str, Any] = {
        "n_estimators": len(growth.leaves),
        "learning_rate": growth.memory,
        "subsample": growth.fraction_of(data.table.n_rows),
        "max_leaf_nodes": growth.leaves[0],
        "max_depth": growth.max_depth,
        "min_samples_leaf": growth.min_samples_leaf,
        "random_state": growth.seed,
    }
    if data.classify:
        model, y = GradientBoostingClassifier(**common), data.y.astype(int)
    else:
        loss = "squared_error" if data.loss == "squared" else "huber"
        model, y = GradientBoostingRegressor(loss=loss, **common), data.y
    return list(model.fit(data.table.values, y, data.weight).estimators_.ravel())


def fitted_ensemble(owner: str, ensemble: Any, data: TreeData) -> Any:
    """Return the fitted model behind an ``ensemble`` parameter."""
    X = data.table.values
    # Trees grown for numbers may serve classes, not the other way round.
    if not data.classify or not hasattr(ensemble, "fit"):
        require_task(owner, "ensemble", ensemble, classes=data.classify)
    if isinstance(ensemble, FrozenEstimator):
        model = ensemble.estimator
    else:
        target = data.y.astype(int) if data.classify else data.y
        # Weights of one change the random numbers a forest draws.
        weights = {} if (data.weight == 1).all() else {"sample_weight": data.weight}
        model = clone(ensemble).fit(X, target, **weights)
    if getattr(model, "n_features_in_", X.shape[1]) != X.shape[1]:
        must = f"have the {model.n_features_in_} columns the ensemble was fitted on"
        raise invalid_data(owner, "X", must=must, got=X.shape[1], fix="Pass the same columns.")
    return model
