"""Whether prediction intervals and sets hold what they promise."""

from collections.abc import Sequence

import numpy as np

from foldwise.arrays import Array, FloatArray
from foldwise.report.blocks import Column, Figure, Figures, PageTable, Section
from foldwise.report.drawing.lines import Line, lines
from foldwise.report.sections.quality import binned
from foldwise.report.stack_values import StackValues
from foldwise.wording import number, percent

LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
IN_TABLE = (0.5, 0.8, 0.9, 0.95)


def held_shares(
    misfits: Sequence[Array], levels: Sequence[float] = LEVELS, *, in_order: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return how often a quantile of the other folds' misfits holds a fold's own."""
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


def coverage_section(stack: StackValues) -> Section | None:
    """Return the coverage of intervals or sets, fold by fold from the other folds' errors."""
    if len(stack.misfits) < 2:
        return None
    held, widths = held_shares(stack.misfits, in_order=stack.reading.in_order)
    n_rows = sum(len(m) for m in stack.misfits[1 if stack.reading.in_order else 0 :])
    half = 1.96 * np.sqrt(held * (1 - held) / n_rows)
    kind = "intervals" if stack.target.labels is None else "sets"
    band, title = Line(held, low=held - half, high=held + half), f"coverage of prediction {kind}"
    drawing = lines(LEVELS, [band], axes=("promised", "held"), title=title, diagonal=True)
    caption = f"On the dashed line, prediction {kind} hold as much as they promise."
    sizes = _sizes(held, widths, stack)
    shown: list[Figure | PageTable] = [Figure("Coverage", drawing, caption), sizes]
    if _adaptive(stack):
        shown.append(_along(float(widths[LEVELS.index(0.9)]), stack))
    lead = (
        f"Prediction {kind} that promise 90 % hold {percent(held[LEVELS.index(0.9)], 1)} of "
        f"{n_rows:,} judged rows, when each fold is checked against the errors of "
        f"{'earlier ones' if stack.reading.in_order else 'the others'}."
    )
    if stack.reading.in_order:
        lead += " Forward in time there is no guarantee for new rows."
    elif stack.groups is not None:
        lead += " For new rows a group counts once; inside one group there is no guarantee."
    return Section("coverage", f"Prediction {kind}", lead, [Figures(shown)])


def _adaptive(stack: StackValues) -> bool:
    """Tell whether intervals are wider where errors are larger."""
    return bool(np.ptp(np.concatenate(stack.expected)) > 0)


def _along(width: float, stack: StackValues) -> Figure:
    """Return how wide intervals are along the prediction, and how wide they had to be."""
    assert stack.judged is not None
    expected = np.concatenate(stack.expected)
    errors, predicted = np.concatenate(stack.misfits) * expected, stack.judged.predicted
    bins = binned(predicted.reshape(len(errors)))
    reach = [np.quantile(width * expected[rows], [0.1, 0.5, 0.9]) for rows in bins]
    low, middle, high = zip(*reach, strict=True)
    needed = [float(np.quantile(errors[rows], 0.9)) for rows in bins]
    middles = [float(np.median(predicted[rows])) for rows in bins]
    intervals = Line(middle, "90 % intervals ±", low=low, high=high)
    each = [intervals, Line(needed, "90 % of the errors", tone=0)]
    title, axes = "width of intervals along the prediction", ("predicted", "half the width")
    drawing = lines(middles, each, axes=axes, title=title, level=0.0)
    caption = (
        "Median and the middle 80 % of the widths in ten bins, beside what would have sufficed."
    )
    return Figure("Width along the prediction", drawing, caption)


def _sizes(held: Array, widths: Array, stack: StackValues) -> PageTable:
    """Return how wide intervals are, or how many classes are not ruled out on average."""
    names, note = ["prediction ±"], "The width is nearly the same for all rows."
    if _adaptive(stack):
        names += ["narrowest tenth ±", "widest tenth ±"]
        note = "The width of the middle row, and of the rows at the ends of the outer tenths."
    parts = np.quantile(np.concatenate(stack.expected), [0.5, 0.1, 0.9][: len(names)])
    sizes = widths[:, None] * parts
    if stack.target.labels is not None:
        names, note = ["classes in a set"], ""
        shares = None if stack.judged is None else stack.judged.probabilities
        sizes = np.full((len(widths), 1), np.nan)
        if shares is not None:
            inside = [(1 - shares <= w).sum(axis=1).mean() for w in widths]
            sizes = np.maximum(inside, 1.0)[:, None]
    rows = [
        [percent(level), percent(held[i], 1), *(number(size) for size in sizes[i])]
        for i, level in enumerate(LEVELS)
        if level in IN_TABLE
    ]
    columns = [Column("promised"), Column("held", "number")]
    columns += [Column(name, "number") for name in names]
    return PageTable(columns, rows, title="Size", note=note)
