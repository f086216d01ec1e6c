"""A table and the names of some columns -> features, target, weights and groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from foldwise.arrays import Array, BoolArray, FloatArray
from foldwise.auto.tables.frames import as_frame, check_columns
from foldwise.auto.tables.kinds import Kinds, column_kinds
from foldwise.auto.tables.values import numbers_of, text_of
from foldwise.checks import check_word, checked_groups, checked_weights
from foldwise.errors import FoldwiseError, Plain, invalid_data, invalid_parameter, listing

OWNER = "table_problem"
MOST_NUMBER_CLASSES = 10
MOST_CLASSES = 200
# Beyond it, not every whole number is a float.
LARGEST_WHOLE = 2.0**53


@dataclass(frozen=True)
class TableProblem:
    """What is to be learnt from a table."""

    X: pd.DataFrame  # the features
    y: Array  # the target: floats, or classes as whole numbers or words
    task: str  # what the target is
    kinds: Kinds  # what the features are
    sample_weight: FloatArray | None  # one entry a row
    groups: Array | None  # one entry a row
    notes: tuple[str, ...]  # what was decided on the way, for people
    read_as: Mapping[str, str]  # how the file was read, if the table came from one


def table_problem(
    frame: Any,
    target: str,
    *,
    task: str = "auto",
    groups: str | None = None,
    weight: str | None = None,
    drop: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    fewest_rows: int = 1,
) -> TableProblem:
    """Take a table apart into features, target, weights and groups.

    ``task``: What the target is. "auto": words and truth values are classes, and whole numbers of
    at most ten values, each in twenty rows on average; other numbers are a quantity.
    """
    check_word(OWNER, "task", task, ["auto", "regression", "classification"])
    table = as_frame(frame, OWNER)
    one = {"target": target, "groups": groups, "weight": weight}
    named = {option: [column] for option, column in one.items() if column is not None}
    named["drop"] = list(drop)
    _check_columns(named, table)
    words = text_of(table[target])
    present = words.notna().to_numpy()
    notes = _missing_note(target, present, table.attrs.get("missing", {}).get(target, []))
    table = table.loc[present].reset_index(drop=True)
    cells = None if weight is None else numbers_of(table[weight])
    weights = checked_weights(OWNER, cells, len(table))
    if weights is not None and not weights.all():
        kept = weights > 0
        notes.append(
            f"Rows left out because {weight!r} is zero: {(~kept).sum():,} of {len(kept):,}."
        )
        table, weights = table.loc[kept].reset_index(drop=True), weights[kept]
    _check_rows(len(table), fewest_rows)
    y, found, said = _read_target(table[target], task)
    used = {target, groups, weight, *drop}
    X = table[[name for name in table.columns if name not in used]]
    known = dict(kinds or {})
    check_columns(OWNER, "kind", known, X.columns)
    found_kinds = column_kinds(X, given=known)
    _check_usable(target, found_kinds)
    codes = None if groups is None else checked_groups(OWNER, text_of(table[groups]), len(X))
    read_as = dict(table.attrs.get("read_as", {}))
    return TableProblem(X, y, found, found_kinds, weights, codes, (*notes, *said), read_as)


def _refused(what: str, must: str, got: str, fix: str) -> FoldwiseError:
    return invalid_data(OWNER, what, must=must, got=Plain(got), fix=fix)


def _check_columns(named: dict[str, list[str]], table: pd.DataFrame) -> None:
    for option, columns in named.items():
        check_columns(OWNER, option, columns, table.columns)
    chosen = [column for columns in named.values() for column in dict.fromkeys(columns)]
    twice = {column for column in chosen if chosen.count(column) > 1}
    if twice:
        name, must = "target, groups, weight and drop", "name different columns"
        got, fix = Plain(f"{listing(twice)} more than once"), "Use each column for one thing."
        raise invalid_parameter(OWNER, name, must=must, got=got, fix=fix)


def _check_rows(n_rows: int, fewest_rows: int) -> None:
    if n_rows < fewest_rows:
        must = f"have at least {fewest_rows} rows with a target"
        raise _refused("the table", must, f"{n_rows:,}", "Collect more.")


def _check_usable(target: str, kinds: Kinds) -> None:
    if len(kinds.dropped) < len(kinds):
        return
    reasons = [f"{column.name!r} ({column.kind})" for column in list(kinds)[:5]]
    must = f"have columns besides {target!r} that differ and are not identifiers"
    fix = "Add what the target is to be predicted from."
    raise _refused("the table", must, ", ".join(reasons) or "none", fix)


def _missing_note(target: str, present: BoolArray, words: Sequence[str]) -> list[str]:
    missing = int((~present).sum())
    if missing == len(present):
        got = f"{missing:,} of {missing:,} missing"
        raise _refused(f"target {target!r}", "be known in some rows", got, "Name another column.")
    if not missing:
        return []
    note = f"Rows left out because {target!r} is missing: {missing:,} of {len(present):,}."
    if words:
        note += f" {listing(words)} count{'s' * (len(words) == 1)} as missing."
    return [note]


def _read_target(column: Any, task: str) -> tuple[Array, str, list[str]]:
    kind = column_kinds(pd.DataFrame({column.name: column}))[str(column.name)].kind
    _check_differs(column)
    numbers = numbers_of(column)
    numeric = not np.isnan(numbers).any() and kind not in ("boolean", "category")
    said: list[str] = []
    if task == "auto":
        classes = not numeric or _few_whole_numbers(numbers)
        task = "classification" if classes else "regression"
        if numeric and classes and len(np.unique(numbers)) > 2:
            said = [
                f"{column.name!r} has {len(np.unique(numbers))} different values, which are "
                "taken as classes; --task regression takes them as a quantity."
            ]
    if task == "regression":
        return _quantity(column, numbers), task, said
    return _classes(column, numbers, kind, numeric=numeric), task, said


def _check_differs(column: Any) -> None:
    if text_of(column).nunique() < 2:
        got = f"{column.iloc[0]!s} in every row"
        fix = "There is nothing to learn from one value: name another column."
        raise _refused(f"target {column.name!r}", "differ between rows", got, fix)


def _few_whole_numbers(numbers: FloatArray) -> bool:
    if not np.isfinite(numbers).all() or (numbers != np.round(numbers)).any():
        return False
    n_values = len(np.unique(numbers))
    return n_values == 2 or (n_values <= MOST_NUMBER_CLASSES and len(numbers) >= 20 * n_values)


def _quantity(column: Any, numbers: FloatArray) -> FloatArray:
    bad = ~np.isfinite(numbers)
    if bad.any():
        must = "be finite numbers"
        got = f"{text_of(column)[bad].iloc[0]!r} in {int(bad.sum()):,} of {len(bad):,} rows"
        raise _refused(f"target {column.name!r}", must, got, "Correct or drop these rows.")
    return numbers


def _classes(column: Any, numbers: Any, kind: str, *, numeric: bool) -> Array:
    if kind == "date":
        fix = "Turn them into a number of days first."
        raise _refused(f"target {column.name!r}", "be numbers or classes", "dates", fix)
    words = text_of(column)
    n_classes = words.nunique()
    if n_classes > max(2, min(MOST_CLASSES, len(words) // 2)):
        must = "be numbers, or classes of which each has several rows"
        got = f"{n_classes:,} different values in {len(words):,} rows"
        fix = "Name another column, or merge rare classes."
        raise _refused(f"target {column.name!r}", must, got, fix)
    whole = numeric and np.isfinite(numbers).all() and (numbers == np.round(numbers)).all()
    if whole and np.abs(numbers).max() <= LARGEST_WHOLE:
        return numbers.astype(np.int64)
    return words.to_numpy(dtype=str)
