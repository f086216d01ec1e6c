"""Columns made for linear models: kernel features and splines."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import SplineTransformer
from sklearn.utils.validation import check_is_fitted, validate_data

from foldwise.arrays import FloatArray


class KernelFeatures(TransformerMixin, BaseEstimator):
    """Similarity to some training rows by a Gaussian kernel, decorrelated (Nyström).

    ``width``: Squared width of the kernel, relative to the number of columns times their variance.

    References
    ----------
    .. [1] Williams and Seeger (2001). Using the Nyström method to speed up kernel machines.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> KernelFeatures(n_components=20, random_state=0).fit_transform(X).shape
    (100, 20)
    """

    def __init__(
        self, width: float = 1.0, n_components: int = 300, random_state: Any = None
    ) -> None:
        self.width = width
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw rows and decorrelate their kernel."""
        X = validate_data(self, X, dtype=np.float64)
        spread = X.shape[1] * X.var()
        self.kernel_ = Nystroem(
            gamma=1.0 / (self.width * spread) if spread > 0 else 1.0,
            n_components=min(self.n_components, max(len(X) // 2, 1)),
            random_state=self.random_state,
        ).fit(X)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the features.

        Shapes: returns (n_samples, n_components).
        """
        check_is_fitted(self, "kernel_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self.kernel_.transform(X))


FEW_VALUES = 10


class SplineColumns(TransformerMixin, BaseEstimator):
    """Spread columns of many values over cubic splines; leave the others as they are.

    ``n_knots``: Knots of each column, evenly spaced over its range; outside the splines stay as
    they end.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.column_stack([np.arange(40.0) ** 3, np.arange(40) % 2])
    >>> splines = SplineColumns().fit(X)
    >>> splines.many_
    array([ True, False])
    >>> splines.transform(X).shape
    (40, 12)
    """

    def __init__(self, n_knots: int = 8) -> None:
        self.n_knots = n_knots

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the columns and their knots."""
        X = validate_data(self, X, dtype=np.float64)
        self.many_ = np.array([len(np.unique(column)) > FEW_VALUES for column in X.T], dtype=bool)
        self.splines_ = None
        if self.many_.any():
            splines = SplineTransformer(self.n_knots, extrapolation="constant")
            self.splines_ = splines.fit(X[:, self.many_])
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return all columns, and after them the splines of those with many values.

        Shapes: returns (n_samples, n_out).
        """
        check_is_fitted(self, "many_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if self.splines_ is None:
            return X
        return np.hstack([X, self.splines_.transform(X[:, self.many_])])
