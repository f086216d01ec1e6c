"""Whether prediction intervals and sets hold what they promise."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from foldwise.arrays import Array, FloatArray
from foldwise.report.blocks import Block, Column, Figure, Figures, Section, Table
from foldwise.report.curves import Line, lines
from foldwise.wording import number, percent

LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
IN_TABLE = (0.5, 0.8, 0.9, 0.95)


def held_shares(
    misfits: Sequence[Array], levels: Sequence[float] = LEVELS, *, in_order: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return how often a quantile of the other folds' misfits holds a fold's own.

    Examples
    --------
    >>> held, widths = held_shares([np.arange(1.0, 10.0), np.arange(1.0, 10.0)], [0.8])
    >>> held.round(2), widths
    (array([0.89]), array([8.]))
    """
    held, widths = np.zeros(len(levels)), np.zeros(len(levels))
    first = 1 if in_order else 0
    total = sum(len(own) for own in misfits[first:])
    for i, own in enumerate(misfits[first:], first):
        among = misfits[:i] if in_order else [m for j, m in enumerate(misfits) if j != i]
        others = np.sort(np.concatenate(among))
        ranks = np.ceil(np.asarray(levels) * (len(others) + 1) - 1e-9).astype(int)
        reach = np.where(ranks <= len(others), others[np.minimum(ranks, len(others)) - 1], np.inf)
        held += np.array([(own <= r).sum() for r in reach])
        widths += len(own) * reach
    return held / total, widths / total


def coverage_section(stack: Any) -> Section | None:
    """Return the coverage of intervals or sets, fold by fold from the other folds' errors."""
    misfits = [f.misfits for f in stack.deals_[0].verdict.folds if len(f.misfits)]
    if len(misfits) < 2:
        return None
    in_order = stack.deals_[0].reading.in_order
    held, widths = held_shares(misfits, in_order=in_order)
    n_rows = sum(len(m) for m in misfits[1 if in_order else 0 :])
    error = np.sqrt(held * (1 - held) / n_rows)
    kind = "sets" if stack._classifies else "intervals"
    figure = lines(
        list(LEVELS),
        [
            Line(
                held.tolist(),
                low=(held - 1.96 * error).tolist(),
                high=(held + 1.96 * error).tolist(),
            )
        ],
        x_title="promised",
        y_title="held",
        title=f"coverage of prediction {kind}",
        diagonal=True,
    )
    caption = f"On the dashed line, prediction {kind} hold as much as they promise."
    blocks: list[Block] = [
        Figures([Figure("Coverage", figure, caption), _table(held, widths, stack, kind)])
    ]  # fmt: skip
    others = "earlier ones" if in_order else "the others"
    at_90 = held[LEVELS.index(0.9)]
    lead = (
        f"Prediction {kind} that promise 90 % hold {percent(at_90, 1)} of {n_rows:,} judged rows, "
        f"when each fold is checked against the errors of {others}."
    )
    if in_order or stack.deals_[0].top.problem.data.groups is not None:
        lead += " With groups or forward in time there is no guarantee for new rows."
    return Section("coverage", f"Prediction {kind}", lead, blocks)


def _table(held: Array, widths: Array, stack: Any, kind: str) -> Table:
    last = "prediction ±" if kind == "intervals" else "classes in a set"
    sizes = widths if kind == "intervals" else _set_sizes(stack, widths)
    rows = [
        [percent(level), percent(held[i], 1), number(sizes[i])]
        for i, level in enumerate(LEVELS)
        if level in IN_TABLE
    ]
    columns = [Column("promised"), Column("held", "number"), Column(last, "number")]
    note = "The width is nearly the same for all rows." if kind == "intervals" else ""
    return Table(columns, rows, title="Size", note=note)


def _set_sizes(stack: Any, widths: Array) -> FloatArray:
    """Return the mean number of classes that are not ruled out."""
    response = stack.deals_[0].verdict.response
    if response.kind != "probability":
        return np.full(len(widths), np.nan)
    return np.array([max((1 - response.values <= w).sum(axis=1).mean(), 1.0) for w in widths])
