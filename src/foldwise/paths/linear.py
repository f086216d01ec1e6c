"""What the linear path estimators share: preparing rows, and predicting from coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from foldwise.arrays import FloatArray, IntArray
from foldwise.errors import invalid_data
from foldwise.paths.dealing import deal_folds


@dataclass(frozen=True)
class Prepared:
    """Rows of positive weight, their columns in units of one standard deviation."""

    D: Any
    y: NDArray
    weights: FloatArray
    folds: IntArray
    scale: FloatArray
    classes: Any


def prepare(
    estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any, *, classify: bool
) -> Prepared:
    """Validate the arguments of ``fit``, deal the folds, and scale the columns if asked to."""
    owner = type(estimator).__name__
    X, y = validate_data(
        estimator,
        X,
        y,
        accept_sparse="csr",
        dtype=np.float64,
        y_numeric=not classify,
        ensure_min_samples=2,
    )
    weights = row_weights(owner, sample_weight, len(y))
    if groups is not None:
        groups = column_or_1d(groups)
        check_consistent_length(y, groups)
    classes, target = _coded(owner, y, weights) if classify else (None, y.astype(float))
    seed = check_random_state(estimator.random_state).randint(2**31)
    rng = np.random.default_rng(seed)
    folds = deal_folds(owner, estimator.cv, target, classify=classify, groups=groups, rng=rng)
    used = weights > 0
    X, target, weights, folds = X[used], target[used], weights[used], folds[used]
    scale = column_sizes(X, weights) if estimator.standardize else np.ones(X.shape[1])
    D = X @ sparse.diags_array(1.0 / scale) if sparse.issparse(X) else X / scale
    return Prepared(D, target, weights, folds, scale, classes)


def row_weights(owner: str, sample_weight: Any, n_rows: int) -> FloatArray:
    """Return one weight for every row, or say what is wrong with them."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.asarray(sample_weight, dtype=float)
    weights = np.full(n_rows, float(weights)) if weights.ndim == 0 else weights
    fine = weights.shape == (n_rows,) and bool((weights >= 0).all()) and weights.any()
    if not fine or not np.isfinite(weights).all():
        raise invalid_data(
            owner,
            "sample_weight",
            must=f"be {n_rows} numbers, none negative and not all zero",
            got=sample_weight,
            fix="Leave it out to weigh all rows alike.",
        )
    return weights


def column_sizes(X: Any, weights: FloatArray) -> FloatArray:
    """Return the weighted standard deviation of every column, one for constant columns.

    Examples
    --------
    >>> import numpy as np
    >>> column_sizes(np.array([[0.0, 7.0], [2.0, 7.0]]), np.ones(2))
    array([1., 1.])
    """
    share = weights / weights.sum()
    mean = np.asarray(X.T @ share)
    if sparse.issparse(X):
        variance = np.asarray(X.multiply(X).T @ share) - mean**2
    else:
        variance = share @ (X - mean) ** 2
    varies = variance > 1e-12 * (mean**2 + variance)
    return np.sqrt(np.where(varies, variance, 1.0))


def _coded(owner: str, y: NDArray, weights: FloatArray) -> tuple[NDArray, IntArray]:
    check_classification_targets(y)
    classes = np.unique(y[weights > 0])
    if len(classes) < 2:
        raise invalid_data(
            owner,
            "y",
            must="hold at least two classes",
            got=classes.tolist(),
            fix="With one class there is nothing to tell apart.",
        )
    codes = np.searchsorted(classes, y).clip(0, len(classes) - 1)
    return classes, codes


class LinearPredictor(BaseEstimator):
    """Predictions from ``coef_`` and ``intercept_``."""

    def _linear(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_.T) + self.intercept_

    def _keep(self, path: Any, index: int, scale: FloatArray) -> None:
        """Store the path, and the coefficients of one of its points in the user's units."""
        self.path_, self.index_ = path, index
        self.coef_ = path.coefs[index] / scale
        self.intercept_ = path.intercepts[index]

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: sparse input is welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearClassifier(LinearPredictor):
    """Class probabilities from ``coef_`` and ``intercept_``."""

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log-odds of the second class, or the linear predictor of every class.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The predictors.
        """
        eta = self._linear(X)
        return eta[:, 0] if eta.shape[1] == 1 else eta

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of every class.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        eta = self.decision_function(X)
        if eta.ndim == 1:
            return np.column_stack([expit(-eta), expit(eta)])
        return np.asarray(softmax(eta, axis=1))

    def predict(self, X: Any) -> NDArray:
        """Return the most probable class of every row.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.
        """
        eta = self.decision_function(X)
        best = (eta > 0).astype(int) if eta.ndim == 1 else eta.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _keep(self, path: Any, index: int, scale: FloatArray) -> None:
        super()._keep(path, index, scale)
        self.coef_ = np.atleast_2d(self.coef_)
        self.intercept_ = np.atleast_1d(self.intercept_)
