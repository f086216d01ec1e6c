"""The stackers that have a name, each with the grid its regularisation is chosen from."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from foldwise.scores.metric import Metric
from foldwise.stack.stackers.greedy import GreedyStacker
from foldwise.stack.stackers.linear import (
    LassoClassStacker,
    LassoStacker,
    PoolStacker,
    RidgeStacker,
)
from foldwise.stack.stackers.means import AverageStacker, RankStacker, WeightedMean

Grid = dict[str, list[Any]]
Make = Callable[[Metric | None, Any], tuple[Any, Grid]]

SHRINKAGES = [0.0, 0.25, 0.5]
PULLS = [0.0, 0.001, 0.01, 0.1]
RATIOS = [0.3, 0.1, 0.03, 0.01, 0.003, 0.001]


def _weighted(rule: str, grid: Grid | None = None) -> Make:
    return lambda metric, labels: (WeightedMean(rule, metric, labels), grid or {})


def _average(rule: str, grid: Grid | None = None) -> Make:
    return lambda metric, labels: (AverageStacker(rule, metric, labels), grid or {})


def _greedy(metric: Metric | None, labels: Any) -> tuple[Any, Grid]:
    return GreedyStacker(metric, labels), {"n_steps": [10, 50], "shrinkage": SHRINKAGES}


def _bagged_greedy(metric: Metric | None, labels: Any) -> tuple[Any, Grid]:
    return GreedyStacker(metric, labels, n_bags=20), {"shrinkage": SHRINKAGES}


def _logistic(_: Metric | None, labels: Any) -> tuple[Any, Grid]:
    # Newton steps are exact and quick for one logit a learner, not for many classes.
    if len(labels) == 2:
        return LogisticRegression(solver="newton-cholesky"), {"C": [0.01, 0.1, 1.0, 10.0]}
    return LogisticRegression(max_iter=1000), {"C": [0.1, 1.0]}


def _pool(shared: bool) -> Make:
    grid: Grid = {"C": [0.001, 0.01, 0.1, 1.0, 10.0]}
    return lambda metric, labels: (PoolStacker(metric, labels, shared=shared), grid)


BOTH: dict[str, Make] = {
    "best": _weighted("best"),
    "mean": _weighted("mean"),
    "weighted_mean": _weighted("weighted_mean"),
    "median": _average("median"),
    "trimmed_mean": _average("trimmed_mean", {"trim": [0.1, 0.2, 0.3]}),
    "rank_mean": lambda metric, labels: (RankStacker(metric, labels), {}),
    "nnls": _weighted("nnls"),
    "simplex": _weighted("simplex", {"alpha": PULLS}),
    "greedy": _greedy,
    "bagged_greedy": _bagged_greedy,
    "log_score": _weighted("log_score", {"alpha": PULLS}),
    "pseudo_bma": _weighted("pseudo_bma"),
    "pseudo_bma_plus": _weighted("pseudo_bma_plus"),
}
FOR_NUMBERS: dict[str, Make] = {
    **BOTH,
    "least_squares": lambda *_: (RidgeStacker(0.0), {}),
    "ridge": lambda *_: (RidgeStacker(), {"alpha": np.logspace(-2, 4, 7).tolist()}),
    "lasso": lambda *_: (LassoStacker(), {"ratio": RATIOS}),
}
FOR_CLASSES: dict[str, Make] = {
    **BOTH,
    "soft_vote": _weighted("mean"),
    "majority_vote": _average("majority_vote"),
    "geometric_mean": _average("geometric_mean"),
    "pool": _pool(shared=True),
    "pool_by_class": _pool(shared=False),
    "logistic": _logistic,
    "lasso": lambda *_: (LassoClassStacker(), {"ratio": RATIOS}),
}
# These read the columns that are passed through, so they must be numbers.
LINEAR = ("least_squares", "ridge", "lasso", "logistic")


def known_names(labels: Any) -> dict[str, Make]:
    """Return the named stackers of a task."""
    return FOR_NUMBERS if labels is None else FOR_CLASSES
