"""A transformer that picks columns and keeps their types."""

from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin

from foldwise._sklearn import take


class PickColumns(TransformerMixin, BaseEstimator):
    """Pick columns by name, number, mask or slice.

    Examples
    --------
    >>> import numpy as np
    >>> PickColumns([1]).fit_transform(np.array([[1, 2], [3, 4]]))
    array([[2],
           [4]])
    """

    def __init__(self, columns: Any) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def transform(self, X: Any) -> Any:
        """Return the columns."""
        return take(X, self.columns, axis=1)
