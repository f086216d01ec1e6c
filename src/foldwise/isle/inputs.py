"""From what a user passes to ``fit`` and ``predict`` to tables, targets and weights."""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length, check_X_y, column_or_1d
from sklearn.utils.validation import validate_data

from foldwise.arrays import Array, FloatArray
from foldwise.errors import invalid_data
from foldwise.isle.table import CodedTable, Columns, frame_levels, frame_numbers, is_frame

_RULES = {"accept_sparse": "csc", "dtype": np.float64, "ensure_all_finite": "allow-nan"}


@dataclass(frozen=True)
class TreeData:
    """Rows with a positive weight."""

    table: CodedTable  # features
    y: Array  # targets as given
    weight: FloatArray  # positive weights
    groups: Array | None  # groups as given


def training_data(
    estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any, *, y_numeric: bool
) -> TreeData:
    """Validate the arguments of ``fit`` and note the columns in the estimator."""
    levels = frame_levels(X, type(estimator).__name__) if is_frame(X) else {}
    if levels:
        validate_data(estimator, X, skip_check_array=True)
        numbers = frame_numbers(X, levels)
        values, y = check_X_y(
            numbers, y, y_numeric=y_numeric, estimator=estimator, ensure_min_samples=2, **_RULES
        )
    else:
        values, y = validate_data(
            estimator, X, y, y_numeric=y_numeric, ensure_min_samples=2, **_RULES
        )
    names = getattr(estimator, "feature_names_in_", None)
    plain = Columns.numeric(values.shape[1]).names
    estimator.columns_ = Columns(plain if names is None else tuple(names), levels)
    weight = _weights(type(estimator).__name__, sample_weight, len(y))
    used = weight > 0
    table = CodedTable(_known_to_lightgbm(values), estimator.columns_)
    if groups is not None:
        groups = column_or_1d(groups)
        check_consistent_length(y, groups)
        groups = groups[used]
    if used.all():
        return TreeData(table, y, weight, groups)
    return TreeData(table.rows(used), y[used], weight[used], groups)


def new_table(estimator: Any, X: Any) -> CodedTable:
    """Validate the argument of ``predict``."""
    levels = estimator.columns_.levels
    if levels:
        if not is_frame(X):
            raise invalid_data(
                type(estimator).__name__,
                "X",
                must="be a data frame, as in fit",
                got=type(X).__name__,
                fix="Columns of categories are known by their values.",
            )
        validate_data(estimator, X, skip_check_array=True, reset=False)
        values = check_array(frame_numbers(X, levels), estimator=estimator, **_RULES)
    else:
        values = validate_data(estimator, X, reset=False, **_RULES)
    return CodedTable(_known_to_lightgbm(values), estimator.columns_)


def _known_to_lightgbm(values: Any) -> Any:
    """Return sparse arrays as sparse matrices, the only ones LightGBM takes."""
    return sparse.csc_matrix(values) if sparse.issparse(values) else values


def _weights(owner: str, sample_weight: Any, n_rows: int) -> FloatArray:
    if sample_weight is None:
        return np.ones(n_rows)
    if isinstance(sample_weight, Real):
        return np.full(n_rows, float(sample_weight))
    weight = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="weights")
    if weight.shape != (n_rows,):
        raise invalid_data(
            owner,
            "sample_weight",
            must=f"have one entry for each of the {n_rows} rows",
            got=weight.shape,
            fix="Pass a one-dimensional array as long as y.",
        )
    if (weight < 0).any() or not weight.any():
        raise invalid_data(
            owner,
            "sample_weight",
            must="be non-negative and not all zero",
            got=float(weight.min()),
            fix="Drop rows by giving them weight 0.",
        )
    return weight
