"""What the rows look like: the target, and the columns while they are still there."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from foldwise._sklearn import take
from foldwise.arrays import Array
from foldwise.report.blocks import Block, Column, Figure, Figures, PageTable, Section, Terms
from foldwise.report.drawing.bars import bars, histogram
from foldwise.scores.metric import Target
from foldwise.wording import counted, number, percent, shortened

MOST_COLUMNS = 40
MOST_CLASSES = 20


def data_section(target: Target, X: Any, names: Any, kinds: Any = ()) -> Section:
    """Return a summary of the target and the columns."""
    n_rows, weight = len(target.y), target.weight
    pairs = [("Rows", f"{n_rows:,}")]
    if X is not None or names is not None:
        pairs.append(("Columns", f"{len(names) if X is None else X.shape[1]:,}"))
    if target.labels is not None:
        pairs.append(("Classes", f"{len(target.labels):,}"))
    if weight is not None:
        pairs.append(("Weights", f"{number(weight.min())} to {number(weight.max())}"))
    blocks: list[Block] = [Terms(pairs), Figures([_target(target)])]
    if len(kinds):
        blocks.append(kinds_table(kinds))
    elif X is not None:
        blocks.append(column_table(X, names))
    lead = f"{counted(n_rows, 'row')}; the columns are not at hand."
    if X is not None:
        lead = f"{counted(n_rows, 'row')}, {counted(X.shape[1], 'column')}."
    return Section("data", "The data", lead, blocks, folded=True)


def _target(target: Target) -> Figure:
    y, classes, weight = target.y, target.labels, target.weight
    if classes is None:
        first, title = y.reshape(len(y), -1)[:, 0], "distribution of the target"
        return Figure("The target", histogram(first, x_title="target", title=title, weight=weight))
    mass = np.bincount(y, weights=weight, minlength=len(classes))
    order = np.argsort(-mass, kind="stable")[:MOST_CLASSES]
    labels, shares = [shortened(classes[i]) for i in order], mass[order] / mass.sum()
    drawing = bars(labels, shares, title="share of each class", show=lambda v: percent(v, 1))
    more = len(classes) - len(order)
    return Figure("The classes", drawing, f"And {more} rarer ones." if more else "")


def kinds_table(kinds: Any) -> PageTable:
    """Return what was found out about each column, and why."""
    rows = [
        [shortened(k.name), k.kind, f"{k.n_missing:,}", f"{k.n_distinct:,}", shortened(k.why, 120)]
        for k in list(kinds)[:MOST_COLUMNS]
    ]
    return _table(rows, "why", len(kinds))


def column_table(X: Any, names: Any) -> PageTable:
    """Return one row a column: its kind, missing values, distinct values and range."""
    rows = [
        [f"x{j}" if names is None else shortened(names[j]), *describe_column(column_of(X, j))]
        for j in range(min(X.shape[1], MOST_COLUMNS))
    ]
    return _table(rows, "least, middle, greatest", X.shape[1])


def _table(rows: list[list[str]], last: str, n_columns: int) -> PageTable:
    counts = [Column("missing", "number"), Column("distinct", "number")]
    titles = [Column("column"), Column("kind"), *counts, Column(last)]
    return PageTable(titles, rows, shown=15, left_out=n_columns - len(rows))


def column_of(X: Any, j: int) -> Array:
    """Return a column of anything two-dimensional as an array."""
    column = take(X, j, axis=1)
    column = column.toarray() if sparse.issparse(column) else column
    # NumPy by itself would give each text of polars the room of the longest.
    return np.ravel(column.to_numpy() if hasattr(column, "to_numpy") else column)


def describe_column(values: Array) -> list[str]:
    """Return kind, missing, distinct and range of a column, as text."""
    seen: Any
    if values.dtype.kind in "iuf":
        kind, seen = "number", values[np.isfinite(values.astype(np.float64))]
        ends = [seen.min(), np.median(seen), seen.max()] if len(seen) else []
        said, n_distinct = ", ".join(number(float(v)) for v in ends), len(np.unique(seen))
    elif values.dtype.kind in "mM":
        kind, seen = "time", values[~np.isnat(values)]
        ends = [seen.min(), seen.max()] if len(seen) else []
        said, n_distinct = " to ".join(str(v)[:10] for v in ends), len(np.unique(seen))
    else:
        kind = "yes or no" if values.dtype.kind == "b" else "text"
        seen = [str(v) for v in values[~pd.isna(values)].tolist()]
        words, counts = np.unique(seen, return_counts=True)
        order, n_distinct = np.argsort(-counts, kind="stable")[:3], len(words)
        said = ", ".join(
            f"{shortened(words[i], 20)} ({percent(counts[i] / counts.sum())})" for i in order
        )
    missing = 1 - len(seen) / max(len(values), 1)
    return [kind, percent(missing), f"{n_distinct:,}", said]
