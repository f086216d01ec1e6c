"""Gradient boosting of classes over any regressor, or over a set of them."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from foldwise.arrays import Array, FloatArray
from foldwise.boost._gradient_base import GradientBoosting
from foldwise.boost._parameters import (
    needs_two_classes,
)
from foldwise.boost.learner import check_features, check_targets, check_weights
from foldwise.losses.classes import class_codes, class_loss


class GradientBoostingClassifier(ClassifierMixin, GradientBoosting):
    """Gradient boosting of a class loss over any regressor, or over a set of them.

    Parameters
    ----------
    estimator : regressor, list of regressors or of (name, regressor), optional
        The learner, a *regressor*, for it is fitted to gradients; a tree of depth 3 by default.
        Of a list, each round fits all and keeps the one that lowers the training loss most.
    loss : str or Loss, default="auto"
        "logistic", "exponential" (two classes), "multinomial", "auto" (logistic or multinomial),
        or a loss of your own for two classes coded 0 and 1.
    n_estimators : int, default=100
        Rounds at most; a round of the multinomial loss adds one learner a class.
    learning_rate : float, default=0.1
        The shrinkage ρ.
    step : {"auto", "leaf", "line", "fixed"}, default="auto"
        How α is found: one step a leaf of a tree, one for the whole round by line search, or 1.
        "auto" is "leaf" for scikit-learn trees and "line" for others.
    subsample : float, default=1.0
        The share η of rows drawn for each round, without replacement.
    max_features : float, default=1.0
        The share of columns drawn for each round, without replacement.
    early_stopping : bool, default=False
        Whether to find the number of rounds on rows set apart.
    validation : float, int or splitter, default=0.1
        Those rows: a share, a number of folds, or a scikit-learn splitter.
    n_iter_no_change : int, default=10
        Rounds without a lower loss on them before boosting stops.
    refit : {"scaled", "same"} or None, default="scaled"
        After early stopping, boost all rows again: for the rounds found times the ratio of row
        numbers, or for as many. None keeps the model of the one split.
    random_state : int, RandomState or None, default=None
        Seeds learners whose own is None, the draws and the split.
    verbose : int, default=0
        1: a line now and then on the logger "foldwise"; 2: a line a round.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    estimators_ : list of tuple of regressors
        The learners kept, one tuple a round.
    steps_ : ndarray of shape (n_rounds,)
        Their steps α (1 where the leaves hold them).
    members_ : ndarray of int, shape (n_rounds,)
        Which learner of the set each round kept.
    train_loss_ : ndarray of shape (n_rounds,)
        Mean training loss after each round.
    loss_ : Loss
        The loss.
    feature_importances_ : ndarray of shape (n_features,)
        If all learners are trees.
    n_estimators_ : int
        Rounds.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if they had any.

    See Also
    --------
    GradientBoostingRegressor : The same for numbers, with the notes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        loss: Any = "auto",
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        step: str = "auto",
        subsample: float = 1.0,
        max_features: float = 1.0,
        early_stopping: bool = False,
        validation: Any = 0.1,
        n_iter_no_change: int = 10,
        refit: str | None = "scaled",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.step = step
        self.subsample = subsample
        self.max_features = max_features
        self.early_stopping = early_stopping
        self.validation = validation
        self.n_iter_no_change = n_iter_no_change
        self.refit = refit
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Boost.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training features.
        y : array-like of shape (n_samples,)
            Training classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        groups : array-like of shape (n_samples,), optional
            Rows of one group stay together when rows are set apart.

        Returns
        -------
        Self
            The fitted classifier.
        """
        self._check_parameters(sample_weight is not None)
        X = check_features(self, X, self._learners(), reset=True)
        y = check_targets(self, X, y, classes=True)
        weight = check_weights(self, sample_weight, len(y))
        self.classes_, codes = class_codes(y)
        needs_two_classes(self, self.classes_)
        loss = class_loss(type(self).__name__, self.loss, len(self.classes_))
        self._boost(X, codes.astype(float), weight, sample_weight is not None, groups, loss)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the raw prediction F.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            F.
        """
        raw = self._raw(X)
        return raw[:, 1] - raw[:, 0] if raw.shape[1:] == (2,) else raw

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        return self._probabilities(self._raw(X))

    def predict(self, X: Any) -> Array:
        """Return the likeliest class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """Yield :meth:`predict_proba` after each round."""
        return (self._probabilities(raw) for raw in self._staged_raw(X))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield :meth:`predict` after each round."""
        return (self.classes_[p.argmax(axis=1)] for p in self.staged_predict_proba(X))

    def _probabilities(self, raw: FloatArray) -> FloatArray:
        answer = self.loss_.inverse_link(raw)
        return answer if answer.ndim == 2 else np.column_stack([1 - answer, answer])
