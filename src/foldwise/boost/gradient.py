"""Gradient boosting over any regressor, or over a set of them."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_regressor
from sklearn.tree import BaseDecisionTree, DecisionTreeRegressor
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from foldwise.boost.additive import Additive
from foldwise.boost.class_losses import class_codes, class_loss
from foldwise.boost.early_stopping import inner_splits, stop_early
from foldwise.boost.learner import (
    FloatArray,
    Indices,
    Table,
    check_features,
    check_targets,
    check_weights,
    make_table,
    require_weights,
)
from foldwise.boost.loss import Loss, check_loss
from foldwise.boost.parameters import (
    check_boosting,
    check_choice,
    check_number,
    needs_two_classes,
)
from foldwise.boost.progress import Progress
from foldwise.boost.pursuit import Recipe, Sample, boost_additive
from foldwise.boost.regression_losses import regression_loss
from foldwise.errors import Plain, invalid_parameter, unsupported


class _GradientBoosting(BaseEstimator):
    """What the regressor and the classifier share."""

    def _learners(self) -> list[Any]:
        if self.estimator is None:
            return [DecisionTreeRegressor(max_depth=3)]
        if not isinstance(self.estimator, list | tuple):
            return [self.estimator]
        return [entry[1] if isinstance(entry, tuple) else entry for entry in self.estimator]

    def _check_parameters(self, weighted: bool) -> None:
        owner = type(self).__name__
        check_boosting(self)
        check_choice(owner, "step", self.step, ["auto", "leaf", "line", "fixed"])
        for name in ["subsample", "max_features"]:
            check_number(owner, name, getattr(self, name), above=0, most=1, try_=1.0)
        if not self._learners():
            raise invalid_parameter(
                owner,
                "estimator",
                must="be a regressor or a list of them",
                got=self.estimator,
                fix="Leave it out to boost trees.",
            )
        for learner in self._learners():
            self._check_learner(owner, learner, weighted)

    def _check_learner(self, owner: str, learner: Any, weighted: bool) -> None:
        if not is_regressor(learner):
            raise unsupported(
                owner,
                "estimator",
                must="be a regressor: it is fitted to gradients",
                got=Plain(type(learner).__name__),
                fix="Use the regressor of the same kind.",
            )
        if self.step == "leaf" and not isinstance(learner, BaseDecisionTree):
            raise unsupported(
                owner,
                "estimator",
                must="be a scikit-learn tree for step='leaf'",
                got=Plain(type(learner).__name__),
                fix="Use step='line'.",
            )
        if weighted:
            require_weights(
                owner, learner, "when weights are given", "Fit without them or change the learner."
            )

    def _boost(
        self, X: Any, y: FloatArray, weight: FloatArray, given: bool, groups: Any, loss: Loss
    ) -> None:
        owner, learners = type(self).__name__, self._learners()
        loss.check_targets(owner, y)
        sample = Sample(make_table(X, learners), y, weight, given)
        start = np.asarray(loss.constant(y, weight), dtype=float)
        check_loss(owner, loss, y, np.tile(start, (len(y),) + (1,) * start.ndim))
        rng = check_random_state(self.random_state)
        seed, split_seed = (int(number) for number in rng.randint(2**31 - 1, size=2))
        progress = Progress(owner, self.n_estimators, self.verbose)

        def run(rows: Indices, apart: Indices | None, rounds: int) -> Additive:
            part = sample if len(rows) == len(y) else sample.rows(rows)
            watch = None if apart is None else sample.rows(apart)
            recipe = self._recipe(learners, len(rows), seed)
            return boost_additive(recipe, loss, part, rounds, watch, progress.step)

        if self.early_stopping:
            classes = isinstance(self, ClassifierMixin)
            splits = inner_splits(
                owner, self.validation, y, classes=classes, groups=groups, seed=split_seed
            )
            model = stop_early(run, splits, len(y), self.n_estimators, self.refit)
        else:
            model = run(np.arange(len(y)), None, self.n_estimators)
        self._keep(model)

    def _recipe(self, learners: list[Any], n_samples: int, seed: int) -> Recipe:
        n_rows = max(1, int(self.subsample * n_samples))
        n_columns = max(1, int(self.max_features * self.n_features_in_))
        return Recipe(
            learners,
            self.learning_rate,
            self.step,
            n_rows if n_rows < n_samples else None,
            n_columns if n_columns < self.n_features_in_ else None,
            self.n_iter_no_change,
            seed,
        )

    def _keep(self, model: Additive) -> None:
        self.model_ = model
        self.loss_ = model.loss
        self.estimators_ = [stage.learners for stage in model.stages]
        self.steps_ = np.array([stage.step for stage in model.stages])
        self.members_ = np.array([stage.member for stage in model.stages], dtype=int)
        self.train_loss_ = model.train_loss
        self.n_estimators_ = len(model.stages)

    def _table(self, X: Any) -> Table:
        check_is_fitted(self)
        learners = self._learners()
        return make_table(check_features(self, X, learners, reset=False), learners)

    def _raw(self, X: Any) -> FloatArray:
        table = self._table(X)
        return self.model_.raw(table)

    def _staged_raw(self, X: Any) -> Iterator[FloatArray]:
        table = self._table(X)
        return (raw.copy() for raw in self.model_.staged_raw(table))

    def staged_loss(self, X: Any, y: Any) -> FloatArray:
        """Return the mean loss on some rows after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Targets.

        Returns
        -------
        ndarray of shape (n_rounds,)
            Losses.
        """
        table = self._table(X)
        y = np.asarray(y)
        if isinstance(self, ClassifierMixin):
            y = np.searchsorted(self.classes_, y)
        y = y.astype(float)
        staged = self.model_.staged_raw(table)
        return np.array([self.loss_.value(y, raw).mean() for raw in staged])

    @property
    def feature_importances_(self) -> FloatArray:
        """How much each feature lowered the trees' squared error, summing to one."""
        check_is_fitted(self)
        if not self.model_.only_trees:
            raise AttributeError(
                f"{type(self).__name__}: feature_importances_ needs trees as learners. "
                "Use sklearn.inspection.permutation_importance for others."
            )
        return self.model_.importances(self.n_features_in_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = [get_tags(learner).input_tags for learner in self._learners()]
        tags.input_tags.sparse = all(each.sparse for each in inner)
        tags.input_tags.allow_nan = all(each.allow_nan for each in inner)
        return tags


class GradientBoostingRegressor(RegressorMixin, _GradientBoosting):
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


class GradientBoostingClassifier(ClassifierMixin, _GradientBoosting):
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

    def predict(self, X: Any) -> NDArray[Any]:
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

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield :meth:`predict` after each round."""
        return (self.classes_[p.argmax(axis=1)] for p in self.staged_predict_proba(X))

    def _probabilities(self, raw: FloatArray) -> FloatArray:
        answer = self.loss_.inverse_link(raw)
        return answer if answer.ndim == 2 else np.column_stack([1 - answer, answer])
