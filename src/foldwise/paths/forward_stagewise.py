"""Forward stagewise regression and classification, stopped by cross-validation."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from foldwise.arrays import Array, FloatArray
from foldwise.checks import check_number, check_whole
from foldwise.paths.cross_validation import CVPath
from foldwise.paths.linear import LinearPath, LinearPathClassifier, LinearPathRegressor
from foldwise.paths.stagewise import cross_validated_stagewise_path


@dataclass(eq=False, repr=False)
class ForwardStagewise(LinearPath):
    """Many tiny steps, as many as the folds find useful."""

    _: KW_ONLY
    epsilon: float = 0.05
    max_steps: int = 2000

    def _check_parameters(self, owner: str) -> None:
        check_whole(owner, "max_steps", self.max_steps, 1, try_=2000)

    def _step(self, y: Array, weights: FloatArray) -> float:
        return self.epsilon

    def _judged(self, D: Any, y: Array, **rows: Any) -> CVPath:
        rows |= {"epsilon": self._step(y, rows["sample_weight"]), "max_steps": self.max_steps}
        return cross_validated_stagewise_path(D, y, loss=self.loss, **rows)


@dataclass(eq=False, repr=False)
class ForwardStagewiseRegressor(LinearPathRegressor, ForwardStagewise):
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

    _: KW_ONLY
    epsilon: float = 0.01
    max_steps: int = 10_000

    def _check_parameters(self, owner: str) -> None:
        check_number(owner, "epsilon", self.epsilon, least=0, try_=0.01)
        super()._check_parameters(owner)

    def _step(self, y: Array, weights: FloatArray) -> float:
        mean = weights @ y / weights.sum()
        spread = float(np.sqrt(weights @ (y - mean) ** 2 / weights.sum()))
        return self.epsilon * (spread or 1.0)


class ForwardStagewiseClassifier(LinearPathClassifier, ForwardStagewise):
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

    def _check_parameters(self, owner: str) -> None:
        check_number(owner, "epsilon", self.epsilon, above=0, try_=0.01)
        super()._check_parameters(owner)
