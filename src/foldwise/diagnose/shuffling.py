"""Shuffling columns of any kind of table, and asking a model about many shuffled tables at once.

One call costs little more than another, so many tables are asked about in one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from foldwise._sklearn import take
from foldwise.arrays import FloatArray, IntArray
from foldwise.checks import unknown_word

MOST_CELLS = 4_000_000
RESPONSES = ("predict_proba", "decision_function", "predict")


def shuffled(X: Any, columns: Sequence[int], order: IntArray) -> Any:
    """Return a copy whose named columns have their rows in another order, all the same."""
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
    raise unknown_word(owner, "columns", column, names, "name columns of X")


class Replayed:
    """A model that answers about one table from what is known already."""

    def __init__(self, model: Any, table: Any) -> None:
        self._model, self._table = model, table
        self.known: dict[str, Any] = {}  # what its methods say about the table
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._model, name)
        return self._answering(name, value) if name in RESPONSES else value

    def _answering(self, name: str, ask: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def answer(X: Any) -> Any:
            if name not in self.asked:
                self.asked.append(name)
            return self.known[name] if X is self._table and name in self.known else ask(X)

        # scikit-learn's scorers look at the name to know what they got.
        answer.__name__ = name
        return answer


def scores_when_shuffled(
    model: Any,
    X: Any,
    score: Callable[[Any, Any], float],
    shuffles: Sequence[tuple[Sequence[int], IntArray]],
) -> tuple[float, FloatArray]:
    """Score a model on a table as it is, and with columns in other orders.

    The first score shows which of a model's methods are used. These are then asked about many
    tables in one call, up to four million cells: a model of many parts spends most of a small
    call on other things than rows.
    """
    replayed = Replayed(model, X)
    plain = float(score(replayed, X))
    scores = []
    for answers in _answers(model, X, shuffles, replayed.asked):
        replayed.known = answers
        scores.append(float(score(replayed, X)))
    return plain, np.array(scores)


def _answers(
    model: Any, X: Any, shuffles: Sequence[tuple[Sequence[int], IntArray]], asked: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield what the model says about each shuffled table."""
    n_rows, n_columns = X.shape
    size = max(1, MOST_CELLS // max(n_rows * n_columns, 1))
    for start in range(0, len(shuffles), size):
        part = shuffles[start : start + size]
        table = stacked(X, part)
        together = {name: np.asarray(getattr(model, name)(table)) for name in asked}
        for first in range(0, len(part) * n_rows, n_rows):
            yield {name: rows[first : first + n_rows] for name, rows in together.items()}


def stacked(X: Any, shuffles: Sequence[tuple[Sequence[int], IntArray]]) -> Any:
    """Return a table below itself, once a shuffle, each time with its columns in its order."""
    n_rows = X.shape[0]
    table = take(X, np.tile(np.arange(n_rows), len(shuffles)))
    orders: dict[tuple[int, ...], IntArray] = {}
    for number, (columns, order) in enumerate(shuffles):
        whole = orders.setdefault(tuple(columns), np.arange(n_rows * len(shuffles)))
        whole[number * n_rows : (number + 1) * n_rows] = order + number * n_rows
    for columns, whole in orders.items():
        table = shuffled(table, columns, whole)
    return table
