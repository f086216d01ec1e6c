"""Lasso, ridge and elastic net with a cross-validated penalty, for many losses."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from foldwise.arrays import FloatArray
from foldwise.errors import invalid_data, unsupported
from foldwise.paths.adaptive import cross_validated_adaptive_path
from foldwise.paths.cross_validation import CVPath, cross_validated_path
from foldwise.paths.linear import LinearClassifier, LinearPredictor, Prepared, prepare
from foldwise.paths.parameters import check_whole, check_word
from foldwise.paths.relaxed import cross_validated_relaxed_path

RULES = ("min", "1se")
VARIANTS = ("plain", "relaxed", "adaptive")


class LassoPathRegressor(RegressorMixin, LinearPredictor):
    """Linear, Poisson or robust regression with a cross-validated elastic-net penalty.

    Parameters
    ----------
    loss : {"squared", "poisson", "huber"}, default="squared"
        What to lower; "poisson" predicts the mean of counts.
    variant : {"plain", "relaxed", "adaptive"}, default="plain"
        "relaxed" also tries less shrinkage for the columns chosen, "adaptive" lets columns that
        mattered in a first lasso pay less.
    l1_ratio : float, default=1.0
        One is the lasso, zero is ridge; "adaptive" is a lasso.
    n_lambdas : int, default=100
        Penalties tried.
    lambda_min_ratio : float, default=1e-3
        The smallest of them, as a share of the one that sets all coefficients to zero.
    choose : {"min", "1se"}, default="min"
        The penalty of least held-out loss, or the largest within one standard error of it.
    non_negative : bool, default=False
        Allow no negative coefficient ("plain" and "adaptive").
    standardize : bool, default=True
        Measure columns in standard deviations, so that all are shrunken alike.
    cv : int, splitter or iterable, default=5
        Folds that choose the penalty.
    tol : float, default=1e-4
        Precision of the objective, in units of the loss of the best constant.
    random_state : int, RandomState or None, default=None
        Deals the folds.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients in the units of X.
    intercept_ : float
        Intercept.
    lambda_ : float
        The penalty chosen.
    path_ : foldwise.paths.CVPath
        The whole path of the (standardised) columns, with its held-out losses.
    index_ : int
        The point of the path that was chosen.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    foldwise.paths.cross_validated_path : The path.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(100, 20, n_informative=2, noise=1.0, random_state=0)
    >>> model = LassoPathRegressor(choose="1se", random_state=0).fit(X, y)
    >>> int((model.coef_ != 0).sum())
    2
    """

    def __init__(
        self,
        *,
        loss: str = "squared",
        variant: str = "plain",
        l1_ratio: float = 1.0,
        n_lambdas: int = 100,
        lambda_min_ratio: float = 1e-3,
        choose: str = "min",
        non_negative: bool = False,
        standardize: bool = True,
        cv: Any = 5,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.variant = variant
        self.l1_ratio = l1_ratio
        self.n_lambdas = n_lambdas
        self.lambda_min_ratio = lambda_min_ratio
        self.choose = choose
        self.non_negative = non_negative
        self.standardize = standardize
        self.cv = cv
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Follow the path of all rows and of all rows but each fold, and choose a penalty.

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
        owner = type(self).__name__
        check_word(owner, "loss", self.loss, ("squared", "poisson", "huber"))
        _check_parameters(self)
        rows = prepare(self, X, y, sample_weight, groups, classify=False)
        if self.loss == "poisson" and (rows.y < 0).any():
            raise invalid_data(
                owner,
                "y",
                must="hold counts, none negative, with loss='poisson'",
                got=float(rows.y.min()),
                fix="Use loss='squared' for numbers of either sign.",
            )
        _choose(self, rows, self.loss)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the predicted mean of every row.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.
        """
        eta = self._linear(X)
        return np.exp(eta) if self.loss == "poisson" else eta


