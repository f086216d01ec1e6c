"""Lasso, ridge and elastic net with a cross-validated penalty, for many losses."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

from foldwise.arrays import Array
from foldwise.checks import check_number, check_whole, check_word
from foldwise.errors import unsupported
from foldwise.paths.adaptive import cross_validated_adaptive_path
from foldwise.paths.cross_validation import CVPath, cross_validated_path
from foldwise.paths.linear import LinearPath, LinearPathClassifier, LinearPathRegressor
from foldwise.paths.relaxed import cross_validated_relaxed_path
from foldwise.paths.rows import check_counts


@dataclass(eq=False, repr=False)
class LassoPath(LinearPath):
    """A cross-validated elastic-net penalty: the plain path, or one of its variants."""

    _: KW_ONLY
    variant: str = "plain"
    l1_ratio: float = 1.0
    n_lambdas: int = 100
    lambda_min_ratio: float = 1e-2
    non_negative: bool = False
    tol: float = 1e-4

    @property
    def lambda_(self) -> float:
        """The penalty chosen."""
        return float(self.path_.lambdas[self.index_])

    def _check_parameters(self, owner: str) -> None:
        check_word(owner, "variant", self.variant, ("plain", "relaxed", "adaptive"))
        check_whole(owner, "n_lambdas", self.n_lambdas, 1, try_=100)
        ratio, fix = self.lambda_min_ratio, "Try 1.0, the lasso; 0 is ridge."
        check_number(owner, "lambda_min_ratio", ratio, above=0, most=1, try_=0.001)
        check_number(owner, "l1_ratio", self.l1_ratio, least=0, most=1, fix=fix)
        check_number(owner, "tol", self.tol, above=0, try_=1e-4)
        refused = {"relaxed": ("non_negative", False), "adaptive": ("l1_ratio", 1.0)}
        if self.variant not in refused:
            return
        name, needed = refused[self.variant]
        if getattr(self, name) != needed:
            must, got = f"be {needed} with variant={self.variant!r}", getattr(self, name)
            raise unsupported(owner, name, must=must, got=got, fix="Use variant='plain'.")

    def _judged(self, D: Any, y: Array, **rows: Any) -> CVPath:
        shared: dict[str, Any] = rows | {
            "loss": self.loss,
            "n_lambdas": self.n_lambdas,
            "lambda_min_ratio": self.lambda_min_ratio,
            "tol": self.tol,
        }
        if self.variant == "relaxed":
            relaxed = cross_validated_relaxed_path(D, y, l1_ratio=self.l1_ratio, **shared)
            return relaxed.paths[relaxed.best]
        shared["non_negative"] = self.non_negative
        if self.variant == "adaptive":
            return cross_validated_adaptive_path(D, y, **shared)
        return cross_validated_path(D, y, l1_ratio=self.l1_ratio, **shared)


@dataclass(eq=False, repr=False)
class LassoPathRegressor(LinearPathRegressor, LassoPath):
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

    _: KW_ONLY
    loss: str = "squared"
    lambda_min_ratio: float = 1e-3

    def _check_parameters(self, owner: str) -> None:
        check_word(owner, "loss", self.loss, ("squared", "poisson", "huber"))
        super()._check_parameters(owner)

    def _target(self, owner: str, y: Array) -> Array:
        if self.loss == "poisson":
            check_counts(owner, y)
        return y.astype(float)


class LassoPathClassifier(LinearPathClassifier, LassoPath):
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
