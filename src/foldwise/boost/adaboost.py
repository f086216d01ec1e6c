"""AdaBoost over any classifier."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from foldwise.arrays import Array, FloatArray
from foldwise.boost import samme
from foldwise.boost.booster import Booster
from foldwise.boost.early_stopping import SetApart
from foldwise.checks import check_word
from foldwise.errors import Plain, invalid_data
from foldwise.learners.one_learner import (
    WeightedRows,
    ask,
    require_task,
    require_weights,
    weight_keyword,
)


@dataclass(eq=False, repr=False)
class AdaBoostClassifier(ClassifierMixin, Booster):
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
        numbers, ``n_estimators`` at most, or for as many. None keeps the model of the one split.
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

    estimator: Any = None
    n_estimators: int = 50
    _: KW_ONLY
    learning_rate: float = 1.0
    weighting: str = "auto"

    def _learners(self) -> list[Any]:
        return [DecisionTreeClassifier(max_depth=1) if self.estimator is None else self.estimator]

    def _boost(self, rows: WeightedRows, apart: SetApart) -> None:
        rng = check_random_state(self.random_state)
        seeds = rng.randint(2**31 - 1, size=self.n_estimators + 2)
        (learner,) = self._learners()
        draw = self.weighting == "resample" or weight_keyword(learner) is None
        fitter = partial(samme.round_fitter, learner, seeds, draw=draw)
        how = self.learning_rate, self.n_iter_no_change
        boost = partial(samme.boost_committee, fitter, len(self.classes_), *how)
        committee = self._run(boost, rows, apart, int(seeds[-1]))
        if not committee.learners:
            owner, chance = type(self).__name__, 1 - 1 / len(self.classes_)
            must = f"have a weighted training error below {chance:.3g} in the first round"
            got = Plain(f"{committee.failed_error:.3g}")
            fix = "Use a stronger learner, or check that X tells the classes apart."
            raise invalid_data(owner, "estimator", must=must, got=got, fix=fix)
        self.estimators_ = committee.learners
        self.estimator_weights_ = committee.says
        self.estimator_errors_ = committee.errors
        self.path_ = committee.path
        self.n_estimators_ = len(self.estimators_)

    def _check_parameters(self, weighted: bool) -> None:
        owner = type(self).__name__
        super()._check_parameters(weighted)
        check_word(owner, "weighting", self.weighting, ["auto", "weights", "resample"])
        (learner,) = self._learners()
        require_task(owner, "estimator", learner, classes=True)
        if self.weighting == "weights":
            require_weights(owner, learner, "for weighting='weights'", "Use weighting='resample'.")

    def _staged_votes(self, X: Any) -> Iterator[FloatArray]:
        check_is_fitted(self)
        table, says = self._table(X), self.estimator_weights_
        return samme.staged_votes(self.estimators_, says, table, len(self.classes_))

    def _votes(self, X: Any) -> FloatArray:
        *_, last = self._staged_votes(X)
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
        return samme.class_margins(self._votes(X), self._codes(y))

    def staged_margins(self, X: Any, y: Any) -> Iterator[FloatArray]:
        """Yield :meth:`margins` after each round."""
        return (samme.class_margins(votes, self._codes(y)) for votes in self._staged_votes(X))

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
        check_is_fitted(self)
        table = self._table(X)
        answers = np.array([ask(learner, table) for learner in self.estimators_])
        return samme.coefficient_path(answers.astype(np.intp), self.estimator_weights_)

    @property
    def feature_importances_(self) -> FloatArray:
        """The learners' feature importances, averaged by say."""
        check_is_fitted(self)
        table = np.array([learner.feature_importances_ for learner in self.estimators_])
        return np.average(table, axis=0, weights=self.estimator_weights_)


def _scores(votes: FloatArray) -> FloatArray:
    scores = samme.centred(votes)
    return scores[:, 1].copy() if scores.shape[1] == 2 else scores
