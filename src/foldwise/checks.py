"""Every argument check once: words, numbers, weights, groups, lengths."""

import operator
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils import column_or_1d

from foldwise._sklearn import n_samples, take
from foldwise.arrays import Array, BoolArray, FloatArray, IntArray
from foldwise.errors import (
    InvalidParameterError,
    Plain,
    did_you_mean,
    invalid_data,
    invalid_parameter,
)


def check_word(owner: str, name: str, value: Any, words: Iterable[str], *, also: str = "") -> None:
    """Raise unless the value is one of the words; ``also`` says what else would have done."""
    known = list(words)
    if not isinstance(value, str) or value not in known:
        must = "be one of " + ", ".join(map(repr, known)) + (f" or {also}" if also else "")
        raise unknown_word(owner, name, value, known, must)


def unknown_word(
    owner: str, name: str, value: Any, known: Iterable[str], must: str
) -> InvalidParameterError:
    """Return the error about a word that is not known, with the nearest one that is."""
    return invalid_parameter(owner, name, must=must, got=value, fix=did_you_mean(value, known))


def check_whole(
    owner: str, name: str, value: Any, least: int, *, none: bool = False, try_: int | None = None
) -> None:
    """Raise unless the value is a whole number, at least ``least`` (or None, where allowed)."""
    if none and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        must = f"be a whole number of at least {least}{' or None' if none else ''}"
        fix = f"Try {max(least, 10) if try_ is None else try_}."
        raise invalid_parameter(owner, name, must=must, got=value, fix=fix)


def check_number(
    owner: str,
    name: str,
    value: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
    below: float | None = None,
    try_: float | None = None,
    fix: str | None = None,
) -> None:
    """Raise unless the value is a finite number within the given bounds."""
    rules: list[tuple[float | None, str, Callable[[float, float], bool]]] = [
        (above, "above", operator.gt),
        (least, "at least", operator.ge),
        (most, "at most", operator.le),
        (below, "below", operator.lt),
    ]
    words = " and ".join(f"{word} {bound:g}" for bound, word, _ in rules if bound is not None)
    number = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value))
    if not number or not all(holds(value, bound) for bound, _, holds in rules if bound is not None):
        must, fix = f"be a number {words}", fix or f"Try {try_:g}."
        raise invalid_parameter(owner, name, must=must, got=value, fix=fix)


def check_type(owner: str, name: str, value: Any, kind: type, must: str, fix: str) -> None:
    """Raise unless the value is of a type, such as something to iterate over or a mapping."""
    if not isinstance(value, kind):
        raise invalid_parameter(owner, name, must=must, got=value, fix=fix)


def check_jobs(owner: str, n_jobs: Any) -> None:
    """Raise unless this is a number of workers as joblib counts them."""
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool) and n_jobs != 0
    if n_jobs is not None and not whole:
        must, fix = "be a whole number that is not 0, or None", "Try -1 for all processors."
        raise invalid_parameter(owner, "n_jobs", must=must, got=n_jobs, fix=fix)


def check_lengths(owner: str, n_rows: int, **others: Any) -> None:
    """Raise unless every other input has as many rows as X."""
    for name, values in others.items():
        if values is not None and n_samples(values) != n_rows:
            must = f"have one entry for each of the {n_rows} rows of X"
            must += " (inconsistent numbers of samples)"
            got, fix = Plain(f"{n_samples(values)}"), "Give the same rows to both."
            raise invalid_data(owner, name, must=must, got=got, fix=fix)


def checked_weights(owner: str, sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Return the weights as floats, None for none."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_rows, sample_weight)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim != 1:
        must = "be one-dimensional (Sample weights must be 1D array or scalar)"
        got = Plain(f"shape {weights.shape}")
        raise invalid_data(owner, "sample_weight", must=must, got=got, fix="Flatten it.")
    check_lengths(owner, n_rows, sample_weight=weights)
    if not np.isfinite(weights).all() or (weights < 0).any():
        must = "be finite and not negative (Negative values in data)"
        first = float(weights[~np.isfinite(weights) | (weights < 0)][0])
        fix = "Drop these rows instead."
        raise invalid_data(owner, "sample_weight", must=must, got=first, fix=fix)
    if not weights.any():
        got, fix = Plain("all zeros"), "Leave it out for equal weights."
        raise invalid_data(owner, "sample_weight", must="not be zero everywhere", got=got, fix=fix)
    return weights


def as_counts(weights: FloatArray) -> FloatArray:
    """Return how often each row counts.

    Whole numbers say so themselves; other weights only compare rows, which then count once on
    average: their unit means nothing.
    """
    if (weights == np.round(weights)).all():
        return weights
    shares = weights / weights.max()
    return shares / shares[shares > 0].mean()


def checked_groups(owner: str, groups: Any, n_rows: int) -> IntArray | None:
    """Return the groups as codes, None for none."""
    if groups is None:
        return None
    check_lengths(owner, n_rows, groups=groups)
    values = column_or_1d(groups)
    if pd.isna(values).any():
        got = Plain(f"{int(pd.isna(values).sum())} missing")
        fix = "Give these rows a group of their own."
        raise invalid_data(owner, "groups", must="name a group for every row", got=got, fix=fix)
    return np.unique(values, return_inverse=True)[1].astype(np.intp)


def row_weights(n_rows: int, sample_weight: FloatArray | None = None) -> FloatArray:
    """Return one weight a row."""
    if sample_weight is None:
        return np.ones(n_rows)
    return np.asarray(sample_weight, dtype=np.float64)


def row_shares(n_rows: int, sample_weight: FloatArray | None = None) -> FloatArray:
    """Return the rows' weights, summing to one."""
    if sample_weight is None:
        return np.full(n_rows, 1.0 / n_rows)
    return np.asarray(sample_weight, dtype=np.float64) / np.sum(sample_weight)


def without_weightless(
    owner: str, X: Any, y: Any, sample_weight: Any, groups: Any
) -> tuple[Any, Any, FloatArray | None, Any, BoolArray | None]:
    """Return X, y, weights and groups of the rows that have weight, and a mask of these.

    The last is None where all have. Nothing that follows (classes, bins, draws, splits) can see a
    row of weight zero, so that with or without it the bits are the same.
    """
    weights = None if sample_weight is None else checked_weights(owner, sample_weight, n_samples(X))
    if weights is None or weights.all():
        return X, y, weights, groups, None
    check_lengths(owner, len(weights), y=y, groups=groups)
    rows, kept = np.flatnonzero(weights), weights > 0
    X = X.tocsr() if sparse.issparse(X) else X
    X, y, groups = (part if part is None else take(part, rows) for part in (X, y, groups))
    return X, y, weights[rows], groups, kept


def check_two_classes(owner: str, labels: Array) -> None:
    """Raise if there is nothing to tell apart."""
    if len(labels) < 2:
        only = labels[0].item() if isinstance(labels[0], np.generic) else labels[0]
        got = Plain(f"one class, {only!r}")
        fix = "There is nothing to learn from one class: check how y was made."
        raise invalid_data(owner, "y", must="hold at least two classes", got=got, fix=fix)
