"""Calibrated probabilities of any classifier, with an honest score."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from foldwise._sklearn import one_against_rest
from foldwise.arrays import Array, BoolArray, FloatArray, IntArray
from foldwise.errors import invalid_parameter
from foldwise.scores.metric import Metric
from foldwise.stack.classifier import StackingClassifier
from foldwise.stack.problem import StackProblem
from foldwise.stack.results.notebook import fitted_html
from foldwise.stack.stackers.candidates import Candidate

LEARNER = "model"
READ_FROM_STACK = (
    "classes_", "score_", "score_se_", "score_interval_", "score_uncorrected_", "score_correction_",
    "calibrator_", "threshold_", "n_features_in_",
)  # fmt: skip


@dataclass(eq=False, repr=False)
class CalibratedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Calibrate any classifier on its own out-of-fold predictions.

    No rows are set aside: the classifier is fitted without each fold, and the calibration map
    is fitted to what these models say about the fold they did not see. New rows get the mean
    of the same models, or a model of all rows, and then the map.

    Parameters
    ----------
    estimator : estimator
        The classifier. Its probabilities are used, else its decision values, else its labels.
    method : str or list of str, default="auto"
        "temperature", "platt", "beta", "quadratic", "isotonic", "venn_abers", "vector",
        "matrix", "network" or "none". Of a list, simplest first, the best by nested log-loss
        wins unless a simpler one is within one standard error. "auto" is a list of good ones,
        for probabilities with "none" first.
    cv : int, splitter, iterable of (train, test) or "prefit", default=None
        How rows are dealt; None is 5. "prefit" calibrates a fitted classifier on rows it has
        not seen.
    predict_with : {"auto", "folds", "refit", "pairs"}, default="auto"
        New rows get the mean of the models fitted without one fold ("folds"), the model of all
        rows ("refit"), or the mean of the models fitted without two ("pairs"). "auto" is
        "refit" forward in time, else "folds".
    hold_out : {"auto", "node", "mean"}, default="auto"
        How a judged fold is predicted: by the model without it, or by the mean of the models
        without it and one more. "auto" repeats what is deployed.
    threshold : None, float, str or callable, default=None
        The probability from which on the second of two classes is predicted, or the scorer it
        is to maximise over the folds. None predicts the most probable class.
    scoring : None, str or callable, default=None
        What the score is; None is log-loss.
    n_repeats : int, default=1
        Number of deals; predictions and scores are averaged.
    n_jobs : int or None, default=None
        Number of processes; results have the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Deals the folds and fills a ``random_state`` of the classifier that is None.
    verbose : int, default=0
        0 for silence; otherwise progress with the time left, on the logger "foldwise".

    Attributes
    ----------
    score_, score_se_ : float
        The honest score of the calibrated classifier, greater is better, and its standard error.
    score_interval_, score_uncorrected_, score_correction_ : tuple, float, ScoreCorrection
        As in stacking: the 95 % interval, the score of the judged models, which saw fewer rows,
        and what was done about that.
    calibrator_ : Calibration
        The deployed map: its ``method``, ``map`` and the nested ``losses`` it was chosen by.
    threshold_ : float or None
        The deployed threshold.
    estimator_ : object
        The fitted classifier, as deployed, before calibration.
    stack_ : StackingClassifier
        The stack of one learner that does the work, with its leaderboard.
    classes_ : ndarray
        The classes.
    n_features_in_, feature_names_in_ : int, ndarray
        What it was fitted on.

    See Also
    --------
    StackingClassifier : Stacks several classifiers, with the same calibration.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> model.calibrator_.method
    'temperature'
    >>> print(f"log-loss {-model.score_:.2f} ± {model.score_se_:.2f}")
    log-loss 0.19 ± 0.03
    >>> board = model.stack_.leaderboard_.set_index("model")
    >>> print(f"uncalibrated {board.loc['model', 'log_loss']:.2f}")
    uncalibrated 0.53
    """

    estimator: Any
    method: Any = "auto"
    _: KW_ONLY
    cv: Any = None
    predict_with: str = "auto"
    hold_out: str = "auto"
    threshold: Any = None
    scoring: Any = None
    n_repeats: int = 1
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the classifier over the folds and the calibration map on top.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,) or None
            Weights; they reach the classifier, the map and the score.
        groups : array-like of shape (n_samples,) or None
            Rows of a group stay in one fold.

        Returns
        -------
        Self
            The fitted classifier.
        """
        stack = self._underneath().fit(X, y, sample_weight, groups)
        self.stack_, self.estimator_ = stack, stack.named_estimators_[LEARNER]
        # Names of the columns are known after a fit on a frame only.
        self.__dict__.pop("feature_names_in_", None)
        for name in (*READ_FROM_STACK, "feature_names_in_"):
            if hasattr(stack, name):
                setattr(self, name, getattr(stack, name))
        return self

    def _html_repr(self) -> str:
        return fitted_html(self) + str(super()._html_repr())

    def _underneath(self) -> "_Underneath":
        if self.method is None:
            must = "be 'auto', the name of a method or a list of names"
            fix = "Use 'auto', which may choose 'none'."
            raise invalid_parameter(type(self).__name__, "method", must=must, got=None, fix=fix)
        only_decides = not hasattr(self.estimator, "predict_proba") and hasattr(
            self.estimator, "decision_function"
        )
        top = AsDecided() if only_decides else "mean"
        shared = self.get_params(deep=False)
        learner, method = shared.pop("estimator"), shared.pop("method")
        return _Underneath([(LEARNER, learner)], top, calibrate=method, on_error="raise", **shared)

    def predict(self, X: Any) -> Array:
        """Predict classes.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted classes.
        """
        check_is_fitted(self, "stack_")
        return np.asarray(self.stack_.predict(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Predict calibrated probabilities of the classes.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        check_is_fitted(self, "stack_")
        return np.asarray(self.stack_.predict_proba(X))

    def predict_set(self, X: Any, coverage: float = 0.9, *, by: Any = None) -> BoolArray:
        """Return, for each row, the classes that are not ruled out, by CV+.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            New rows.
        coverage : float, default=0.9
            The share of new rows whose class should be in its set.
        by : column of X, or (labels of the training rows, labels of the new rows), default=None
            Each level of the column or labels is held by itself, not only all rows together.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_classes)
            True for the classes in the set; never empty.
        """
        check_is_fitted(self, "stack_")
        return self.stack_.predict_set(X, coverage, by=by)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "fit") and not isinstance(self.estimator, type):
            inputs = get_tags(self.estimator).input_tags
            tags.input_tags.allow_nan, tags.input_tags.sparse = inputs.allow_nan, inputs.sparse
        return tags


class _Underneath(StackingClassifier):
    """A stack of one learner whose errors bear the name of its owner."""

    @property
    def _owner(self) -> str:
        return CalibratedClassifier.__name__

    def _candidates(self, metric: Metric, problem: StackProblem) -> tuple[Candidate, ...]:
        (top,) = super()._candidates(metric, problem)
        if isinstance(top.estimator, AsDecided):
            return (replace(top, estimator=AsDecided(len(self.classes_))),)
        return (top,)


class AsDecided(ClassifierMixin, BaseEstimator):
    """A stacker that hands on the decision values of its only learner."""

    def __init__(self, n_classes: int = 2) -> None:
        self.n_classes = n_classes

    def fit(self, X: Any, y: Array, sample_weight: Any = None) -> Self:
        """Learn nothing.

        Shapes: ``X`` (n_samples, n_columns).
        """
        self.classes_ = np.arange(self.n_classes)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return one value for two classes, else one a class.

        Shapes: ``X`` (n_samples, n_columns), returns (n_samples,) or (n_samples, n_classes).
        """
        values = np.asarray(X, dtype=np.float64)
        if values.shape[1] == 1:
            return values[:, 0]
        if values.shape[1] == self.n_classes:
            return values
        return np.asarray(one_against_rest(values < 0, -values, self.n_classes))

    def predict(self, X: Any) -> IntArray:
        """Return the class with the greatest decision value.

        Shapes: ``X`` (n_samples, n_columns).
        """
        values = self.decision_function(X)
        return (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
