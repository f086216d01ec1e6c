"""Many points: as points while they can be told apart, as a density beyond; and named points."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from foldwise.arrays import Array, FloatArray
from foldwise.report.drawing import svg

WIDTH, HEIGHT = 360.0, 300.0
MOST_POINTS = 1_000
N_CELLS = 36
# How far from its point a name may stand, in steps to either side.
MOST_STEPS = 6
N_LEVELS = 7
OUTSIDE = 0.002
LONGEST_LABEL = 120.0


def cloud(x: Array, y: Array, *, axes: tuple[str, str], title: str) -> Markup:
    """Return a scatter on two like axes, a density where there are more than a thousand rows."""
    seen = np.isfinite(x) & np.isfinite(y)
    x, y = np.asarray(x, np.float64)[seen], np.asarray(y, np.float64)[seen]
    many = len(x) > MOST_POINTS
    ends = [*_range(x, many), *_range(y, many)]
    panel = _panel(ends, ends)
    marks = [panel.axes(axes), panel.diagonal()]
    marks += _density(x, y, panel) if many else _points(x, y, panel)
    return svg.drawing(WIDTH, HEIGHT, title, *marks)


def _range(values: FloatArray, many: bool) -> list[float]:
    if not len(values):
        return [0.0, 1.0]
    if many:
        # The last thousandths on each side lie on the edge rather than squeeze the rest.
        return [float(v) for v in np.quantile(values, [OUTSIDE, 1 - OUTSIDE])]
    return [float(values.min()), float(values.max())]


def _panel(x_values: Sequence[float], y_values: Sequence[float]) -> svg.Panel:
    y = svg.Scale.around(y_values, HEIGHT - 40, 22.0)
    return svg.Panel(svg.Scale.around(x_values, svg.left_of(y), WIDTH - 12), y, WIDTH, HEIGHT)


def _points(x: FloatArray, y: FloatArray, panel: svg.Panel) -> list[Markup]:
    places = zip(x, y, strict=True)
    path = "".join(f"M{svg.at(panel.x(a))} {svg.at(panel.y(b))}h0" for a, b in places)
    return [svg.mark("path", d=path, class_="dots c1")]


def _density(x: FloatArray, y: FloatArray, panel: svg.Panel) -> list[Markup]:
    """Return squares in levels of the logarithm of the count, one path a level."""
    box = [[panel.x.low, panel.x.high], [panel.y.low, panel.y.high]]
    counts, x_edges, y_edges = np.histogram2d(
        np.clip(x, box[0][0], box[0][1]), np.clip(y, box[1][0], box[1][1]), bins=N_CELLS, range=box
    )
    depth = np.log1p(counts) / np.log1p(counts.max())
    level = np.where(counts > 0, np.ceil(depth * N_LEVELS), 0).astype(int)
    width = (panel.x.end - panel.x.start) / N_CELLS
    height = (panel.y.start - panel.y.end) / N_CELLS
    marks = []
    for k in range(1, N_LEVELS + 1):
        squares = "".join(
            f"M{svg.at(panel.x(x_edges[i]))} {svg.at(panel.y(y_edges[j]))}"
            f"h{svg.at(width)}v-{svg.at(height)}h-{svg.at(width)}z"
            for i, j in zip(*np.nonzero(level == k), strict=True)
        )
        if squares:
            tint = f"{k / N_LEVELS:.2f}"
            marks.append(svg.mark("path", d=squares, class_="f c1", fill_opacity=tint))
    return marks


def named_points(
    x: Sequence[float],
    y: Sequence[float],
    names: Sequence[str],
    *,
    axes: tuple[str, str],
    title: str,
) -> Markup:
    """Return points with their names, which make room for each other; a tooltip where none is."""
    panel = _panel(x, y)
    marks = [panel.axes(axes)]
    taken: list[tuple[float, float, float]] = []
    for i in np.argsort(y, kind="stable"):
        place = panel.x(x[i]), panel.y(y[i])
        tip = svg.mark("title", names[i])
        marks.append(svg.mark("circle", tip, cx=place[0], cy=place[1], r=4, class_="f c1"))
        text = svg.fitted(names[i], LONGEST_LABEL)
        width = svg.width_of(text)
        right = place[0] + 8 + width < panel.width
        start = place[0] + 8 if right else place[0] - 8 - width
        height = _free(start, place[1] + 4, width, taken)
        if height is None:
            continue
        taken.append((start, height, width))
        x_text, anchor = (start, "t") if right else (place[0] - 8, "t end")
        marks.append(svg.mark("text", text, x=x_text, y=height, class_=anchor))
    return svg.drawing(WIDTH, HEIGHT, title, *marks)


def _free(
    start: float, wanted: float, width: float, taken: Sequence[tuple[float, float, float]]
) -> float | None:
    """Return the height next to the wanted one where no other text stands, if there is one."""
    for step in range(2 * MOST_STEPS + 1):
        height = wanted + 6.0 * ((step + 1) // 2) * (1 if step % 2 else -1)
        clash = any(
            abs(height - h) < 12 and start < s + w and s < start + width for s, h, w in taken
        )
        if not clash and 12 < height < HEIGHT - 42:
            return height
    return None
