"""Lines with bands, over numbers or over names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from foldwise.report.drawing import svg

WIDTH, HEIGHT = 360.0, 250.0
MOST_NAMES = 8


@dataclass(frozen=True)
class Line:
    """One line of a figure."""

    y: Any  # its heights
    name: str = ""  # for the legend; empty for none
    low: Any = None  # a band around it
    high: Any = None
    dots: bool = True  # whether its points are marked
    tone: int = 1  # its colour, 1 to 4; 0 is grey


def lines(
    x: Any,
    each: Sequence[Line],
    *,
    axes: tuple[str, str],
    title: str,
    diagonal: bool = False,
    unit: bool = False,
    level: float | None = None,
    within: Sequence[float] = (),
) -> Markup:
    """Return lines over common x values, which are numbers or names.

    ``unit``: both axes from 0 to 1. ``level``: a height to mark. ``within``: heights the scale
    must hold, so that figures can be compared.
    """
    names = [str(v) for v in x] if len(x) and isinstance(x[0], str) else None
    numbers = list(range(len(x))) if names else [float(v) for v in x]
    heights = [*within, *([] if level is None else [level])]
    panel = _panel(numbers, each, unit, heights, names is not None)
    marks = [panel.axes(axes, _name_ticks(names, panel))]
    if diagonal:
        marks.append(panel.diagonal())
    if level is not None:
        height = panel.y(level)
        marks.append(svg.polyline([(panel.x.start, height), (panel.x.end, height)], "ref"))
    for line in each:
        marks += _line(numbers, line, panel, joined=names is None)
    marks.append(_legend(each, panel))
    return svg.drawing(WIDTH, HEIGHT, title, *marks)


def _panel(
    x: Sequence[float], each: Sequence[Line], unit: bool, more: Sequence[float], named: bool
) -> svg.Panel:
    parts = [part for line in each for part in (line.y, line.low, line.high) if part is not None]
    heights = [*more, *(v for part in parts for v in part)]
    y = svg.Scale.around(heights, HEIGHT - 40, 24.0 if not any(e.name for e in each) else 40.0)
    y = svg.Scale(0.0, 1.0, y.start, y.end) if unit else y
    across = svg.left_of(y), WIDTH - 12
    if unit or named:
        ends = (0.0, 1.0) if unit else (-0.6, len(x) - 0.4)
        return svg.Panel(svg.Scale(*ends, *across), y, WIDTH, HEIGHT)
    return svg.Panel(svg.Scale.around(x, *across, margin=0.02), y, WIDTH, HEIGHT)


def _name_ticks(names: list[str] | None, panel: svg.Panel) -> svg.Ticks:
    if names is None:
        return None
    every = -(-len(names) // MOST_NAMES)
    room = (panel.x.end - panel.x.start) * every / len(names)
    return [(i, svg.fitted(name, room - 4)) for i, name in enumerate(names) if i % every == 0]


def _line(x: Sequence[float], line: Line, panel: svg.Panel, *, joined: bool) -> list[Markup]:
    def places(heights: Any) -> list[tuple[float, float]]:
        return [(panel.x(a), panel.y(b)) for a, b in zip(x, heights, strict=True) if np.isfinite(b)]

    marks: list[Markup] = []
    middle, tone = places(line.y), f"c{line.tone}"
    if line.low is not None and line.high is not None:
        low, high = places(line.low), places(line.high)
        if joined:
            outline = " ".join(f"{svg.at(a)},{svg.at(b)}" for a, b in [*low, *reversed(high)])
            marks.append(svg.mark("polygon", points=outline, class_=f"band {tone}"))
        else:
            ends = zip(low, high, strict=True)
            marks += [svg.stroke(a[0], b[0], a[1], b[1], f"l {tone}") for a, b in ends]
    if joined and len(middle) > 1:
        marks.append(svg.polyline(middle, f"l {tone}"))
    if line.dots or not joined:
        marks += [svg.mark("circle", cx=a, cy=b, r=3, class_=f"f {tone}") for a, b in middle]
    return marks


def _legend(each: Sequence[Line], panel: svg.Panel) -> Markup:
    named = [line for line in each if line.name]
    marks, x = [], panel.x.start
    room = (panel.x.end - panel.x.start) / max(len(named), 1)
    for line in named:
        marks.append(svg.mark("rect", x=x, y=21, width=10, height=4, class_=f"f c{line.tone}"))
        marks.append(svg.label(line.name, x + 14, 27.0, room=room - 20))
        x += min(room, svg.width_of(line.name) + 30)
    return Markup("").join(marks)
