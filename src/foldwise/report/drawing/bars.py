"""Bars with their errors, intervals in the cells of a table, and histograms."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from foldwise.report.drawing import svg
from foldwise.wording import decimals_for, number, shortened

WIDTH = 360.0
ROW = 22.0
CELL_WIDTH, CELL_HEIGHT = 260.0, 22.0
CELL_ENDS = (8.0, CELL_WIDTH - 8.0)
HISTOGRAM_HEIGHT = 190.0


def interval_scale(values: Any, errors: Any) -> svg.Scale:
    """Return the common scale of the intervals in a column of cells."""
    values, errors = np.asarray(values, float), np.nan_to_num(np.asarray(errors, float))
    return svg.Scale.around(np.concatenate([values - errors, values + errors]).tolist(), *CELL_ENDS)


def interval_cell(
    value: float, error: float, scale: svg.Scale, *, reference: float, strong: bool = False
) -> Markup:
    """Return a dot with its interval, to stand in a cell of a table."""
    if not math.isfinite(value):
        return Markup("")
    middle, place = CELL_HEIGHT / 2, scale(reference)
    marks = [svg.stroke(place, place, 0.0, CELL_HEIGHT, "ref")]
    tone = "c1" if strong else "c0"
    if math.isfinite(error):
        ends = scale(value - error), scale(value + error)
        marks.append(svg.stroke(*ends, middle, middle, f"l {tone}"))
    marks.append(svg.mark("circle", cx=scale(value), cy=middle, r=4, class_=f"f {tone}"))
    title = f"{number(value)} ± {number(error)}"
    return svg.drawing(CELL_WIDTH, CELL_HEIGHT, title, *marks, class_="cell")


def interval_axis(scale: svg.Scale) -> Markup:
    """Return the axis above a column of interval cells."""
    values = scale.ticks(4)
    marks = []
    for value, text in zip(values, svg.tick_labels(values), strict=True):
        marks.append(svg.centred(text, scale(value), 12.0, CELL_WIDTH))
        marks.append(svg.stroke(scale(value), scale(value), 17.0, CELL_HEIGHT, "axis"))
    return svg.drawing(CELL_WIDTH, CELL_HEIGHT, "scale of this column", *marks, class_="cell")


def bars(
    names: Sequence[Any],
    values: Any,
    errors: Any = None,
    *,
    title: str,
    show: Callable[[float], str] | None = None,
    heading: str = "",
) -> Markup:
    """Return horizontal bars from zero, one a name, with their values and errors."""
    values = [float(value) for value in values]
    decimals = decimals_for(max(map(abs, values), default=0.0) / 10)
    shown = [number(value, decimals) if show is None else show(value) for value in values]
    names_room = min(140.0, max(svg.width_of(shortened(name, 30)) for name in names) + 8)
    values_room = max(map(svg.width_of, shown)) + 10
    errors = np.zeros(len(values)) if errors is None else errors
    halves = np.nan_to_num(errors, posinf=0.0, neginf=0.0)
    reach = [v + s * e for v, e in zip(values, halves, strict=True) for s in (-1, 1)]
    scale = svg.Scale.around(reach, names_room, WIDTH - values_room, zero=True, margin=0.02)
    top = ROW if heading else 0.0
    height = top + ROW * len(names) + 6
    marks = [svg.stroke(scale(0.0), scale(0.0), top, height, "axis")]
    if heading:
        marks.append(svg.label(heading, 2.0, 11.0, room=WIDTH - 4, class_="a"))
    for i, (name, value, half, text) in enumerate(zip(names, values, halves, shown, strict=True)):
        y, tone = top + ROW * i + 3, "c1" if not value < 0 else "c2"
        marks.append(svg.label(name, names_room - 6, y + 13, room=names_room - 6, class_="t end"))
        if math.isfinite(value):
            x1, x2 = sorted((scale(0.0), scale(value)))
            place = {"x": x1, "y": y + 2, "width": x2 - x1, "height": 14}
            marks.append(svg.mark("rect", **place, class_=f"f {tone}"))
        if half:
            ends = scale(value - half), scale(value + half)
            marks.append(svg.stroke(*ends, y + 9, y + 9, "err"))
        marks.append(svg.mark("text", text, x=WIDTH - 2, y=y + 13, class_="t end"))
    return svg.drawing(WIDTH, height, title, *marks)


def histogram(values: Any, *, x_title: str, title: str, weight: Any = None) -> Markup:
    """Return the distribution of numbers, as shares of the rows."""
    values = np.asarray(values, dtype=np.float64)
    seen = np.isfinite(values)
    n_bins = int(np.clip(np.sqrt(seen.sum()), 5, 30))
    # A few extreme values must not squeeze all others into one bar.
    low, high = np.quantile(values[seen], [0.005, 0.995]) if seen.any() else (0.0, 1.0)
    low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
    mass = None if weight is None else np.asarray(weight)[seen]
    inside = np.clip(values[seen], low, high)
    counts, edges = np.histogram(inside, n_bins, (low, high), weights=mass)
    shares = counts / max(counts.sum(), 1e-300)
    x = svg.Scale(float(low), float(high), 44.0, WIDTH - 10)
    y = svg.Scale(0.0, float(max(shares.max(), 1e-12)) * 1.05, HISTOGRAM_HEIGHT - 38, 22.0)
    panel = svg.Panel(x, y, WIDTH, HISTOGRAM_HEIGHT)
    levels = [(v, f"{100 * v:g} %") for v in y.ticks(3)]
    axes = panel.axes((x_title, "share of rows"), y_ticks=levels)
    rects = []
    for i in np.flatnonzero(shares > 0):
        width, height = max(x(edges[i + 1]) - x(edges[i]) - 1, 0.5), y.start - y(shares[i])
        place = {"x": x(edges[i]) + 0.5, "width": width, "y": y(shares[i]), "height": height}
        rects.append(svg.mark("rect", **place, class_="f c1"))
    return svg.drawing(WIDTH, HISTOGRAM_HEIGHT, title, axes, *rects)