class LassoPathClassifier(ClassifierMixin, LinearClassifier):
    """Logistic or multinomial regression with a cross-validated elastic-net penalty.

    Parameters
    ----------
    variant : {"plain", "relaxed", "adaptive"}, default="plain"
        "relaxed" also tries less shrinkage for the columns chosen, "adaptive" lets columns that
        mattered in a first lasso pay less.
    l1_ratio : float, default=1.0
        One is the lasso, zero is ridge; "adaptive" is a lasso.
    n_lambdas : int, default=100
        Penalties tried.
    lambda_min_ratio : float, default=1e-2
        The smallest of them, as a share of the one that sets all coefficients to zero.
    choose : {"min", "1se"}, default="min"
        The penalty of least held-out log-loss, or the largest within one standard error of it.
    non_negative : bool, default=False
        Allow no negative coefficient ("plain" and "adaptive").
    standardize : bool, default=True
        Measure columns in standard deviations, so that all are shrunken alike.
    cv : int, splitter or iterable, default=5
        Folds that choose the penalty.
    tol : float, default=1e-4
        Precision of the objective, in units of the loss of the best constant.
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
    lambda_ : float
        The penalty chosen.
    path_ : foldwise.paths.CVPath
        The whole path of the (standardised) columns, with its held-out losses.
    index_ : int
        The point of the path that was chosen.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    foldwise.paths.cross_validated_path : The path.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LassoPathClassifier(choose="1se", random_state=0).fit(X, y)
    >>> int((model.coef_ != 0).sum()) < 20
    True
    """

    def __init__(
        self,
        *,
        variant: str = "plain",
        l1_ratio: float = 1.0,
        n_lambdas: int = 100,
        lambda_min_ratio: float = 1e-2,
        choose: str = "min",
        non_negative: bool = False,
        standardize: bool = True,
        cv: Any = 5,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.variant = variant
        self.l1_ratio = l1_ratio
        self.n_lambdas = n_lambdas
        self.lambda_min_ratio = lambda_min_ratio
        self.choose = choose
        self.non_negative = non_negative
        self.standardize = standardize
        self.cv = cv
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Follow the path of all rows and of all rows but each fold, and choose a penalty.

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
        _check_parameters(self)
        rows = prepare(self, X, y, sample_weight, groups, classify=True)
        self.classes_ = rows.classes
        _choose(self, rows, "logistic" if len(self.classes_) == 2 else "multinomial")
        return self


def _check_parameters(estimator: Any) -> None:
    owner = type(estimator).__name__
    check_word(owner, "variant", estimator.variant, VARIANTS)
    check_word(owner, "choose", estimator.choose, RULES)
    check_whole(owner, "n_lambdas", estimator.n_lambdas, 1)
    if estimator.variant == "relaxed" and estimator.non_negative:
        raise unsupported(
            owner,
            "non_negative",
            must="be False with variant='relaxed'",
            got=True,
            fix="Use variant='plain'.",
        )
    if estimator.variant == "adaptive" and estimator.l1_ratio != 1:
        raise unsupported(
            owner,
            "l1_ratio",
            must="be 1.0 with variant='adaptive'",
            got=estimator.l1_ratio,
            fix="Use variant='plain'.",
        )


def _choose(estimator: Any, rows: Prepared, loss: str) -> None:
    path = _judged(estimator, rows, loss)
    estimator._keep(path, path.index(estimator.choose), rows.scale)
    estimator.lambda_ = float(path.lambdas[estimator.index_])


def _judged(estimator: Any, rows: Prepared, loss: str) -> CVPath:
    shared: dict[str, Any] = {
        "loss": loss,
        "fold_of": rows.folds,
        "sample_weight": rows.weights,
        "n_lambdas": estimator.n_lambdas,
        "lambda_min_ratio": estimator.lambda_min_ratio,
        "tol": estimator.tol,
    }
    if estimator.variant == "adaptive":
        shared["non_negative"] = estimator.non_negative
        return cross_validated_adaptive_path(rows.D, rows.y, **shared)
    shared["l1_ratio"] = estimator.l1_ratio
    if estimator.variant == "relaxed":
        relaxed = cross_validated_relaxed_path(rows.D, rows.y, **shared)
        return relaxed.paths[relaxed.best]
    shared["non_negative"] = estimator.non_negative
    return cross_validated_path(rows.D, rows.y, **shared)
