import itertools
import math
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldwise.report.drawing.svg import (
    Panel,
    Scale,
    at,
    drawing,
    label,
    mark,
    polyline,
    tick_labels,
    ticks,
)

NUMBERS = st.floats(-1e9, 1e9, allow_nan=False)


@given(NUMBERS, st.floats(1e-6, 1e9))
def test_ticks_are_round_inside_and_few(low: float, span: float) -> None:
    high = low + span
    if high - low < 1e-9 * max(abs(low), 1):
        return
    found = ticks(low, high)
    assert len(found) <= 12
    step = np.diff(found)
    assert all(low - 1e-6 * span <= v <= high + 1e-6 * span for v in found)
    if len(found) > 1:
        leading = step[0] / 10.0 ** math.floor(math.log10(step[0]) + 1e-9)
        assert min(abs(leading - m) for m in (1, 2, 2.5, 5, 10)) < 0.05


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 10, [0, 2, 4, 6, 8, 10]), (0.91, 0.94, [0.91, 0.915, 0.92, 0.925, 0.93, 0.935, 0.94]),
     (3.0, 3.0, [3.0]), (float("nan"), 1.0, [])],
)  # fmt: skip
def test_ticks_as_a_person_would_choose_them(low: float, high: float, expected: list) -> None:
    assert ticks(low, high) == pytest.approx(expected)


def test_tick_labels_have_units_where_numbers_are_long() -> None:
    assert tick_labels([-200000.0, 0.0, 200000.0]) == ["−200k", "0", "200k"]
    assert tick_labels([1.5e9]) == ["1.5G"]


@given(st.lists(NUMBERS | st.just(float("nan")) | st.just(float("inf")), max_size=8))
def test_a_scale_holds_every_finite_value(values: list[float]) -> None:
    scale = Scale.around(values, 10.0, 110.0)
    assert scale.low < scale.high
    for value in values:
        if math.isfinite(value):
            assert 10.0 - 1e-6 <= scale(value) <= 110.0 + 1e-6


def test_a_scale_from_zero_starts_there_and_what_is_beyond_lies_on_the_edge() -> None:
    scale = Scale.around([2.0, 4.0], 0.0, 100.0, zero=True)
    assert scale(0.0) == 0.0
    assert scale(1e9) == 100.0


def test_whatever_enters_a_drawing_is_escaped() -> None:
    hostile = '"><script>alert(1)</script>'
    svg = drawing(10, 10, hostile, mark("text", hostile, x=1.0), label(hostile, 0, 0, room=500))
    assert "<script" not in svg
    root = ElementTree.fromstring(svg)
    assert root.attrib["aria-label"] == hostile
    assert [child.text for child in root] == [hostile, hostile]


def test_a_label_without_room_is_cut_and_keeps_the_whole_as_its_tooltip() -> None:
    svg = ElementTree.fromstring(label("a rather long name", 0, 0, room=62))
    assert svg.text == "a ra…ame"
    assert svg[0].text == "a rather long name"


def test_coordinates_are_short() -> None:
    assert [at(1.04), at(2.0), at(-0.04)] == ["1", "2", "0"]
    assert 'points="1,2 3.5,4"' in polyline([(1.0, 2.0), (3.5, 4.0)], "l")


def test_axes_have_titles_and_labels_that_do_not_run_into_each_other() -> None:
    panel = Panel(Scale(1e5, 1.00001e5, 50, 150), Scale(0, 1, 100, 20), 160, 140)
    root = ElementTree.fromstring(drawing(160, 140, "t", panel.axes(("across", "up"))))
    texts = [text for text in root.iter("text") if "mid" in text.attrib["class"]]
    places = sorted(float(t.attrib["x"]) for t in texts if t.text != "across")
    widest = max(len(t.text or "") for t in texts if t.text != "across")
    assert all(b - a > 5.5 * widest for a, b in itertools.pairwise(places))
    assert {"across", "up"} <= {t.text for t in root.iter("text")}
