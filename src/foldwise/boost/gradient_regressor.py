"""Gradient boosting of numbers over any regressor, or over a set of them."""

from collections.abc import Iterator
from typing import Any, Self

from sklearn.base import RegressorMixin

from foldwise.arrays import FloatArray
from foldwise.boost._gradient_base import GradientBoosting
from foldwise.boost._parameters import (
    check_number,
)
from foldwise.boost.learner import check_features, check_targets, check_weights
from foldwise.losses.numbers import regression_loss


class GradientBoostingRegressor(RegressorMixin, GradientBoosting):
    """Gradient boosting of any loss over any regressor, or over a set of them.

    Parameters
    ----------
    estimator : regressor, list of regressors or of (name, regressor), optional
        The learner; a tree of depth 3 by default. Of a list, each round fits all to the
        pseudo-residuals and keeps the one that lowers the training loss most.
    loss : str or Loss, default="squared"
        "squared", "absolute", "huber", "quantile", "poisson", "tweedie", or a loss of your own
        (:class:`~foldwise.boost.CustomLoss`). Poisson and Tweedie predict exp(F).
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
        numbers, or for as many. None keeps the model of the one split.
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
        Mean training loss after each round.
    loss_ : Loss
        The loss.
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

    def __init__(
        self,
        estimator: Any = None,
        loss: Any = "squared",
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        step: str = "auto",
        subsample: float = 1.0,
        max_features: float = 1.0,
        quantile: float = 0.9,
        power: float = 1.5,
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
        self.quantile = quantile
        self.power = power
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
            Training targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        groups : array-like of shape (n_samples,), optional
            Rows of one group stay together when rows are set apart.

        Returns
        -------
        Self
            The fitted regressor.
        """
        owner = type(self).__name__
        self._check_parameters(sample_weight is not None)
        check_number(owner, "quantile", self.quantile, above=0, below=1, try_=0.9)
        check_number(owner, "power", self.power, least=1, below=2, try_=1.5)
        loss = regression_loss(owner, self.loss, self.quantile, self.power)
        X = check_features(self, X, self._learners(), reset=True)
        y = check_targets(self, X, y, classes=False)
        weight = check_weights(self, sample_weight, len(y))
        self._boost(X, y, weight, sample_weight is not None, groups, loss)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the predictions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.
        """
        raw = self._raw(X)
        return self.loss_.inverse_link(raw)

    def staged_predict(self, X: Any) -> Iterator[FloatArray]:
        """Yield :meth:`predict` after each round."""
        return (self.loss_.inverse_link(raw) for raw in self._staged_raw(X))
