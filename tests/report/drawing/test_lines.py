import numpy as np

from foldwise.report.drawing.lines import Line, lines
from tests.report.drawn import marks, texts


def draw(x: list, each: list[Line], **more: object) -> str:
    return lines(x, each, axes=("x", "y"), title="t", **more)


def test_a_rising_line_rises() -> None:
    svg = draw([0.0, 1.0, 2.0], [Line([1.0, 2.0, 3.0])])
    heights = [float(p.split(",")[1]) for p in marks(svg, "polyline")[0]["points"].split()]
    assert heights == sorted(heights, reverse=True)
    assert len(marks(svg, "circle")) == 3


def test_names_are_not_joined_by_a_line() -> None:
    svg = draw(["a", "b"], [Line([1.0, 2.0], low=[0.5, 1.5], high=[1.5, 2.5])])
    assert not marks(svg, "polyline")
    assert len(marks(svg, "line", "l")) == 2
    assert {"a", "b"} <= set(texts(svg))


def test_many_names_leave_some_labels_out() -> None:
    svg = draw([f"fold {i}" for i in range(50)], [Line([float(i) for i in range(50)])])
    assert sum(t.startswith("f") for t in texts(svg)) <= 8


def test_a_band_lies_around_its_line() -> None:
    svg = draw([0.0, 1.0], [Line([1.0, 1.0], low=[0.0, 0.0], high=[2.0, 2.0])])
    heights = {float(p.split(",")[1]) for p in marks(svg, "polygon")[0]["points"].split()}
    (line,) = marks(svg, "polyline")
    assert min(heights) < float(line["points"].split(",")[1].split()[0]) < max(heights)


def test_missing_points_are_skipped() -> None:
    svg = draw([0.0, 1.0, 2.0], [Line([1.0, np.nan, 3.0])])
    assert len(marks(svg, "circle")) == 2
    assert "nan" not in svg


def test_the_legend_names_the_lines_that_have_a_name() -> None:
    svg = draw([0.0, 1.0], [Line([1.0, 2.0], "first"), Line([2.0, 1.0], "second", tone=2)])
    assert {"first", "second"} <= set(texts(svg))


def test_the_unit_square_has_the_diagonal_and_both_axes_from_0_to_1() -> None:
    svg = draw([0.2, 0.4], [Line([0.3, 0.5])], diagonal=True, unit=True)
    (diagonal,) = marks(svg, "polyline", "ref")
    first, last = (tuple(map(float, p.split(","))) for p in diagonal["points"].split())
    assert first[0] < last[0]
    assert first[1] > last[1]
    assert texts(svg).count("0") == 2
    assert texts(svg).count("1") == 2


def test_figures_with_the_same_heights_within_have_one_scale() -> None:
    ticks = [
        [t for t in texts(draw([0.0, 1.0], [line], within=[0.0, 10.0])) if t.isdigit()]
        for line in (Line([1.0, 2.0]), Line([8.0, 9.0]))
    ]
    assert ticks[0] == ticks[1]


def test_one_point_alone_can_be_drawn() -> None:
    assert len(marks(draw([3.0], [Line([5.0])], level=5.0), "circle")) == 1
