"""AdaBoost over any classifier."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.boost._parameters import check_boosting, check_choice, needs_two_classes
from foldwise.boost.early_stopping import inner_splits, stop_early
from foldwise.boost.learner import (
    Table,
    ask,
    check_features,
    check_groups,
    check_targets,
    check_weights,
    make_table,
    require_weights,
    weight_keyword,
)
from foldwise.boost.margins import centred, class_margins, coefficient_path
from foldwise.boost.progress import Progress
from foldwise.boost.rounds import round_fitter
from foldwise.boost.samme import Committee, boost_committee, staged_votes
from foldwise.errors import Plain, invalid_data, listing
from foldwise.losses.classes import class_codes


class AdaBoostClassifier(ClassifierMixin, BaseEstimator):
    """AdaBoost: each learner looks hardest at the rows the earlier ones got wrong.

    Parameters
    ----------
    estimator : classifier, optional
        The learner; a decision stump by default.
    n_estimators : int, default=50
        Rounds at most.
    learning_rate : float, default=1.0
        Every say β is multiplied by it.
    weighting : {"auto", "weights", "resample"}, default="auto"
        Whether a learner is told the row weights, or is given rows drawn by them. "auto" tells
        them to learners that take ``sample_weight``.
    early_stopping : bool, default=False
        Whether to find the number of rounds on rows set apart.
    validation : float, int or splitter, default=0.1
        Those rows: a share, a number of folds, or a scikit-learn splitter.
    n_iter_no_change : int, default=10
        Rounds without a lower error on them before boosting stops.
    refit : {"scaled", "same"} or None, default="scaled"
        After early stopping, boost all rows again: for the rounds found times the ratio of row
        numbers, or for as many. None keeps the model of the one split.
    random_state : int, RandomState or None, default=None
        Seeds learners whose own is None, the draws and the split.
    verbose : int, default=0
        1: a line now and then on the logger "foldwise"; 2: a line a round.

    Attributes
    ----------
    estimators_ : list of classifiers
        The learners; they answer with the position of a class in ``classes_``.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Their say β.
    estimator_errors_ : ndarray of shape (n_rounds,)
        Their weighted training errors ε.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    path_ : BoostingPath
        L1 norm of β, exponential loss, error and smallest margin after each round.
    n_estimators_ : int
        Rounds.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if they had any.

    Notes
    -----
    Two classes: β = ½ log((1−ε)/ε), d ← d exp(∓β), normalised, H = sign Σ β h. More: SAMME,
    β = log((1−ε)/ε) + log(C−1). Boosting ends at ε ≥ 1 − 1/C, without that learner; if it is the
    first, an error says so. At ε = 0 it ends with that learner, whose say is the one of
    ε = 1/(2n). ``predict_proba`` is the softmax of the votes, which with two classes is
    1 / (1 + exp(−2F)), the minimiser of the exponential loss; it tends to be too sure.
    Plain stumps on dense data are found from columns sorted once, several times as fast as one
    by one; of splits of equal merit they take the first column's, not a random one.

    References
    ----------
    .. [1] Freund, Schapire (1997). A decision-theoretic generalization of on-line learning.
    .. [2] Zhu, Zou, Rosset, Hastie (2009). Multi-class AdaBoost.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.97
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        learning_rate: float = 1.0,
        weighting: str = "auto",
        early_stopping: bool = False,
        validation: Any = 0.1,
        n_iter_no_change: int = 10,
        refit: str | None = "scaled",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.weighting = weighting
        self.early_stopping = early_stopping
        self.validation = validation
        self.n_iter_no_change = n_iter_no_change
        self.refit = refit
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _learner(self) -> Any:
        return DecisionTreeClassifier(max_depth=1) if self.estimator is None else self.estimator

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
        self._check_parameters()
        X = check_features(self, X, [self._learner], reset=True)
        y = check_targets(self, X, y, classes=True)
        start = check_weights(self, sample_weight, len(y))
        self.classes_, codes = class_codes(y)
        needs_two_classes(self, self.classes_)
        rng = check_random_state(self.random_state)
        table = make_table(X, [self._learner])
        groups = check_groups(self, groups, len(y))
        committee = self._boost(table, codes, start, groups, rng)
        if not committee.learners:
            self._complain(committee)
        self.estimators_ = committee.learners
        self.estimator_weights_ = committee.says
        self.estimator_errors_ = committee.errors
        self.path_ = committee.path
        self.n_estimators_ = len(self.estimators_)
        return self

    def _boost(
        self, table: Table, codes: IntArray, start: FloatArray, groups: Any, rng: Any
    ) -> Committee:
        seeds = rng.randint(2**31 - 1, size=self.n_estimators * 2 + 2)
        progress = Progress(type(self).__name__, self.n_estimators, self.verbose)

        def run(rows: IntArray, apart: IntArray | None, rounds: int) -> Committee:
            part = table if len(rows) == len(table) else table.rows(rows)
            return boost_committee(
                round_fitter(
                    self._learner, part, codes[rows], start[rows], seeds, draw=self._resamples()
                ),
                part,
                codes[rows],
                len(self.classes_),
                start[rows],
                rounds,
                learning_rate=self.learning_rate,
                watch=None if apart is None else (table.rows(apart), codes[apart]),
                patience=self.n_iter_no_change,
                report=progress.step,
            )

        if not self.early_stopping:
            return run(np.arange(len(codes)), None, self.n_estimators)
        splits = inner_splits(
            type(self).__name__,
            self.validation,
            codes,
            classes=True,
            groups=groups,
            seed=int(seeds[-1]),
        )
        return stop_early(run, splits, len(codes), self.n_estimators, self.refit)

    def _resamples(self) -> bool:
        if self.weighting == "auto":
            return weight_keyword(self._learner) is None
        return self.weighting == "resample"

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        check_boosting(self)
        check_choice(owner, "weighting", self.weighting, ["auto", "weights", "resample"])
        if self.weighting == "weights":
            require_weights(
                owner, self._learner, "for weighting='weights'", "Use weighting='resample'."
            )

    def _complain(self, committee: Committee) -> None:
        chance = 1 - 1 / len(self.classes_)
        raise invalid_data(
            type(self).__name__,
            "estimator",
            must=f"have a weighted training error below {chance:.3g} in the first round",
            got=Plain(f"{committee.failed_error:.3g}"),
            fix="Use a stronger learner, or check that X tells the classes apart.",
        )

    def _table(self, X: Any) -> Table:
        check_is_fitted(self)
        X = check_features(self, X, [self._learner], reset=False)
        return make_table(X, [self._learner])

    def _staged_votes(self, X: Any) -> Iterator[FloatArray]:
        table = self._table(X)
        return staged_votes(self.estimators_, self.estimator_weights_, table, len(self.classes_))

    def _votes(self, X: Any) -> FloatArray:
        for votes in self._staged_votes(X):
            last = votes
        return last

    def decision_function(self, X: Any) -> FloatArray:
        """Return F(x) = Σ β h(x) for two classes, the votes less their mean for more.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores.
        """
        return _scores(self._votes(X))

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """Yield :meth:`decision_function` after each round."""
        return (_scores(votes) for votes in self._staged_votes(X))

    def predict(self, X: Any) -> Array:
        """Return the class with the most votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.
        """
        best = self._votes(X).argmax(axis=1)
        return self.classes_[best]

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield :meth:`predict` after each round."""
        return (self.classes_[votes.argmax(axis=1)] for votes in self._staged_votes(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the softmax of the votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        return softmax(self._votes(X), axis=1)

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """Yield :meth:`predict_proba` after each round."""
        return (softmax(votes, axis=1) for votes in self._staged_votes(X))

    def margins(self, X: Any, y: Any) -> FloatArray:
        """Return each row's margin, between −1 and 1; positive if the vote is right.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            The right classes.

        Returns
        -------
        ndarray of shape (n_samples,)
            Margins.
        """
        return class_margins(self._votes(X), self._codes(y))

    def staged_margins(self, X: Any, y: Any) -> Iterator[FloatArray]:
        """Yield :meth:`margins` after each round."""
        return (class_margins(votes, self._codes(y)) for votes in self._staged_votes(X))

    def _codes(self, y: Any) -> IntArray:
        codes = np.searchsorted(self.classes_, np.asarray(y)).clip(0, len(self.classes_) - 1)
        if (self.classes_[codes] != np.asarray(y)).any():
            raise invalid_data(
                type(self).__name__,
                "y",
                must="hold classes seen in fit",
                got=listing(np.setdiff1d(y, self.classes_).tolist()),
                fix="Leave such rows out.",
            )
        return codes

    def coefficient_path(self, X: Any) -> FloatArray:
        """Return the coefficient of each distinct learner after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; learners that answer alike on them are one.

        Returns
        -------
        ndarray of shape (n_rounds, n_distinct)
            Coefficients, against ``path_.l1_norm`` an L1-regularised path.
        """
        table = self._table(X)
        answers = np.array([ask(learner, table) for learner in self.estimators_])
        return coefficient_path(answers.astype(np.intp), self.estimator_weights_)

    @property
    def feature_importances_(self) -> FloatArray:
        """The learners' feature importances, averaged by say."""
        check_is_fitted(self)
        table = np.array([learner.feature_importances_ for learner in self.estimators_])
        return np.average(table, axis=0, weights=self.estimator_weights_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._learner).input_tags
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.allow_nan = inner.allow_nan
        return tags


def _scores(votes: FloatArray) -> FloatArray:
    scores = centred(votes)
    return scores[:, 1].copy() if scores.shape[1] == 2 else scores
