"""What the rows look like: the target, and the columns while they are still there."""

from typing import Any

import numpy as np
from scipy import sparse

from foldwise.arrays import Array
from foldwise.report.bars import bars, histogram
from foldwise.report.blocks import Block, Column, Facts, Figure, Figures, Section, Table
from foldwise.wording import counted, number, percent, shortened

MOST_COLUMNS = 40
MOST_CLASSES = 20


def data_section(
    y: Array,
    classes: Array | None,
    weight: Array | None,
    X: Any,
    names: Any,
    kinds: Any = (),
) -> Section:
    """Return a summary of the target and the columns."""
    pairs = [("Rows", f"{len(y):,}")]
    if X is not None:
        pairs.append(("Columns", f"{X.shape[1]:,}"))
    elif names is not None:
        pairs.append(("Columns", f"{len(names):,}"))
    if classes is not None:
        pairs.append(("Classes", f"{len(classes):,}"))
    if weight is not None:
        pairs.append(("Weights", f"{number(weight.min())} to {number(weight.max())}"))
    blocks: list[Block] = [Facts(pairs), Figures([_target(y, classes, weight)])]
    if len(kinds):
        blocks.append(kinds_table(kinds))
    elif X is not None:
        blocks.append(column_table(X, names))
    lead = f"{counted(len(y), 'row')}" + (
        f", {counted(X.shape[1], 'column')}." if X is not None else "; the columns are not at hand."
    )
    return Section("data", "The data", lead, blocks, folded=True)


def _target(y: Array, classes: Array | None, weight: Array | None) -> Figure:
    if classes is None:
        first = y.reshape(len(y), -1)[:, 0]
        drawing = histogram(
            first, x_title="target", title="distribution of the target", weight=weight
        )
        return Figure("The target", drawing)
    mass = np.bincount(y, weights=weight, minlength=len(classes))
    order = np.argsort(-mass, kind="stable")[:MOST_CLASSES]
    drawing = bars(
        [shortened(classes[i]) for i in order],
        [float(mass[i] / mass.sum()) for i in order],
        title="share of each class",
        show=lambda v: percent(v, 1),
    )
    more = len(classes) - len(order)
    return Figure("The classes", drawing, f"And {more} rarer ones." if more else "")


def kinds_table(kinds: Any) -> Table:
    """Return what was found out about each column, and why."""
    shown = list(kinds)[:MOST_COLUMNS]
    rows = [
        [shortened(k.name), k.kind, f"{k.n_missing:,}", f"{k.n_distinct:,}", shortened(k.why, 120)]
        for k in shown
    ]
    columns = [
        Column("column"),
        Column("kind"),
        Column("missing", "number"),
        Column("distinct", "number"),
        Column("why"),
    ]
    return Table(columns, rows, shown=15, left_out=len(kinds) - len(shown))


def column_table(X: Any, names: Any) -> Table:
    """Return one row a column: its kind, missing values, distinct values and range."""
    rows = []
    for j in range(min(X.shape[1], MOST_COLUMNS)):
        name = shortened(names[j]) if names is not None else f"x{j}"
        rows.append([name, *describe_column(column_of(X, j))])
    columns = [
        Column("column"),
        Column("kind"),
        Column("missing", "number"),
        Column("distinct", "number"),
        Column("least, middle, greatest"),
    ]
    return Table(columns, rows, shown=15, left_out=X.shape[1] - len(rows))


def column_of(X: Any, j: int) -> Array:
    """Return a column of anything two-dimensional as an array."""
    if sparse.issparse(X):
        return np.asarray(X[:, [j]].toarray())[:, 0]
    if hasattr(X, "columns"):
        column = X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]
        return np.asarray(column.to_numpy())
    return np.asarray(X)[:, j]


def describe_column(values: Array) -> list[str]:
    """Return kind, missing, distinct and range of a column, as text.

    Examples
    --------
    >>> describe_column(np.array([1.0, 2.0, np.nan]))
    ['number', '33 %', '2', '1, 1.50, 2']
    >>> describe_column(np.array(["a", "b", "a"], dtype=object))
    ['text', '0 %', '2', 'a (67 %), b (33 %)']
    """
    if values.dtype.kind in "iuf":
        seen = values[np.isfinite(values.astype(np.float64))]
        missing = 1 - len(seen) / max(len(values), 1)
        ends = [seen.min(), np.median(seen), seen.max()] if len(seen) else []
        return ["number", percent(missing), f"{len(np.unique(seen)):,}",
                ", ".join(number(float(v)) for v in ends)]  # fmt: skip
    if values.dtype.kind in "mM":
        seen = values[~np.isnat(values)]
        ends = [str(v)[:10] for v in (seen.min(), seen.max())] if len(seen) else []
        missing = 1 - len(seen) / max(len(values), 1)
        return ["time", percent(missing), f"{len(np.unique(seen)):,}", " to ".join(ends)]
    kind = "yes or no" if values.dtype.kind == "b" else "text"
    absent = np.array([v is None or v != v for v in values.tolist()], dtype=bool)
    words, counts = np.unique([str(v) for v in values[~absent].tolist()], return_counts=True)
    order = np.argsort(-counts, kind="stable")[:3]
    common = [f"{shortened(words[i], 20)} ({percent(counts[i] / counts.sum())})" for i in order]
    return [
        kind,
        percent(absent.mean() if len(absent) else 0.0),
        f"{len(words):,}",
        ", ".join(common),
    ]
