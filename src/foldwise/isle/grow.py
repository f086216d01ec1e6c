"""Growing a dictionary: many small, different trees, by LightGBM.

Importance sampling in the words of Friedman and Popescu: each tree sees a small random part
of the rows (that makes trees differ) and what the trees before it have learned, a little
(that is the memory).
"""

from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np

from foldwise.arrays import Array, FloatArray
from foldwise.isle.table import CodedTable

OBJECTIVES = {
    "squared": "regression",
    "huber": "huber",
    "poisson": "poisson",
    "logistic": "binary",
    "multinomial": "multiclass",
}

LARGEST_STEP = 4.0


@dataclass(frozen=True)
class Growth:
    """How the dictionary is grown."""

    loss: str  # one of "squared", "huber", "poisson", "logistic", "multinomial"
    # leaves of each tree; its length is the number of trees (of each class)
    leaves: tuple[int, ...]
    sample_fraction: float  # part of the rows each tree sees, drawn without replacement
    memory: float  # how much each tree adds to what the next one sees
    min_samples_leaf: int  # fewest rows in a leaf
    max_depth: int | None  # most conditions from root to leaf
    n_classes: int  # trees a round; 1 but for "multinomial"
    huber_delta: float  # where the Huber loss turns linear
    seed: int  # seed of the row samples
    n_threads: int  # threads of LightGBM. The trees do not depend on it.


def sampling_fraction(n_rows: int) -> float:
    """Return Friedman and Popescu's part of the rows for each tree.

    Examples
    --------
    >>> sampling_fraction(100), round(sampling_fraction(10_000), 3)
    (0.5, 0.07)
    """
    return min(0.5, (100 + 6 * n_rows**0.5) / n_rows)


def tree_sizes(n_trees: int, mean_leaves: float, rng: np.random.Generator) -> tuple[int, ...]:
    """Return the leaves of each tree, 2 + floor of an exponential with mean ``mean_leaves - 2``."""
    sizes = 2 + np.floor(rng.exponential(mean_leaves - 2, n_trees))
    return tuple(int(size) for size in sizes)


def start(y: Array, weight: FloatArray, growth: Growth) -> FloatArray:
    """Return f₀, the constants that minimise the loss, one a class."""
    if growth.loss == "multinomial":
        share = np.bincount(y.astype(int), weight, minlength=growth.n_classes) / weight.sum()
        return np.log(share)
    if growth.loss == "huber":
        order = np.argsort(y, kind="stable")
        half = np.searchsorted(np.cumsum(weight[order]), weight.sum() / 2)
        return y[order[[half]]].astype(float)
    mean = np.atleast_1d(np.average(y, weights=weight))
    if growth.loss == "logistic":
        return np.log(mean / (1 - mean))
    return np.log(mean) if growth.loss == "poisson" else mean


def grow_trees(table: CodedTable, y: Array, weight: FloatArray, growth: Growth) -> Any:
    """Return a LightGBM booster with trees of the sizes asked for.

    One training call whatever the sizes: LightGBM reads ``num_leaves`` anew for each tree.

    Its leaf values are shrunk by ``memory`` and leave the start out. There are fewer trees than
    asked for when no split was left to make.
    """
    parameters = _parameters(growth)
    data = lightgbm.Dataset(
        table.values,
        label=y,
        weight=weight,
        init_score=np.repeat(start(y, weight, growth), table.n_rows),
        categorical_feature=sorted(table.columns.levels),
        params=parameters,
    )
    sizes = lightgbm.reset_parameter(num_leaves=list(growth.leaves))
    return lightgbm.train(parameters, data, len(growth.leaves), callbacks=[sizes])


def _parameters(growth: Growth) -> dict[str, Any]:
    parameters: dict[str, Any] = {
        "objective": OBJECTIVES[growth.loss],
        "learning_rate": growth.memory,
        "bagging_fraction": growth.sample_fraction,
        "bagging_freq": 1,
        "min_data_in_leaf": growth.min_samples_leaf,
        "min_data_per_group": growth.min_samples_leaf,
        "min_sum_hessian_in_leaf": 0.0,
        # Newton's step of a leaf grows without bound where the trees before it were sure and
        # wrong; four units of the logit or logarithm are plenty.
        "max_delta_step": 0.0 if growth.loss in {"squared", "huber"} else LARGEST_STEP,
        "min_data_in_bin": 1,
        "feature_pre_filter": False,
        "max_depth": growth.max_depth or -1,
        "alpha": growth.huber_delta,
        "boost_from_average": False,
        "seed": growth.seed,
        "num_threads": growth.n_threads,
        # Sums in an order that does not depend on the number of threads.
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    }
    if growth.loss == "multinomial":
        parameters["num_class"] = growth.n_classes
    return parameters
