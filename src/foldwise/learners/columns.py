"""A transformer that picks columns and keeps their types."""

from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin

from foldwise._sklearn import take


class PickColumns(TransformerMixin, BaseEstimator):
    """Pick columns by name, number, mask or slice.

    Parameters
    ----------
    columns : list, slice or ndarray
        The columns.

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
        """Do nothing.

        Parameters
        ----------
        X, y : ignored
            There for scikit-learn.

        Returns
        -------
        Self
            This transformer.
        """
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def transform(self, X: Any) -> Any:
        """Return the columns.

        Parameters
        ----------
        X : array or frame
            Any rows.

        Returns
        -------
        array or frame
            The picked columns, types kept.
        """
        return take(X, self.columns, axis=1)
