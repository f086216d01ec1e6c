"""Columns made for linear models: kernel features and splines."""

from typing import Any, Self

import numpy as np
import pandas as pd
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
        """Return the features. Shapes: returns (n_samples, n_components)."""
        check_is_fitted(self, "kernel_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self.kernel_.transform(X))


FEW_VALUES = 10


class SplineColumns(TransformerMixin, BaseEstimator):
    """Spread columns of many values over cubic splines; leave the others as they are.

    ``n_knots``: Knots of each column, evenly spaced over its range; outside the splines stay as
    they end.
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


OPERATIONS = (np.add, np.subtract, np.multiply, np.divide)


class ArithmeticColumns(TransformerMixin, BaseEstimator):
    """Sums, differences, products and ratios of two columns of numbers, drawn without the target.

    ``n_new``: Most columns that are added to those there are. What is divided by zero is missing.

    References
    ----------
    .. [1] TabPrep (2026), arXiv 2606.02384: the arithmetic part of it.
    """

    def __init__(self, n_new: int = 150, random_state: int = 0) -> None:
        self.n_new = n_new
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw pairs of columns and what is done with them."""
        validate_data(self, X, skip_check_array=True)
        numbers = [j for j in range(X.shape[1]) if _is_measured(_cells(X, j))]
        first, second = (
            np.array(numbers, dtype=np.intp)[k] for k in np.triu_indices(len(numbers), 1)
        )
        each = len(first) * len(OPERATIONS)
        drawn = np.random.default_rng(self.random_state).permutation(each)[: self.n_new]
        pairs = drawn // len(OPERATIONS)
        self.terms_ = np.column_stack([drawn % len(OPERATIONS), first[pairs], second[pairs]])
        return self

    def transform(self, X: Any) -> Any:
        """Return all columns, and after them the new ones; a frame stays one."""
        check_is_fitted(self, "terms_")
        new = np.empty((X.shape[0], len(self.terms_)))
        with np.errstate(all="ignore"):
            for k, (operation, i, j) in enumerate(self.terms_):
                OPERATIONS[operation](_cells(X, i), _cells(X, j), out=new[:, k])
        new[~np.isfinite(new)] = np.nan
        if not isinstance(X, pd.DataFrame):
            return np.hstack([X, new])
        names = [f"a{k}" for k in range(new.shape[1])]
        return pd.concat([X, pd.DataFrame(new, X.index, names)], axis=1)


def _cells(X: Any, j: int) -> Any:
    return X.iloc[:, j].to_numpy() if isinstance(X, pd.DataFrame) else X[:, j]


def _is_measured(column: Any) -> bool:
    """Tell whether a column holds numbers of more than two values."""
    return getattr(column.dtype, "kind", "O") == "f" and len(np.unique(column[:1000])) > 2
