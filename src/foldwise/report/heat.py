"""Heat maps with names and numbers."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from foldwise.arrays import Array
from foldwise.report.svg import drawing, label, mark, width_of
from foldwise.wording import number, shortened

WIDTH = 360.0
MIN_STEP = 18.0
MOST_WITH_NUMBERS = 10
LARGEST_CELL = 44.0
LARGEST_OF_FEW = 70.0
FEW = 4


def heat(
    values: Array,
    rows: Sequence[Any],
    columns: Sequence[Any],
    *,
    title: str,
    corner: str = "",
    show: Callable[[float], str] = number,
    strength: Array | None = None,
) -> Markup:
    """Return a matrix in colours; negative values in the second colour.

    Shapes: ``values`` (n_rows, n_columns).
    """
    values = np.asarray(values, dtype=np.float64)
    tint = np.nan_to_num(values if strength is None else strength)
    n_rows, n_columns = values.shape
    room = min(125.0, max(width_of(shortened(name, 30)) for name in rows) + 26)
    largest = LARGEST_OF_FEW if n_columns <= FEW else LARGEST_CELL
    size = min(largest, (WIDTH - room - 4) / n_columns)
    numbered = size < max(width_of(shortened(name, 30)) for name in columns)
    every = math.ceil(MIN_STEP / size) if numbered else 1
    top = 36.0 if corner else 18.0
    marks = [label(corner, 2.0, 11.0, room=WIDTH - 4, class_="a")] if corner else []
    for j, name in list(enumerate(columns))[::every]:
        text = str(j + 1) if numbered else name
        marks.append(
            label(text, room + size * (j + 0.5), top - 5, room=max(size, 14), class_="t mid")
        )
    roomy = n_columns <= MOST_WITH_NUMBERS and size > 4 + max(
        width_of(show(v)) for v in values.flat
    )
    for i, name in enumerate(rows):
        y = top + size * i
        text = f"{i + 1} {name}" if numbered else name
        marks.append(label(text, room - 6, y + size / 2 + 4, room=room - 6, class_="t end"))
        for j in range(n_columns):
            text = show(values[i, j]) if roomy else ""
            marks += _cell(text, tint[i, j], room + size * j, y, size)
    return drawing(WIDTH, top + size * n_rows + 4, title, *marks)


def _cell(text: str, tint: float, x: float, y: float, size: float) -> list[Markup]:
    cell = mark(
        "rect",
        x=x,
        y=y,
        width=size - 1,
        height=size - 1,
        class_=f"f {'c1' if tint >= 0 else 'c2'}",
        fill_opacity=f"{0.04 + 0.76 * min(abs(tint), 1.0):.2f}",
    )
    if not text:
        return [cell]
    return [cell, mark("text", text, x=x + size / 2 - 0.5, y=y + size / 2 + 4, class_="n mid")]
