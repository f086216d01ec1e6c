"""Gradient boosting of numbers and of classes over any regressor, or over a set of them."""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.tree import BaseDecisionTree, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from foldwise.arrays import FloatArray
from foldwise.boost.booster import BoostedClassifier, BoostedRegressor, LossBooster
from foldwise.boost.early_stopping import SetApart
from foldwise.boost.pursuit import Pursuit, boost_additive
from foldwise.checks import check_word
from foldwise.errors import Plain, invalid_parameter, unsupported
from foldwise.learners.one_learner import WeightedRows, require_weights
from foldwise.losses import Loss


@dataclass(eq=False, repr=False)
class GradientBoosting(LossBooster):
    """Parameters, their checks, and rounds that fit any regressor to the gradient."""

    estimator: Any = None
    loss: Any = "auto"
    _: KW_ONLY
    step: str = "auto"

    def _learners(self) -> list[Any]:
        if self.estimator is None:
            return [DecisionTreeRegressor(max_depth=3)]
        if not isinstance(self.estimator, list | tuple):
            return [self.estimator]
        return [entry[1] if isinstance(entry, tuple) else entry for entry in self.estimator]

    def _check_parameters(self, weighted: bool) -> None:
        owner = type(self).__name__
        super()._check_parameters(weighted)
        check_word(owner, "step", self.step, ["auto", "leaf", "line", "fixed"])
        if not self._learners():
            must, fix = "be a regressor or a list of them", "Leave it out to boost trees."
            raise invalid_parameter(owner, "estimator", must=must, got=self.estimator, fix=fix)
        for learner in self._learners():
            got = Plain(type(learner).__name__)
            if not is_regressor(learner):
                must = "be a regressor: it is fitted to gradients"
                fix = "Use the regressor of the same kind."
                raise unsupported(owner, "estimator", must=must, got=got, fix=fix)
            if self.step == "leaf" and not isinstance(learner, BaseDecisionTree):
                must, fix = "be a scikit-learn tree for step='leaf'", "Use step='line'."
                raise unsupported(owner, "estimator", must=must, got=got, fix=fix)
            if weighted:
                fix = "Fit without them or change the learner."
                require_weights(owner, learner, "when weights are given", fix)

    def _boost_loss(
        self, loss: Loss, rows: WeightedRows, apart: SetApart, seed: int, split_seed: int
    ) -> None:
        how = self.learning_rate, self.step, self.subsample, self.max_features
        pursuit = Pursuit(self._learners(), *how, self.n_iter_no_change, seed)
        model = self._run(partial(boost_additive, pursuit, loss), rows, apart, split_seed)
        self.model_ = model
        self.estimators_ = [stage.learners for stage in model.stages]
        self.steps_ = np.array([stage.step for stage in model.stages])
        self.members_ = np.array([stage.member for stage in model.stages], dtype=int)
        self.train_loss_ = model.train_loss
        self.n_estimators_ = len(model.stages)

    @property
    def feature_importances_(self) -> FloatArray:
        """How much each feature lowered the trees' squared error, summing to one."""
        check_is_fitted(self, "model_")
        if not self.model_.only_trees:
            raise AttributeError(
                f"{type(self).__name__}: feature_importances_ needs trees as learners. "
                "Use sklearn.inspection.permutation_importance for others."
            )
        return self.model_.importances(self.n_features_in_)


@dataclass(eq=False, repr=False)
class GradientBoostingRegressor(BoostedRegressor, GradientBoosting):
    """Gradient boosting of any loss over any regressor, or over a set of them.

    Parameters
    ----------
    estimator : regressor, list of regressors or of (name, regressor), optional
        The learner; a tree of depth 3 by default. Of a list, each round fits all to the
        pseudo-residuals and keeps the one that lowers the training loss most.
    loss : str or Loss, default="squared"
        "squared", "absolute", "huber", "quantile", "poisson", "tweedie", or a loss of your own
        (:class:`~foldwise.losses.CustomLoss`). Poisson and Tweedie predict exp(F).
    n_estimators : int, default=100
        Rounds at most.
    learning_rate : float, default=0.1
        The shrinkage ρ.
    step : {"auto", "leaf", "line", "fixed"}, default="auto"
        How α is found: one step a leaf of a tree, one for the whole learner by line search, or
        1. "auto" is "leaf" for scikit-learn trees and "line" for others.
    subsample : float, default=1.0
        The share η of rows drawn for each round, without replacement.
    max_features : float, default=1.0
        The share of columns drawn for each round, without replacement.
    quantile : float, default=0.9
        Level of the quantile loss; of the threshold of Huber's.
    power : float, default=1.5
        Power of the Tweedie loss, at least 1 and below 2.
    early_stopping : bool, default=False
        Whether to find the number of rounds on rows set apart.
    validation : float, int or splitter, default=0.1
        Those rows: a share, a number of folds, or a scikit-learn splitter.
    n_iter_no_change : int, default=10
        Rounds without a lower loss on them before boosting stops.
    refit : {"scaled", "same"} or None, default="scaled"
        After early stopping, boost all rows again: for the rounds found times the ratio of row
        numbers, ``n_estimators`` at most, or for as many. None keeps the model of the one split.
    random_state : int, RandomState or None, default=None
        Seeds learners whose own is None, the draws and the split.
    verbose : int, default=0
        1: a line now and then on the logger "foldwise"; 2: a line a round.

    Attributes
    ----------
    estimators_ : list of tuple of regressors
        The learners kept, one tuple a round.
    steps_ : ndarray of shape (n_rounds,)
        Their steps α (1 where the leaves hold them).
    members_ : ndarray of int, shape (n_rounds,)
        Which learner of the set each round kept.
    train_loss_ : ndarray of shape (n_rounds,)
        Mean loss of the training rows after each round: no estimate of the loss on new ones.
    loss_ : Loss
        The loss that judges all rounds; Huber's has the threshold of the constant prediction.
    feature_importances_ : ndarray of shape (n_features,)
        If all learners are trees.
    n_estimators_ : int
        Rounds; 0 if the best constant leaves no gradient.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if they had any.

    Notes
    -----
    A step never raises the training loss of the rows it was found on. For partial dependence use
    ``sklearn.inspection.partial_dependence``, which takes this estimator as it is.

    References
    ----------
    .. [1] Friedman (2001). Greedy function approximation: a gradient boosting machine.
    .. [2] Friedman (2002). Stochastic gradient boosting.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> X, y = make_friedman1(200, random_state=0)
    >>> learners = [Ridge(), DecisionTreeRegressor(max_depth=2)]
    >>> model = GradientBoostingRegressor(learners, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    loss: Any = "squared"


class GradientBoostingClassifier(BoostedClassifier, GradientBoosting):
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
        numbers, ``n_estimators`` at most, or for as many. None keeps the model of the one split.
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
        Mean loss of the training rows after each round: no estimate of the loss on new ones.
    loss_ : Loss
        The loss that judges all rounds; Huber's has the threshold of the constant prediction.
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
