"""Forward stagewise regression and classification, stopped by cross-validation."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from foldwise.arrays import FloatArray
from foldwise.errors import invalid_parameter
from foldwise.paths.linear import LinearClassifier, LinearPredictor, Prepared, prepare
from foldwise.paths.parameters import check_whole, check_word
from foldwise.paths.stagewise_folds import cross_validated_stagewise_path

RULES = ("min", "1se")


class ForwardStagewiseRegressor(RegressorMixin, LinearPredictor):
    """Linear regression by many tiny steps, as many as cross-validation finds useful.

    Each step moves the coefficient of the column most correlated with the residual by a little.
    Stopped early it shrinks like the lasso, but its coefficients change more steadily when
    columns are correlated.

    Parameters
    ----------
    epsilon : float, default=0.01
        Size of a step, in standard deviations of y per standard deviation of a column. Zero
        takes the limit of ever smaller steps, the monotone lasso, exactly.
    max_steps : int, default=10_000
        Steps (corners of the path, for ``epsilon=0``) at most.
    choose : {"min", "1se"}, default="min"
        Stop where the held-out loss is least, or at the first point within one standard error.
    standardize : bool, default=True
        Measure columns in standard deviations, so that all are stepped alike.
    cv : int, splitter or iterable, default=5
        Folds that decide where to stop.
    random_state : int, RandomState or None, default=None
        Deals the folds.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients in the units of X.
    intercept_ : float
        Intercept.
    path_ : foldwise.paths.CVStagewisePath
        The whole path of the (standardised) columns, with its held-out losses.
    index_ : int
        The point of the path that was chosen.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    foldwise.paths.stagewise_path : The steps.
    foldwise.paths.monotone_lasso_path : Their limit.

    References
    ----------
    .. [1] Hastie, Tibshirani and Friedman (2009). The Elements of Statistical Learning, 16.2.
    .. [2] Hastie, Taylor, Tibshirani and Walther (2007). Forward stagewise regression and the
       monotone lasso. Electronic Journal of Statistics 1, 1-29.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(100, 5, n_informative=1, noise=1.0, random_state=0)
    >>> model = ForwardStagewiseRegressor(choose="1se", random_state=0).fit(X, y)
    >>> int((abs(model.coef_) > 1).sum())
    1
    """

    def __init__(
        self,
        *,
        epsilon: float = 0.01,
        max_steps: int = 10_000,
        choose: str = "min",
        standardize: bool = True,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.max_steps = max_steps
        self.choose = choose
        self.standardize = standardize
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Walk the path of all rows and of all rows but each fold, and choose where to stop.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows.
        groups : array-like of shape (n_samples,) or None, default=None
            Rows of one group are kept in one fold.

        Returns
        -------
        Self
            The fitted estimator.
        """
        _check_parameters(self, zero_allowed=True)
        rows = prepare(self, X, y, sample_weight, groups, classify=False)
        mean = rows.weights @ rows.y / rows.weights.sum()
        spread = float(np.sqrt(rows.weights @ (rows.y - mean) ** 2 / rows.weights.sum()))
        _walk(self, rows, "squared", self.epsilon * (spread or 1.0))
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the prediction of every row.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.
        """
        return self._linear(X)


class ForwardStagewiseClassifier(ClassifierMixin, LinearClassifier):
    """Logistic regression by many tiny steps, as many as cross-validation finds useful.

    Parameters
    ----------
    epsilon : float, default=0.05
        Size of a step, in log-odds per standard deviation of a column; above zero.
    max_steps : int, default=2000
        Steps at most.
    choose : {"min", "1se"}, default="min"
        Stop where the held-out log-loss is least, or at the first point within one standard
        error.
    standardize : bool, default=True
        Measure columns in standard deviations, so that all are stepped alike.
    cv : int, splitter or iterable, default=5
        Folds that decide where to stop.
    random_state : int, RandomState or None, default=None
        Deals the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients in the units of X.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    path_ : foldwise.paths.CVStagewisePath
        The whole path of the (standardised) columns, with its held-out losses.
    index_ : int
        The point of the path that was chosen.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    foldwise.paths.stagewise_path : The steps.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ForwardStagewiseClassifier(max_steps=200, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        *,
        epsilon: float = 0.05,
        max_steps: int = 2000,
        choose: str = "min",
        standardize: bool = True,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.max_steps = max_steps
        self.choose = choose
        self.standardize = standardize
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Walk the path of all rows and of all rows but each fold, and choose where to stop.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows.
        groups : array-like of shape (n_samples,) or None, default=None
            Rows of one group are kept in one fold.

        Returns
        -------
        Self
            The fitted estimator.
        """
        _check_parameters(self, zero_allowed=False)
        rows = prepare(self, X, y, sample_weight, groups, classify=True)
        self.classes_ = rows.classes
        loss = "logistic" if len(self.classes_) == 2 else "multinomial"
        _walk(self, rows, loss, self.epsilon)
        return self


def _check_parameters(estimator: Any, *, zero_allowed: bool) -> None:
    owner, epsilon = type(estimator).__name__, estimator.epsilon
    if not (epsilon > 0 or (zero_allowed and epsilon == 0)):
        raise invalid_parameter(
            owner,
            "epsilon",
            must="not be negative" if zero_allowed else "be above zero",
            got=epsilon,
            fix="Try 0.01.",
        )
    check_whole(owner, "max_steps", estimator.max_steps, 1)
    check_word(owner, "choose", estimator.choose, RULES)


def _walk(estimator: Any, rows: Prepared, loss: str, epsilon: float) -> None:
    path = cross_validated_stagewise_path(
        rows.D,
        rows.y,
        fold_of=rows.folds,
        epsilon=epsilon,
        loss=loss,
        sample_weight=rows.weights,
        max_steps=estimator.max_steps,
    )
    estimator._keep(path, path.index(estimator.choose), rows.scale)
