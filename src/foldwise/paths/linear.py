"""What the linear estimators of a path share: rows, folds, coefficients, predictions."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from foldwise.arrays import Array, FloatArray
from foldwise.checks import check_two_classes, check_word, checked_groups, without_weightless
from foldwise.paths.dealing import deal_folds
from foldwise.paths.gram import mean_and_variance, moved_to_zero


class Scored(BaseEstimator):
    """An estimator whose predictions come from one or several sums a row; takes sparse rows.

    A subclass returns these sums in ``_linear``, shape (n_rows,) or (n_rows, n_outputs).
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class ScoreRegressor(RegressorMixin, Scored):
    """Numbers from a sum that is the mean or, for counts, its logarithm."""

    loss: str

    def predict(self, X: Any) -> FloatArray:
        """Return the predicted mean of every row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.
        """
        scores = self._linear(X)
        mean = scores if scores.ndim == 1 else scores[:, 0]
        return np.exp(mean) if self.loss == "poisson" else mean


class ScoreClassifier(ClassifierMixin, Scored):
    """Classes from one sum a class, or from the log-odds of the second of two."""

    classes_: Array

    def _target(self, owner: str, y: Array) -> Any:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        check_two_classes(owner, self.classes_)
        return codes

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        if scores.shape[1] > 1:
            return np.asarray(softmax(scores, axis=1))
        return expit(scores * [-1.0, 1.0])

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log-odds of the second class, or the scores of several classes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores.
        """
        scores = self._linear(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of ``classes_``; rows sum to one.
        """
        return self._probabilities(self._linear(X))

    def predict(self, X: Any) -> Array:
        """Return the most probable class.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        # By the sums, which still differ where probabilities are rounded to the same number.
        scores = self._linear(X)
        best = scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(int)
        return np.asarray(self.classes_[best])


@dataclass(eq=False, repr=False)
class LinearPath(Scored):
    """Linear predictions from the point of a path that the folds choose.

    A subclass has ``_check_parameters`` and returns the judged path of some rows, their columns in
    units of one standard deviation, in ``_judged``.
    """

    _: KW_ONLY
    choose: str = "min"
    standardize: bool = True
    cv: Any = 5
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Follow the path of all rows and of all rows but each fold, and choose a point of it.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Targets, or classes.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows.
        groups : array-like of shape (n_samples,) or None, default=None
            Rows of one group are kept in one fold.

        Returns
        -------
        Self
            The fitted estimator.
        """
        owner = type(self).__name__
        self._check_parameters(owner)
        check_word(owner, "choose", self.choose, ("min", "1se"))
        X, y, weights, groups, kept = without_weightless(owner, X, y, sample_weight, groups)
        rules = {"accept_sparse": "csr", "dtype": np.float64, "y_numeric": not is_classifier(self)}
        X, y = validate_data(self, X, y, ensure_min_samples=2, **rules)
        weights = np.ones(len(y)) if weights is None else weights
        target, groups = self._target(owner, y), checked_groups(owner, groups, len(y))
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        dealt = {"classify": is_classifier(self), "groups": groups, "rng": rng, "kept": kept}
        folds = deal_folds(owner, self.cv, target, **dealt)
        scale = column_sizes(X, weights) if self.standardize else np.ones(X.shape[1])
        D = X @ sparse.diags_array(1.0 / scale) if sparse.issparse(X) else X / scale
        self.path_ = self._judged(D, target, fold_of=folds, sample_weight=weights)
        self.index_ = self.path_.index(self.choose)
        coefs, intercept = self.path_.coefs[self.index_], self.path_.intercepts[self.index_]
        if is_classifier(self):
            coefs, intercept = np.atleast_2d(coefs), np.atleast_1d(intercept)
        self.coef_, self.intercept_ = coefs / scale, intercept
        return self

    def _target(self, owner: str, y: Array) -> Array:
        return y.astype(float)

    def _linear(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_.T) + self.intercept_


class LinearPathRegressor(ScoreRegressor, LinearPath):
    """Numbers from ``coef_`` and ``intercept_``."""

    loss = "squared"


class LinearPathClassifier(ScoreClassifier, LinearPath):
    """Class probabilities from ``coef_`` and ``intercept_``."""

    @property
    def loss(self) -> str:
        """The log-loss of two classes, or of several."""
        return "logistic" if len(self.classes_) == 2 else "multinomial"


def column_sizes(X: Any, weights: FloatArray) -> FloatArray:
    """Return the weighted standard deviation of every column, one for constant columns."""
    X, _ = moved_to_zero(X)
    _, variance = mean_and_variance(X, weights / weights.sum())
    return np.sqrt(np.where(variance > 0, variance, 1.0))
