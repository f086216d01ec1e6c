"""Everything foldwise takes from scikit-learn that is not public there, each with its reason."""

from typing import Any

from sklearn.utils import _safe_indexing


def take(X: Any, indices: Any, axis: int) -> Any:
    """Return rows (axis 0) or columns (axis 1) of an array, sparse matrix or data frame.

    scikit-learn's own indexing, which its meta-estimators use: there is no public twin that
    knows NumPy, SciPy, pandas and polars alike.
    """
    return _safe_indexing(X, indices, axis=axis)
