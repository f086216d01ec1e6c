"""Bagging of regressors and of classifiers."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise.arrays import Array, FloatArray
from foldwise.checks import check_number, check_word
from foldwise.errors import Plain, unsupported
from foldwise.learners.one_learner import LearnerInput
from foldwise.resample.bag import BagMember
from foldwise.resample.base import Bagging
from foldwise.resample.draws import ROW_SCHEMES, TARGET_SCHEMES


@dataclass(eq=False, repr=False)
class BaggingRegressor(RegressorMixin, Bagging):
    """The mean of learners fitted on resampled data, and how much it varies.

    Parameters
    ----------
    estimator : regressor, optional
        The learner; a fully grown tree by default.
    n_estimators : int, default=100
        How many learners.
    sampling : str, default="bootstrap"
        What each learner is fitted on. "bootstrap": rows drawn with replacement; "subsample":
        without; "bayesian": all rows, with exponential weights; "parametric":
        all rows with y* = f̂(x) + ε, ε Gaussian; "residual": the same with ε drawn from
        residuals; "noise": all rows with y + ε, ε Gaussian.
    max_samples : float or int, default=1.0
        Share or number of the rows (of the groups, if there are any) drawn.
    max_features : float or int, default=1.0
        Share or number of the columns drawn for each learner, without replacement.
    split_features : int, float, "sqrt" or "log2", optional
        Columns drawn at each split, for learners that are trees: their ``max_features``. With
        the bootstrap that makes a random forest.
    generator : regressor, optional
        The model of f̂; the learner by default.
    noise : float, optional
        Standard deviation of ε; by default the root mean square of five-fold residuals of the
        generator.
    oob_score : bool, default=False
        Whether to predict each row by the learners that did not have it.
    n_jobs : int or None, default=None
        Workers; the result does not depend on them.
    random_state : int, RandomState or None, default=None
        Seeds the draws, and learners whose own is None.
    verbose : int, default=0
        1: a line now and then on the logger "foldwise"; 2: a line every ten learners.

    Attributes
    ----------
    estimators_ : list of estimators
        The learners.
    estimators_features_ : list of ndarray
        The columns each of them reads.
    feature_importances_ : ndarray of shape (n_features,)
        Mean of the learners' own, summing to one, if they have them.
    oob_prediction_ : ndarray of shape (n_samples,)
        Out-of-bag predictions, if ``oob_score``; NaN for rows without weight or
        that every learner had.
    oob_score_ : float
        R² of the out-of-bag predictions, if ``oob_score``.
    oob_score_se_ : float
        Its standard error, from the rows (from the groups, if there are any).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if they had any.

    Notes
    -----
    Weights: the bootstrap of rows draws by them; all other schemes pass them to the learners.
    Groups are drawn whole. Rows a learner was not given are absent from its fit, not given a
    weight of zero.

    References
    ----------
    .. [1] Breiman (1996). Bagging predictors.
    .. [2] Wager, Hastie, Efron (2014). Confidence intervals for random forests: the jackknife
       and the infinitesimal jackknife.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> forest = BaggingRegressor(split_features=0.33, oob_score=True, random_state=0).fit(X, y)
    >>> forest.oob_score_ > 0.7
    True
    >>> forest.confidence_interval(X[:3]).shape
    (3, 2)
    """

    _: KW_ONLY
    noise: float | None = None
    _schemes = ROW_SCHEMES + TARGET_SCHEMES
    _default_learner = DecisionTreeRegressor

    def _check_parameters(self, groups: Any) -> None:
        super()._check_parameters(groups)
        if self.noise is not None:
            check_number(type(self).__name__, "noise", self.noise, above=0, try_=1.0)

    def _tally(self, member: BagMember, table: LearnerInput) -> FloatArray:
        return member.answer(table, "predict")

    def predict(self, X: Any) -> FloatArray:
        """Return the mean of the learners' predictions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.
        """
        return self._mean(X)

    def confidence_interval(self, X: Any, level: float = 0.9) -> FloatArray:
        """Return an interval for the expected prediction, over training sets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        level : float, default=0.9
            How often it should hold.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper ends.

        Notes
        -----
        It covers the mean of the predictions that other training sets of this size would give at
        a point: neither a new y, nor the truth where the learners are biased. New targets: from
        the learners' spread. Draws of rows: that spread times a ratio found on up to 200
        training rows, each asked of the learners that lack it, as the mean of the infinitesimal
        jackknife and the jackknife after bootstrap plus one standard error. With fewer learners
        than rows it errs on the wide side. 90 % intervals of a forest of 100, 300 and 1,000
        trees held 96, 93 and 92 % (200 rows of Friedman 1, ``benchmarks/bagging_intervals.py``).
        """
        return self._interval(X, level)


@dataclass(eq=False, repr=False)
class BaggingClassifier(ClassifierMixin, Bagging):
    """The vote of learners fitted on resampled data, and how much it varies.

    Parameters
    ----------
    estimator : classifier, optional
        The learner; a fully grown tree by default.
    n_estimators : int, default=100
        How many learners.
    sampling : str, default="bootstrap"
        What each learner is fitted on. "bootstrap": rows drawn with replacement; "subsample":
        without; "bayesian": all rows, with exponential weights; "parametric":
        all rows with new classes y* ~ p̂(x).
    max_samples : float or int, default=1.0
        Share or number of the rows (of the groups, if there are any) drawn.
    max_features : float or int, default=1.0
        Share or number of the columns drawn for each learner, without replacement.
    split_features : int, float, "sqrt" or "log2", optional
        Columns drawn at each split, for learners that are trees: their ``max_features``. With
        the bootstrap that makes a random forest.
    combine : {"auto", "soft", "vote"}, default="auto"
        "soft": the mean of the probabilities; "vote": one vote a learner; "auto": soft if the
        learner has ``predict_proba``.
    generator : classifier, optional
        The model of p̂; the learner by default. One that is sure of its training rows, as a full
        tree is, gives back y itself: use a smoother one.
    oob_score : bool, default=False
        Whether to predict each row by the learners that did not have it.
    n_jobs : int or None, default=None
        Workers; the result does not depend on them.
    random_state : int, RandomState or None, default=None
        Seeds the draws, and learners whose own is None.
    verbose : int, default=0
        1: a line now and then on the logger "foldwise"; 2: a line every ten learners.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    estimators_ : list of estimators
        The learners.
    estimators_features_ : list of ndarray
        The columns each of them reads.
    feature_importances_ : ndarray of shape (n_features,)
        Mean of the learners' own, summing to one, if they have them.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Out-of-bag probabilities, if ``oob_score``; NaN for rows without weight or
        that every learner had.
    oob_score_ : float
        Accuracy of the out-of-bag predictions, if ``oob_score``.
    oob_score_se_ : float
        Its standard error, from the rows (from the groups, if there are any).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if they had any.

    Notes
    -----
    Weights: the bootstrap of rows draws by them; all other schemes pass them to the learners.
    Groups are drawn whole. Rows a learner was not given are absent from its fit, not given a
    weight of zero.

    References
    ----------
    .. [1] Breiman (1996). Bagging predictors.
    .. [2] Breiman (2001). Random forests.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = BaggingClassifier(
    ...     n_estimators=50, split_features="sqrt", oob_score=True, random_state=0
    ... ).fit(X, y)
    >>> forest.oob_score_ > 0.94
    True
    """

    _: KW_ONLY
    combine: str = "auto"
    _schemes = (*ROW_SCHEMES, "parametric")
    _default_learner = DecisionTreeClassifier

    def _check_parameters(self, groups: Any) -> None:
        super()._check_parameters(groups)
        owner, learner = type(self).__name__, self._learner()
        check_word(owner, "combine", self.combine, ["auto", "soft", "vote"])
        if self.combine == "soft" and not hasattr(learner, "predict_proba"):
            must, got = "have predict_proba for combine='soft'", Plain(type(learner).__name__)
            raise unsupported(owner, "estimator", must=must, got=got, fix="Use combine='vote'.")

    def _tally(self, member: BagMember, table: LearnerInput) -> FloatArray:
        """Return one learner's probabilities, or its vote as zeros and a one."""
        result = np.zeros((len(table), len(self.classes_)))
        soft = self.combine == "soft" or (
            self.combine == "auto" and hasattr(member.learner, "predict_proba")
        )
        if soft:
            codes = np.asarray(member.learner.classes_, dtype=np.intp)
            result[:, codes] = member.answer(table, "predict_proba")
        else:
            said = member.answer(table, "predict").astype(np.intp)
            result[np.arange(len(said)), said] = 1
        return result

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the mean probabilities, or the shares of the votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        return self._mean(X)

    def predict(self, X: Any) -> Array:
        """Return the class with the highest mean probability, or the most votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes; of equals the first.
        """
        best = self._mean(X).argmax(axis=1)
        return self.classes_[best]

    def confidence_interval(self, X: Any, level: float = 0.9) -> FloatArray:
        """Return an interval for the expected probability of each class, over training sets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        level : float, default=0.9
            How often it should hold.

        Returns
        -------
        ndarray of shape (n_samples, n_classes, 2)
            Lower and upper ends, within 0 and 1; as in
            :meth:`BaggingRegressor.confidence_interval`.
        """
        return self._interval(X, level).clip(0, 1)
