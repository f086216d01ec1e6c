"""What ISLE and rule ensembles share as estimators: sums over trees, or over parts of trees."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from scipy.special import expit, softmax
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state

from foldwise.arrays import Array, FloatArray
from foldwise.checks import check_jobs, check_number, check_whole, check_word
from foldwise.isle.choice import PenaltyChoice, Rivals, fitted_choice
from foldwise.isle.data import TreeData, training_data
from foldwise.isle.grow import Growth
from foldwise.paths.dealing import deal_folds
from foldwise.paths.linear import ScoreClassifier, Scored, ScoreRegressor
from foldwise.paths.rows import check_counts

# The libraries that grow trees refuse a rate of zero; what this one leaves behind is rounded off.
NO_MEMORY = 1e-12


@dataclass(eq=False, repr=False)
class TreeSum(Scored):
    """An estimator that grows small trees and gives what it makes of them coefficients.

    A subclass returns targets as numbers and their loss in ``_target``, and fits in ``_fit``.
    """

    ensemble: Any = None
    _: KW_ONLY
    n_estimators: int = 500
    subsample: float | str = "auto"
    min_samples_leaf: int = 5
    linear_terms: bool = True
    choose: str = "min"
    cv: Any = 5
    dictionary: str = "regrown"
    cv_score: bool = True
    random_state: Any = None
    n_jobs: int | None = None

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
        table, y, weight, codes, kept = training_data(self, X, y, sample_weight, groups)
        self.columns_ = table.columns
        y, loss = self._target(owner, y)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        n_outputs = int(y.max()) + 1 if loss == "multinomial" else 1
        delta = getattr(self, "huber_delta", None)
        self._fit(owner, TreeData(table, y, weight, loss, delta, n_outputs, codes, kept), rng)
        return self

    def _check_parameters(self, owner: str) -> None:
        if self.subsample != "auto":
            fix = 'Use "auto" for Friedman and Popescu\'s formula.'
            check_number(owner, "subsample", self.subsample, above=0, most=1, fix=fix)
        check_number(owner, "learning_rate", self.learning_rate, least=0, most=1, try_=0.1)
        check_whole(owner, "min_samples_leaf", self.min_samples_leaf, 1, try_=5)
        check_jobs(owner, self.n_jobs)
        check_word(owner, "choose", self.choose, ("min", "1se"))
        check_word(owner, "dictionary", self.dictionary, ("regrown", "shared"))

    def _growth(
        self, leaves: tuple[int, ...], rng: np.random.Generator, max_depth: int | None = None
    ) -> Growth:
        return Growth(
            leaves=leaves,
            sample_fraction=None if isinstance(self.subsample, str) else self.subsample,
            memory=max(self.learning_rate, NO_MEMORY),
            min_samples_leaf=self.min_samples_leaf,
            max_depth=max_depth,
            seed=int(rng.integers(2**31 - 1)),
            n_threads=int(effective_n_jobs(self.n_jobs)),
        )

    @property
    def _regrows(self) -> bool:
        """Whether folds are judged by dictionaries grown without them; fitted trees cannot be."""
        return self.dictionary == "regrown" and not isinstance(self.ensemble, FrozenEstimator)

    def _choose(
        self,
        owner: str,
        data: TreeData,
        rng: np.random.Generator,
        fit: Callable[[TreeData], Rivals],
        refit: float | None = None,
    ) -> PenaltyChoice:
        """Choose a point of the path, and keep the curve and the score of that choice."""
        of: dict[str, Any] = {"classify": data.classify, "groups": data.groups, "kept": data.kept}
        folds = deal_folds(owner, self.cv, data.y, rng=rng, **of)
        score = self.cv_score and self._regrows
        choice, found = fitted_choice(data, folds, fit, self.choose, refit=refit, score=score)
        self.score_, self.score_se_ = found
        self.cv_loss_, self.cv_se_ = choice.curve, choice.curve_se
        self.index_ = choice.first_index
        return choice

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.ensemble is None
        return tags


@dataclass(eq=False, repr=False)
class TreeSumRegressor(ScoreRegressor, TreeSum):
    """A sum that is a mean, or the logarithm of one."""

    _: KW_ONLY
    loss: str = "squared"
    huber_delta: float | None = None

    def _check_parameters(self, owner: str) -> None:
        check_word(owner, "loss", self.loss, ("squared", "huber", "poisson"))
        if self.huber_delta is not None:
            fix = "Leave it out for 1.345 robust standard deviations of y."
            check_number(owner, "huber_delta", self.huber_delta, above=0, fix=fix)
        super()._check_parameters(owner)

    def _target(self, owner: str, y: Array) -> tuple[FloatArray, str]:
        y = y.astype(np.float64)
        if self.loss == "poisson":
            check_counts(owner, y, some=True)
        return y, self.loss


class TreeSumClassifier(ScoreClassifier, TreeSum):
    """A sum that is the log-odds of the second of two classes, or one sum a class."""

    def _target(self, owner: str, y: Array) -> tuple[FloatArray, str]:
        codes = super()._target(owner, y)
        loss = "logistic" if len(self.classes_) == 2 else "multinomial"
        return codes.astype(np.float64), loss

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        if scores.shape[1] > 1:
            return np.asarray(softmax(scores, axis=1))
        second = expit(scores[:, 0])
        return np.column_stack([1 - second, second])
