"""Bagging for classes."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.boost._parameters import check_choice
from foldwise.boost.learner import (
    Table,
    check_features,
    check_targets,
    check_weights,
    make_table,
)
from foldwise.errors import Plain, unsupported
from foldwise.losses.classes import class_codes
from foldwise.resample._bagging_base import Bagging
from foldwise.resample.bag import Member
from foldwise.resample.draws import ROW_SCHEMES
from foldwise.resample.out_of_bag import accuracy_with_error, out_of_bag
from foldwise.resample.targets import new_classes


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
    max_features : float, default=1.0
        Share of the columns drawn for each learner, without replacement.
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
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Out-of-bag probabilities, if ``oob_score``; NaN for rows that every learner had.
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

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        sampling: str = "bootstrap",
        max_samples: float | int = 1.0,
        max_features: float = 1.0,
        split_features: Any = None,
        combine: str = "auto",
        generator: Any = None,
        oob_score: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.sampling = sampling
        self.max_samples = max_samples
        self.max_features = max_features
        self.split_features = split_features
        self.combine = combine
        self.generator = generator
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _default_learner(self) -> Any:
        return DecisionTreeClassifier()

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the learners.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training features.
        y : array-like of shape (n_samples,)
            Training classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        groups : array-like of shape (n_samples,), optional
            Rows of one group are drawn together.

        Returns
        -------
        Self
            The fitted classifier.
        """
        self._check_parameters((*ROW_SCHEMES, "parametric"), groups)
        self._check_combine()
        learner = self._learner()
        X = check_features(self, X, [learner], reset=True)
        y = check_targets(self, X, y, classes=True)
        weight = None if sample_weight is None else check_weights(self, sample_weight, len(y))
        self.classes_, codes = class_codes(y)
        table = make_table(X, [learner])
        seed, targets = self._draw_seeds(), None
        if self.sampling == "parametric":
            generator = learner if self.generator is None else self.generator
            rows = make_table(X, [generator])
            targets = new_classes(generator, rows, codes, weight, seed)
        self._fit_members(table, codes, weight, groups, targets)
        if self.oob_score:
            self._score_out_of_bag(table, codes, weight)
        return self

    def _check_combine(self) -> None:
        owner, learner = type(self).__name__, self._learner()
        check_choice(owner, "combine", self.combine, ["auto", "soft", "vote"])
        if self.combine == "soft" and not hasattr(learner, "predict_proba"):
            raise unsupported(
                owner,
                "estimator",
                must="have predict_proba for combine='soft'",
                got=Plain(type(learner).__name__),
                fix="Use combine='vote'.",
            )

    def _score_out_of_bag(self, table: Table, codes: IntArray, weight: FloatArray | None) -> None:
        said = out_of_bag(
            self.members_, self.seeds_, self.draws_, table, self._tally, len(self.classes_)
        )
        self.oob_decision_function_ = said
        seen, mass, group = self._scored_rows(said, weight)
        self.oob_score_, self.oob_score_se_ = accuracy_with_error(
            codes[seen], said[seen], mass, group
        )

    def _tally(self, member: Member, table: Table) -> FloatArray:
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
            Lower and upper ends, within 0 and 1.
        """
        return self._interval(X, level).clip(0, 1)
