"""From what a user passes to ``fit`` and ``predict`` to numbers: tables, targets and weights."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.utils import check_array, check_X_y
from sklearn.utils.validation import check_is_fitted, validate_data

from foldwise.arrays import Array, BoolArray, FloatArray, IntArray
from foldwise.checks import checked_groups, without_weightless
from foldwise.errors import invalid_data, unsupported
from foldwise.learners.one_learner import is_frame
from foldwise.paths.rows import robust_delta

_RULES = {"accept_sparse": "csc", "dtype": np.float64, "ensure_all_finite": "allow-nan"}


@dataclass(frozen=True)
class Columns:
    """What the columns are called, and the levels of those that hold categories."""

    names: tuple[str, ...]  # one a column
    # for each column of categories, the values its codes 0, 1, ... stand for.
    levels: dict[int, tuple[Any, ...]]

    @classmethod
    def numeric(cls, n_features: int) -> Self:
        """Return columns of numbers called x0, x1, ..."""
        return cls(tuple(f"x{j}" for j in range(n_features)), {})


@dataclass(frozen=True)
class CodedTable:
    """A table of numbers; missing is NaN, categories are codes."""

    values: Any  # (n_rows, n_features): the numbers
    columns: Columns  # what they mean

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    def column(self, feature: int) -> FloatArray:
        """Return one column as a dense array."""
        if sparse.issparse(self.values):
            return self.values[:, [feature]].toarray().ravel()
        return self.values[:, feature]

    def rows(self, selected: Array) -> "CodedTable":
        """Return the table of the selected rows (a mask or indices)."""
        if sparse.issparse(self.values):
            return CodedTable(self.values.tocsr()[selected].tocsc(), self.columns)
        return CodedTable(self.values[selected], self.columns)

    def can_be_split(self) -> bool:
        """Say whether some column has two different values."""
        for feature in range(len(self.columns.names)):
            column = self.column(feature)
            known = column[~np.isnan(column)]
            if len(known) and known.min() < known.max():
                return True
        return False


@dataclass(frozen=True)
class TreeData:
    """Rows of positive weight to grow trees on, and the loss of what is made of the trees."""

    table: CodedTable  # features
    y: FloatArray  # targets; classes are 0, 1, ...
    weight: FloatArray  # positive weights
    loss: str = "squared"  # or "huber", "poisson", "logistic", "multinomial"
    # where the Huber loss turns linear; None for 1.345 robust standard deviations of y
    huber_delta: float | None = None
    n_outputs: int = 1  # sums a row has: one for each of several classes
    groups: Array | None = None  # groups as codes
    # the numbers the rows had when given splits were made; None if they still have them
    kept: BoolArray | None = None

    @property
    def classify(self) -> bool:
        """Whether the targets are classes."""
        return self.loss in {"logistic", "multinomial"}

    @property
    def delta(self) -> float:
        """Where the Huber loss turns linear."""
        if self.huber_delta is not None or self.loss != "huber":
            return self.huber_delta or 1.0
        return robust_delta(self.y, np.ones(len(self.y)))

    def take(self, rows: Array) -> "TreeData":
        """Return some of the rows, without their groups."""
        table, y, weight = self.table.rows(rows), self.y[rows], self.weight[rows]
        return replace(self, table=table, y=y, weight=weight, groups=None, kept=None)


def training_data(
    estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any
) -> tuple[CodedTable, Array, FloatArray, IntArray | None, BoolArray | None]:
    """Return table, targets as given, weights, groups and numbers of the rows that have weight."""
    owner = type(estimator).__name__
    X, y, weight, groups, kept = without_weightless(owner, X, y, sample_weight, groups)
    levels = frame_levels(X, owner) if is_frame(X) else {}
    rules: dict[str, Any] = {"y_numeric": is_regressor(estimator), "ensure_min_samples": 2}
    if levels:
        validate_data(estimator, X, skip_check_array=True)
        values, y = check_X_y(frame_numbers(X, levels), y, estimator=estimator, **rules, **_RULES)
    else:
        values, y = validate_data(estimator, X, y, **rules, **_RULES)
    names = getattr(estimator, "feature_names_in_", Columns.numeric(values.shape[1]).names)
    table = CodedTable(_known_to_lightgbm(values), Columns(tuple(names), levels))
    weight = np.ones(len(y)) if weight is None else weight
    return table, y, weight, checked_groups(owner, groups, len(y)), kept


def new_table(estimator: Any, X: Any) -> CodedTable:
    """Validate the argument of ``predict``."""
    check_is_fitted(estimator)
    levels = estimator.columns_.levels
    if levels:
        if not is_frame(X):
            owner, must = type(estimator).__name__, "be a data frame, as in fit"
            fix = "Columns of categories are known by their values."
            raise invalid_data(owner, "X", must=must, got=type(X).__name__, fix=fix)
        validate_data(estimator, X, skip_check_array=True, reset=False)
        values = check_array(frame_numbers(X, levels), estimator=estimator, **_RULES)
    else:
        values = validate_data(estimator, X, reset=False, **_RULES)
    return CodedTable(_known_to_lightgbm(values), estimator.columns_)


def _known_to_lightgbm(values: Any) -> Any:
    """Return sparse arrays as sparse matrices, the only ones LightGBM takes."""
    return sparse.csc_matrix(values) if sparse.issparse(values) else values


def frame_levels(X: Any, owner: str) -> dict[int, tuple[Any, ...]]:
    """Return the levels of every column of categories (category, text, bool) of a data frame."""
    found: dict[int, tuple[Any, ...]] = {}
    for position, name in enumerate(X.columns):
        series = _series(X, name)
        if pd.api.types.is_numeric_dtype(series) and not pd.api.types.is_bool_dtype(series):
            continue
        if pd.api.types.is_datetime64_any_dtype(series):
            must = "hold numbers, categories, text or booleans"
            fix = "Turn dates into numbers first, e.g. year, month and weekday."
            raise unsupported(owner, "X", must=must, got=f"dates in {name!r}", fix=fix)
        values = pd.Categorical(series).remove_unused_categories().categories
        found[position] = tuple(_plain(value) for value in values)
    return found


def frame_numbers(X: Any, levels: dict[int, tuple[Any, ...]]) -> FloatArray:
    """Return a data frame as numbers; a level not in ``levels`` gets the next free code.

    Shapes: returns (n_rows, n_features).
    """
    numbers = np.empty(X.shape, dtype=np.float64)
    for position, name in enumerate(X.columns):
        series = _series(X, name)
        if position not in levels:
            numbers[:, position] = pd.to_numeric(series).to_numpy(dtype=float, na_value=np.nan)
            continue
        plain = series.astype(object).map(_plain, na_action="ignore")
        codes = pd.Index(levels[position]).get_indexer(plain).astype(float)
        codes[codes < 0] = len(levels[position])
        codes[series.isna().to_numpy()] = np.nan
        numbers[:, position] = codes
    return numbers


def _series(X: Any, name: Any) -> "pd.Series[Any]":
    column = X[name]
    return column if isinstance(column, pd.Series) else pd.Series(column.to_numpy())


def _plain(value: Any) -> Any:
    """Return the value as text, number or bool, so that it can be written down and read back."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float | bool) else str(value)
