"""What the ISLE estimators share: growing or reading trees, and keeping the few needed."""

from time import perf_counter
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from foldwise.arrays import FloatArray
from foldwise.isle.ensembles import fitted_ensemble
from foldwise.isle.grow import Growth, grow_trees, sampling_fraction
from foldwise.isle.inputs import TreeData, new_table
from foldwise.isle.postprocess import Task, reweigh
from foldwise.isle.read_trees import lightgbm_set, read_trees
from foldwise.isle.sklearn_growth import grow_sklearn_trees
from foldwise.isle.tree_set import TreeSet
from foldwise.isle.width import Width, best_single_tree, sampling_width
from foldwise.paths.dealing import deal_folds
from foldwise.paths.parameters import (
    check_between,
    check_subsample,
    check_whole,
    check_word,
    threads,
)


class ISLEBase(BaseEstimator):
    """What the regressor and the classifier share."""

    def __init__(
        self,
        ensemble: Any = None,
        *,
        n_estimators: int = 500,
        max_leaf_nodes: int = 6,
        subsample: float | str = "auto",
        learning_rate: float = 0.1,
        min_samples_leaf: int = 5,
        trees: str = "lightgbm",
        post: str = "lasso",
        non_negative: bool = False,
        choose: str = "min",
        cv: Any = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.ensemble = ensemble
        self.n_estimators = n_estimators
        self.max_leaf_nodes = max_leaf_nodes
        self.subsample = subsample
        self.learning_rate = learning_rate
        self.min_samples_leaf = min_samples_leaf
        self.trees = trees
        self.post = post
        self.non_negative = non_negative
        self.choose = choose
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    @classmethod
    def from_fitted(cls, model: Any, **parameters: Any) -> Self:
        """Return an unfitted estimator that will reweigh the trees of a fitted model.

        Parameters
        ----------
        model : fitted estimator
            A forest, extra trees, gradient boosting, AdaBoost or bagging of decision trees by
            scikit-learn, or a LightGBM or XGBoost model. It is never changed or refitted.
        **parameters
            Parameters of the estimator.

        Returns
        -------
        Self
            Call ``fit(X, y)`` next. Rows the model has not seen give the best coefficients;
            its own training rows will do for small or heavily subsampled trees.
        """
        return cls(FrozenEstimator(model), **parameters)

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        check_whole(owner, "n_estimators", self.n_estimators, 1)
        check_whole(owner, "max_leaf_nodes", self.max_leaf_nodes, 2)
        check_subsample(owner, self.subsample)
        check_between(owner, "learning_rate", self.learning_rate, 0, 1, "Try 0.1.")
        check_whole(owner, "min_samples_leaf", self.min_samples_leaf, 1)
        check_word(owner, "trees", self.trees, ("lightgbm", "sklearn"))
        check_word(owner, "post", self.post, ("lasso", "stagewise", "shrink"))
        check_word(owner, "choose", self.choose, ("min", "1se"))

    def _fit(self, data: TreeData, y: FloatArray, loss: str, delta: float) -> Self:
        """Fit to validated rows; classes are 0, 1, ..."""
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        n_outputs = int(y.max()) + 1 if loss == "multinomial" else 1
        classify = loss in {"logistic", "multinomial"}
        dictionary = self._dictionary(data, y, loss, delta, n_outputs, rng)
        folds = deal_folds(
            type(self).__name__, self.cv, y, classify=classify, groups=data.groups, rng=rng
        )
        X = data.table.values
        columns = dictionary.columns(X)
        task = Task(y, data.weight, folds, loss, delta, n_outputs, self.choose, self.non_negative)
        found = reweigh(columns, task, self.post)
        self.trees_ = dictionary.reweighted(found.coefs)
        self.intercepts_ = found.intercepts
        self.cv_loss_, self.cv_se_, self.index_ = found.cv_loss, found.cv_se, found.index
        self.n_trees_, self.n_trees_grown_ = len(self.trees_), len(dictionary)
        self.n_leaves_, self.n_leaves_grown_ = sum(self.trees_.n_leaves), sum(dictionary.n_leaves)
        self.speedup_ = _speedup(dictionary, self.trees_, X[:1000])
        if loss != "multinomial":
            self.width_ = _width(columns, dictionary, data, y, loss, int(rng.integers(2**31 - 1)))
        return self

    def _dictionary(
        self,
        data: TreeData,
        y: FloatArray,
        loss: str,
        delta: float,
        n_outputs: int,
        rng: np.random.Generator,
    ) -> TreeSet:
        owner = type(self).__name__
        if self.ensemble is not None:
            model = fitted_ensemble(owner, self.ensemble, data.table, y, data.weight, loss)
            return read_trees(owner, model)
        n_rows = data.table.n_rows
        growth = Growth(
            loss=loss,
            leaves=(self.max_leaf_nodes,) * self.n_estimators,
            sample_fraction=(
                sampling_fraction(n_rows) if isinstance(self.subsample, str) else self.subsample
            ),
            memory=self.learning_rate,
            min_samples_leaf=self.min_samples_leaf,
            max_depth=None,
            n_classes=n_outputs,
            huber_delta=delta,
            seed=int(rng.integers(2**31 - 1)),
            n_threads=threads(self.n_jobs),
        )
        if self.trees == "sklearn":
            return grow_sklearn_trees(owner, data.table.values, y, data.weight, growth)
        booster = grow_trees(data.table, y, data.weight, growth)
        return lightgbm_set(owner, booster, 1 / self.learning_rate)

    def _decision(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        values = new_table(self, X).values
        if not len(self.trees_):
            return np.tile(self.intercepts_, (values.shape[0], 1))
        return self.trees_.weighted_sum(values) + self.intercepts_

    def summary(self) -> str:
        """Return in a few lines how much smaller the ensemble has become.

        Returns
        -------
        str
            Trees, leaves, speed and width.
        """
        check_is_fitted(self)
        lines = [
            f"trees   {self.n_trees_} of {self.n_trees_grown_}",
            f"leaves  {self.n_leaves_} of {self.n_leaves_grown_}",
            f"speed   {self.speedup_:.1f} times faster to predict, measured on training rows",
        ]
        if hasattr(self, "width_"):
            lines.append(str(self.width_))
        return "\n".join(lines)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.ensemble is None and self.trees == "lightgbm"
        tags.input_tags.sparse = True
        return tags


def _width(
    columns: FloatArray,
    dictionary: TreeSet,
    data: TreeData,
    y: FloatArray,
    loss: str,
    seed: int,
) -> Width:
    n_leaves = int(np.median(dictionary.n_leaves))
    best = best_single_tree(data.table.values, y, data.weight, n_leaves, seed)
    judged = "logistic" if loss == "logistic" else "squared"
    return sampling_width(columns, best, y, data.weight, judged)


def _speedup(before: TreeSet, after: TreeSet, X: Any) -> float:
    """Return how much faster the kept trees predict, timed on a few rows."""

    def seconds(trees: TreeSet) -> float:
        started = perf_counter()
        trees.weighted_sum(X)
        return perf_counter() - started

    fast = min(seconds(after) for _ in range(3))
    return min(seconds(before) for _ in range(2)) / max(fast, 1e-9)
