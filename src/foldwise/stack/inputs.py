"""Checking what the user gives: tables, targets, weights, groups, columns."""

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from foldwise._sklearn import take
from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.checks import check_two_classes
from foldwise.errors import (
    Plain,
    did_you_mean,
    invalid_data,
    invalid_parameter,
    listing,
    unsupported,
)


def checked_table(owner: str, X: Any, fewest: int = 1) -> Any:
    """Return X as something rows can be taken from; frames stay as they are."""
    if sparse.issparse(X):
        return X.tocsr()
    if hasattr(X, "columns") and hasattr(X, "shape"):
        return X
    table = check_array(X, dtype=None, ensure_all_finite=False, ensure_min_samples=fewest)
    if table.dtype == object:
        kinds = {type(value) for value in table.ravel()}
        nested = kinds & {dict, list, tuple, set}
        if nested:
            must = "hold numbers or strings (each argument must be a string or a number)"
            got, fix = Plain(f"a {nested.pop().__name__}"), "Spread it over columns of its own."
            raise unsupported(owner, "X", must=must, got=got, fix=fix)
    return table


def _bad_target(owner: str, must: str, got: str, fix: str = "Drop these rows.") -> Exception:
    return invalid_data(owner, "y", must=must, got=Plain(got), fix=fix)


def checked_values(owner: str, y: Any) -> FloatArray:
    """Return regression targets, of one dimension or (n_samples, n_targets)."""
    values = np.asarray(y)
    if values.ndim != 2 or values.shape[1] == 1:
        values = column_or_1d(values, warn=True)
    try:
        values = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        got = f"{values.dtype} values such as {values.ravel()[0]!r}"
        fix = "Use StackingClassifier for classes."
        raise _bad_target(owner, "be numbers", got, fix) from error
    bad = int((~np.isfinite(values)).sum())
    if bad:
        must = "hold no NaN or infinity (y contains NaN or inf)"
        raise _bad_target(owner, must, f"{bad} such value{'s' if bad > 1 else ''}")
    return values


def checked_classes(owner: str, y: Any) -> tuple[IntArray, Array]:
    """Return class codes and the classes behind them."""
    array = np.asarray(y)
    if array.ndim > 1 and array.shape[1] > 1:
        must = "hold one class a row; several labels a row (multilabel) are not supported yet"
        raise _bad_target(owner, must, f"shape {array.shape}", "Fit one stack a label.")
    values = column_or_1d(array, warn=True)
    infinite = int(np.isinf(values).sum()) if values.dtype.kind == "f" else 0
    if infinite:
        must = "hold classes, not infinity (y contains inf)"
        raise _bad_target(owner, must, f"{infinite} infinite")
    missing = int(pd.isna(values).sum())
    if missing:
        must = "hold no missing class (y contains NaN)"
        raise _bad_target(owner, must, f"{missing} missing")
    check_classification_targets(values)
    labels, codes = np.unique(values, return_inverse=True)
    check_two_classes(owner, labels)
    return codes.astype(np.intp), labels


def plain(label: Any) -> Any:
    """Return a label as a Python object, for messages."""
    return label.item() if isinstance(label, np.generic) else label


def passed_columns(owner: str, passthrough: Any, X: Any, learners: Iterable[str] = ()) -> Any:
    """Return None, a full slice for all columns, or the names or numbers of some."""
    if passthrough is False or passthrough is None:
        return None

    def wrong(must: str, got: Iterable[Any], fix: str) -> Exception:
        return invalid_parameter(owner, "passthrough", must=must, got=listing(got), fix=fix)

    known, width = [str(name) for name in getattr(X, "columns", [])], X.shape[1]
    wanted: list[Any] = [passthrough] if isinstance(passthrough, str | bool) else [*passthrough]
    named = hasattr(X, "columns") and all(isinstance(name, str) for name in wanted)
    if passthrough is True or named:
        columns = known if passthrough is True else wanted
        both = [c for c in columns if any(c == n or c.startswith(f"{n}__") for n in learners)]
        unknown = [name for name in columns if name not in known]
        if both:
            raise wrong("hold no column named like a learner", both, "Rename the learner.")
        if unknown:
            raise wrong("name columns of X", unknown, did_you_mean(unknown[0], known))
        return slice(None) if passthrough is True else wanted
    whole = [isinstance(c, numbers.Integral) and -width <= c < width for c in wanted]
    if not all(whole):
        beyond = [c for c, inside in zip(wanted, whole, strict=True) if not inside]
        fix = "Use column names of a DataFrame, or column numbers."
        raise wrong(f"be a bool or columns of X, which has {width}", beyond, fix)
    return [int(column) for column in wanted]


def check_columns(owner: str, name: str, columns: Any, X: Any) -> None:
    """Raise unless a learner's columns are in X."""
    try:
        take(X[:1] if isinstance(X, np.ndarray) else X, columns, axis=1)
    except (ValueError, IndexError, KeyError, TypeError) as error:
        known = [str(c) for c in X.columns] if hasattr(X, "columns") else []
        wanted = columns if isinstance(columns, list) else [columns]
        unknown = [c for c in wanted if c not in known]
        fix = f"X has columns 0 to {X.shape[1] - 1}."
        if known and unknown:
            fix = did_you_mean(unknown[0], known)
        must = f"name columns of X for {name!r}"
        raise invalid_parameter(owner, "estimators", must=must, got=columns, fix=fix) from error
