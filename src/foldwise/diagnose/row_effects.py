"""Why one row is predicted as it is: what each of its columns adds, by sampled Shapley values."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from foldwise.arrays import FloatArray, IntArray
from foldwise.diagnose.shapley import standard_errors
from foldwise.diagnose.table import as_text
from foldwise.errors import Plain, invalid_data

Predict = Callable[[pd.DataFrame], FloatArray]
MOST_ROWS_AT_ONCE = 20_000


@dataclass(frozen=True)
class RowEffects:
    """What each column adds to the prediction of one row.

    Attributes
    ----------
    columns : tuple of str
        The columns.
    values : tuple of str
        The row's cells, as text.
    effects : ndarray of shape (n_columns,)
        What each column adds.
    errors : ndarray of shape (n_columns,)
        The standard error of that, since not all orders are tried.
    base : float
        Mean prediction of the rows compared with.
    prediction : float
        The row's own: ``base`` and all effects together.
    """

    columns: tuple[str, ...]
    values: tuple[str, ...]
    effects: FloatArray
    errors: FloatArray
    base: float
    prediction: float

    def to_frame(self) -> pd.DataFrame:
        """Return one row a column, the largest effect first."""
        cells = {"column": self.columns, "value": self.values}
        frame = pd.DataFrame({**cells, "adds": self.effects, "se": self.errors})
        return frame.sort_values("adds", key=abs, ascending=False, kind="stable", ignore_index=True)

    def __str__(self) -> str:
        table = as_text(self.to_frame())
        return f"{self.base:.4g} on average, {self.prediction:.4g} for this row\n{table}"


def row_effects(
    predict: Predict,
    row: pd.DataFrame,
    background: pd.DataFrame,
    *,
    n_orders: int = 100,
    random_state: int = 0,
) -> RowEffects:
    """Return what each column of a row adds to its prediction.

    Parameters
    ----------
    predict : callable
        Rows of a DataFrame -> one number each: ``stack.predict``, or the probability of a class.
    row : DataFrame of one row
        The row to explain.
    background : DataFrame
        Rows to compare with.
    n_orders : int, default=100
        Random orders of the columns, each taken forwards and backwards.
    random_state : int, default=0
        Draws orders and background rows.

    Returns
    -------
    RowEffects
        Effects that add up to the prediction, with their standard errors.

    Notes
    -----
    Each order starts from a row of the background and takes over the explained row's cells one
    by one; a column's effect is the mean change when its turn comes: the Shapley value of the
    game in which columns that have not joined keep a background row's cells. Cost:
    2 · n_orders · (n_columns + 1) predictions.

    References
    ----------
    .. [1] Štrumbelj and Kononenko (2014). Explaining prediction models and individual
       predictions with feature contributions. Knowledge and Information Systems 41, 647-665.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"a": [0.0, 2.0], "b": [1.0, 1.0]})
    >>> found = row_effects(lambda X: (3 * X["a"] + X["b"]).to_numpy(), rows.iloc[[1]], rows)
    >>> bool(abs(found.effects.sum() + found.base - found.prediction) < 1e-12), found.effects[1]
    (True, np.float64(0.0))
    """
    if not isinstance(row, pd.DataFrame) or len(row) != 1:
        rows = f" of {row.shape[0]}" if getattr(row, "shape", ()) else ""
        got = Plain(type(row).__name__ + rows)
        must, fix = "be a DataFrame of one row", "Use X.iloc[[0]]."
        raise invalid_data("row_effects", "row", must=must, got=got, fix=fix)
    rng = np.random.default_rng(random_state)
    pool = pd.concat([row, background], ignore_index=True)
    orders = [rng.permutation(row.shape[1]) for _ in range(n_orders)]
    ways = [way for order in orders for way in (order, order[::-1])]
    # Every row of the background in its turn: the base is then their mean, not that of a draw.
    starts = np.repeat(1 + np.resize(rng.permutation(len(background)), n_orders), 2)
    paths = _predict_paths(predict, pool, ways, starts)
    changes = np.empty((len(ways), row.shape[1]))
    for change, way, path in zip(changes, ways, paths, strict=True):
        change[way] = np.diff(path)
    # Forwards and backwards belong together: their mean is one draw.
    draws = changes.reshape(n_orders, 2, -1).mean(axis=1)
    cells = tuple(map(str, row.columns)), tuple(map(str, row.iloc[0]))
    effects = draws.mean(axis=0), np.nan_to_num(standard_errors(draws))
    return RowEffects(*cells, *effects, float(paths[:, 0].mean()), float(paths[0, -1]))


def _predict_paths(
    predict: Predict, pool: pd.DataFrame, ways: list[IntArray], starts: IntArray
) -> FloatArray:
    """Return the predictions on the way from each start to row 0 of the pool, one row a way."""
    n_steps = pool.shape[1] + 1
    together = max(1, MOST_ROWS_AT_ONCE // n_steps)
    paths = []
    for first in range(0, len(ways), together):
        part = range(first, min(first + together, len(ways)))
        sources = np.concatenate([_sources(ways[k], int(starts[k])) for k in part])
        taken: dict[Any, Any] = {
            name: pool[name].take(sources[:, j]).array for j, name in enumerate(pool.columns)
        }
        paths.append(np.asarray(predict(pd.DataFrame(taken)), dtype=np.float64))
    return np.concatenate(paths).reshape(len(ways), n_steps)


def _sources(way: IntArray, start: int) -> IntArray:
    """Return the pool's row that each cell is taken from, shape (n_columns + 1, n_columns)."""
    steps, turn = np.arange(len(way) + 1)[:, None], np.argsort(way)
    return np.where(steps > turn, 0, start)
