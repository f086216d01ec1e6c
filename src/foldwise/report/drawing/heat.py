"""Heat maps with names and numbers."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from foldwise.arrays import Array
from foldwise.report.drawing import svg
from foldwise.wording import number, shortened

WIDTH = 360.0
MIN_STEP = 18.0
MOST_WITH_NUMBERS = 10
LARGEST_CELL = 44.0
LARGEST_OF_FEW = 70.0
FEW = 4


def heat(
    values: Array,
    names: Sequence[Any],
    *,
    title: str,
    corner: str = "",
    show: Callable[[float], str] = number,
) -> Markup:
    """Return a matrix in colours, its rows named as its columns; negative values in the second.

    Shapes: ``values`` (n_names, n_names).
    """
    values = np.asarray(values, dtype=np.float64)
    n, longest = len(names), max(svg.width_of(shortened(name, 30)) for name in names)
    room = min(145.0, longest + 26)
    size = min(LARGEST_OF_FEW if n <= FEW else LARGEST_CELL, (WIDTH - room - 4) / n)
    numbered = size < longest
    every = math.ceil(MIN_STEP / size) if numbered else 1
    top = 36.0 if corner else 18.0
    marks = [svg.label(corner, 2.0, 11.0, room=WIDTH - 4, class_="a")] if corner else []
    for j, name in list(enumerate(names))[::every]:
        text, place = str(j + 1) if numbered else name, room + size * (j + 0.5)
        marks.append(svg.label(text, place, top - 5, room=max(size, 14), class_="t mid"))
    widest = max(svg.width_of(show(v)) for v in values.flat)
    roomy = n <= MOST_WITH_NUMBERS and size > 4 + widest
    for i, name in enumerate(names):
        y = top + size * i
        text = f"{i + 1} {name}" if numbered else name
        marks.append(svg.label(text, room - 6, y + size / 2 + 4, room=room - 6, class_="t end"))
        for j in range(n):
            marks += _cell(values[i, j], show if roomy else None, room + size * j, y, size)
    return svg.drawing(WIDTH, top + size * n + 4, title, *marks)


def _cell(
    value: float, show: Callable[[float], str] | None, x: float, y: float, size: float
) -> list[Markup]:
    tint = float(np.nan_to_num(value))
    tone, depth = "c1" if tint >= 0 else "c2", f"{0.04 + 0.76 * min(abs(tint), 1.0):.2f}"
    box = {"x": x, "y": y, "width": size - 1, "height": size - 1}
    cell = svg.mark("rect", **box, class_=f"f {tone}", fill_opacity=depth)
    if show is None or not show(value):
        return [cell]
    middle = {"x": x + size / 2 - 0.5, "y": y + size / 2 + 4}
    return [cell, svg.mark("text", show(value), **middle, class_="n mid")]
