"""Tables with categories -> numbers: codes by the categories of the training rows."""

from typing import Any

import numpy as np
import pandas as pd

from foldwise._sklearn import take
from foldwise.arrays import Array, FloatArray
from foldwise.boost.learner import is_frame
from foldwise.errors import Plain, invalid_parameter, listing

Categories = dict[int, Array]
WORDS = ("categor", "enum", "str", "utf8", "object")


def categorical_columns(owner: str, X: Any, wanted: Any) -> list[int]:
    """Return the positions of the columns to be treated as categories."""
    names = list(X.columns) if is_frame(X) else []
    if wanted is None:
        return []
    if isinstance(wanted, str) and wanted == "from_dtype":
        return [i for i in range(len(names)) if _is_categorical(take(X, i, axis=1))]
    chosen = list(wanted)
    if len(chosen) == X.shape[1] and all(isinstance(c, bool | np.bool_) for c in chosen):
        return [int(i) for i in np.flatnonzero(chosen)]
    unknown = [c for c in chosen if isinstance(c, str) and c not in names]
    unknown += [c for c in chosen if not isinstance(c, str) and not 0 <= c < X.shape[1]]
    if unknown:
        raise invalid_parameter(
            owner,
            "categorical_features",
            must="name columns of X",
            got=listing(unknown),
            fix="Use names, positions, a mask or 'from_dtype'.",
        )
    return [names.index(c) if isinstance(c, str) else int(c) for c in chosen]


def _is_categorical(column: Any) -> bool:
    return str(column.dtype).lower().startswith(WORDS)


def learn_categories(X: Any, columns: list[int]) -> Categories:
    """Return the sorted values of each categorical column, missing ones left out.

    Examples
    --------
    >>> import numpy as np
    >>> learn_categories(np.array([[3.0, 1.0], [2.0, 1.0]]), [0])
    {0: array([2., 3.])}
    """
    return {i: _sorted(pd.Series(_values(X, i)).dropna().unique()) for i in columns}


def _sorted(values: Any) -> Array:
    try:
        return np.asarray(sorted(values))
    except TypeError:
        return np.asarray(sorted(values, key=str), dtype=object)


def _values(X: Any, i: int) -> Array:
    return np.asarray(take(X, i, axis=1)) if is_frame(X) else np.asarray(X)[:, i]


def encode(owner: str, X: Any, categories: Categories) -> FloatArray:
    """Return the table as numbers: codes in the categorical columns, NaN for unseen values.

    Shapes: returns (n_samples, n_features).
    """
    table = np.empty(X.shape, dtype=np.float64)
    for i in range(X.shape[1]):
        values = _values(X, i)
        if i in categories:
            codes = pd.Index(categories[i]).get_indexer(pd.Index(values))
            table[:, i] = np.where(codes < 0, np.nan, codes)
            continue
        try:
            table[:, i] = values
        except (TypeError, ValueError) as error:
            name = X.columns[i] if is_frame(X) else i
            raise invalid_parameter(
                owner,
                "categorical_features",
                must="name every column that is not of numbers",
                got=Plain(f"column {name!r} of {values.dtype} left out"),
                fix="Use 'from_dtype' or add it.",
            ) from error
    return table
