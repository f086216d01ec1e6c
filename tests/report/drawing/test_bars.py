import numpy as np
import pytest

from foldwise.report.drawing.bars import (
    bars,
    histogram,
    interval_axis,
    interval_cell,
    interval_scale,
)
from tests.report.drawn import marks, size, texts


def test_bars_are_as_long_as_their_values() -> None:
    svg = bars(["a", "b", "c"], [4.0, 2.0, -1.0], title="t")
    widths = [float(m["width"]) for m in marks(svg, "rect")]
    assert widths[0] / widths[1] == pytest.approx(2.0, abs=0.01)
    assert widths[0] / widths[2] == pytest.approx(4.0, abs=0.05)
    assert [m["class"] for m in marks(svg, "rect")] == ["f c1", "f c1", "f c2"]


def test_values_have_the_decimals_of_the_largest() -> None:
    assert [t for t in texts(bars(["a", "b"], [10.04, 0.463], title="t")) if "." in t] == [
        "10.0",
        "0.5",
    ]


def test_errors_are_drawn_around_the_end_of_a_bar() -> None:
    svg = bars(["a"], [4.0], [1.0], title="t")
    (line,) = marks(svg, "line", "err")
    (bar,) = marks(svg, "rect")
    end = float(bar["x"]) + float(bar["width"])
    assert (float(line["x1"]) + float(line["x2"])) / 2 == pytest.approx(end, abs=0.1)


def test_no_value_no_bar() -> None:
    svg = bars(["a", "b"], [float("nan"), 1.0], title="t")
    assert len(marks(svg, "rect")) == 1
    assert "–" in texts(svg)


def test_all_bars_of_nothing_can_be_drawn() -> None:
    assert len(marks(bars(["a", "b"], [0.0, 0.0], title="t"), "rect")) == 2


def test_an_interval_cell_shows_the_value_between_its_ends() -> None:
    scale = interval_scale([1.0, 2.0], [0.1, 0.2])
    svg = interval_cell(2.0, 0.2, scale, reference=1.0, strong=True)
    (dot,), (bar,) = marks(svg, "circle"), marks(svg, "line", "l")
    assert float(bar["x1"]) < float(dot["cx"]) < float(bar["x2"])
    assert float(marks(svg, "line", "ref")[0]["x1"]) < float(bar["x1"])
    assert interval_cell(float("nan"), 0.2, scale, reference=1.0) == ""


def test_the_axis_of_the_cells_has_its_labels_inside() -> None:
    svg = interval_axis(interval_scale([28000.0, 29000.0], [500.0, 500.0]))
    for mark in marks(svg, "text"):
        assert 15 <= float(mark["x"]) <= size(svg)[0] - 15


def test_bars_of_a_histogram_are_shares_that_sum_to_one() -> None:
    # One row in ten is at 1, the others at 0: five bins, of which two are drawn.
    svg = histogram(np.repeat([0.0, 1.0], [18, 2]), x_title="x", title="t")
    few, many = sorted(float(m["height"]) for m in marks(svg, "rect"))
    assert many / few == pytest.approx(9.0, rel=0.05)
    # The axis tells what a height means: all bars together are the whole.
    lines = sorted({float(m["y1"]) for m in marks(svg, "line", "grid") if m["y1"] == m["y2"]})
    levels = sorted((float(t.removesuffix(" %")) for t in texts(svg) if "%" in t), reverse=True)
    unit = (lines[-1] - lines[0]) / (levels[0] - levels[-1])
    assert (few + many) / unit == pytest.approx(100.0, abs=1.0)
    assert "share of rows" in texts(svg)


def test_weights_move_the_shares_of_a_histogram() -> None:
    values, weight = np.repeat([0.0, 1.0], [18, 2]), np.repeat([1.0, 9.0], [18, 2])
    svg = histogram(values, x_title="x", title="t", weight=weight)
    first, second = (float(m["height"]) for m in marks(svg, "rect"))
    assert first == pytest.approx(second)


@pytest.mark.parametrize("values", [[1.0] * 9, [], [np.nan, np.inf], [0.0, 1e300]])
def test_a_histogram_of_odd_numbers_can_be_drawn(values: list[float]) -> None:
    assert "NaN" not in histogram(np.array(values), x_title="x", title="t").replace("nan", "NaN")


@pytest.mark.parametrize("name", ["patient_id", "boosted_random", "ridge_spline", "s1"])
def test_a_name_that_has_room_is_not_cut(name: str) -> None:
    assert name in texts(bars([name], [1.0], title="t"))
