"""What ISLE and rule ensembles share as estimators: sums over trees, or over parts of trees."""

from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from scipy.special import expit, softmax
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.checks import check_number, check_two_classes, check_whole, check_word
from foldwise.isle.data import TreeData, training_data
from foldwise.isle.grow import Growth
from foldwise.paths.dealing import deal_folds
from foldwise.paths.linear import ScoreClassifier, Scored, ScoreRegressor
from foldwise.paths.rows import check_counts, robust_delta


class TreeSum(Scored):
    """An estimator that grows small trees and gives what it makes of them coefficients."""

    ensemble: Any
    subsample: float | str
    learning_rate: float
    min_samples_leaf: int
    choose: str
    cv: Any
    random_state: Any
    n_jobs: int | None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Grow the trees, or read them, and choose what is kept of them and how it counts.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Training features.
        y : array-like of shape (n_samples,)
            Training targets, or class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        groups : array-like of shape (n_samples,), optional
            Rows of a group stay in one fold.

        Returns
        -------
        Self
            The fitted estimator.
        """
        owner = type(self).__name__
        self._check_parameters(owner)
        table, y, weight, codes = training_data(self, X, y, sample_weight, groups)
        self.columns_ = table.columns
        y, loss, delta = self._target(owner, y)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        n_outputs = int(y.max()) + 1 if loss == "multinomial" else 1
        self._fit(owner, TreeData(table, y, weight, loss, delta, n_outputs, codes), rng)
        return self

    def _check_parameters(self, owner: str) -> None:
        if self.subsample != "auto":
            fix = 'Use "auto" for Friedman and Popescu\'s formula.'
            check_number(owner, "subsample", self.subsample, above=0, most=1, fix=fix)
        check_number(owner, "learning_rate", self.learning_rate, above=0, most=1, try_=0.1)
        check_whole(owner, "min_samples_leaf", self.min_samples_leaf, 1)
        check_word(owner, "choose", self.choose, ("min", "1se"))

    def _target(self, owner: str, y: Array) -> tuple[FloatArray, str, float]:
        """Return the targets as numbers, their loss, and where Huber's turns linear."""
        raise NotImplementedError

    def _fit(self, owner: str, data: TreeData, rng: np.random.Generator) -> None:
        raise NotImplementedError

    def _growth(
        self, leaves: tuple[int, ...], rng: np.random.Generator, max_depth: int | None = None
    ) -> Growth:
        return Growth(
            leaves=leaves,
            sample_fraction=None if isinstance(self.subsample, str) else self.subsample,
            memory=self.learning_rate,
            min_samples_leaf=self.min_samples_leaf,
            max_depth=max_depth,
            seed=int(rng.integers(2**31 - 1)),
            n_threads=int(effective_n_jobs(self.n_jobs)),
        )

    def _folds(self, owner: str, data: TreeData, rng: np.random.Generator) -> IntArray:
        return deal_folds(
            owner, self.cv, data.y, classify=data.classify, groups=data.groups, rng=rng
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.ensemble is None
        return tags


class TreeSumRegressor(ScoreRegressor, TreeSum):
    """A sum that is a mean, or the logarithm of one."""

    loss: str
    huber_delta: float | None

    def _check_parameters(self, owner: str) -> None:
        check_word(owner, "loss", self.loss, ("squared", "huber", "poisson"))
        super()._check_parameters(owner)

    def _target(self, owner: str, y: Array) -> tuple[FloatArray, str, float]:
        y = y.astype(np.float64)
        if self.loss == "poisson":
            check_counts(owner, y, some=True)
        delta = self.huber_delta
        return y, self.loss, robust_delta(y, np.ones(len(y))) if delta is None else float(delta)


class TreeSumClassifier(ScoreClassifier, TreeSum):
    """A sum that is the log-odds of the second of two classes, or one sum a class."""

    def _target(self, owner: str, y: Array) -> tuple[FloatArray, str, float]:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        check_two_classes(owner, self.classes_)
        loss = "logistic" if len(self.classes_) == 2 else "multinomial"
        return codes.astype(np.float64), loss, 1.0

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        if scores.shape[1] > 1:
            return np.asarray(softmax(scores, axis=1))
        second = expit(scores[:, 0])
        return np.column_stack([1 - second, second])
