"""Shuffling columns of any kind of table."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from foldwise.arrays import IntArray
from foldwise.errors import did_you_mean, invalid_parameter


def shuffled(X: Any, columns: Sequence[int], order: IntArray) -> Any:
    """Return a copy whose named columns have their rows in another order, all the same.

    Examples
    --------
    >>> import numpy as np
    >>> shuffled(np.array([[1, 2], [3, 4]]), [1], np.array([1, 0])).tolist()
    [[1, 4], [3, 2]]
    """
    if isinstance(X, pd.DataFrame):
        new = X.copy()
        for place in columns:
            new.isetitem(place, X.iloc[:, place].take(order).array)
        return new
    if hasattr(X, "columns"):
        names = [X.columns[place] for place in columns]
        return X.with_columns([X[name].gather(order) for name in names])
    if sparse.issparse(X):
        # Pieces beside each other: a sparse matrix cannot take a column in place cheaply.
        by_column = X.tocsc()
        pieces = [by_column[:, [place]] for place in range(X.shape[1])]
        for place in columns:
            pieces[place] = pieces[place].tocsr()[order].tocsc()
        return sparse.hstack(pieces, format=X.format)
    values = np.array(X)
    values[:, columns] = values[order][:, columns]
    return values


def column_groups(X: Any, columns: Any, owner: str) -> dict[str, list[int]]:
    """Return the places of the columns to be shuffled together, by name.

    ``columns``: None is every column by itself; a mapping gives names to lists of columns; a
    sequence picks single columns. Columns are named or numbered.
    """
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else []
    names = names or [f"x{place}" for place in range(X.shape[1])]
    if columns is None:
        return {_unlike(names, place): [place] for place in range(len(names))}
    if isinstance(columns, Mapping):
        return {
            str(name): [_place(column, names, owner) for column in group]
            for name, group in columns.items()
        }
    places = [_place(column, names, owner) for column in columns]
    return {_unlike(names, place): [place] for place in places}


def _unlike(names: list[str], place: int) -> str:
    return names[place] if names.count(names[place]) == 1 else f"{names[place]} ({place})"


def _place(column: Any, names: list[str], owner: str) -> int:
    if isinstance(column, int | np.integer) and 0 <= column < len(names):
        return int(column)
    if isinstance(column, str) and column in names:
        return names.index(column)
    raise invalid_parameter(
        owner,
        "columns",
        must="name columns of X",
        got=column,
        fix=did_you_mean(column, names),
    )
