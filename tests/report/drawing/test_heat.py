import numpy as np

from foldwise.report.drawing.heat import heat
from tests.report.drawn import marks, size, texts


def test_stronger_values_are_darker_and_negative_ones_have_the_other_colour() -> None:
    svg = heat(np.array([[1.0, 0.2], [-0.5, 0.0]]), ["a", "b"], title="t")
    cells = marks(svg, "rect")
    opacity = [float(c["fill-opacity"]) for c in cells]
    assert opacity[0] > opacity[2] > opacity[1] > opacity[3]
    assert [c["class"] for c in cells] == ["f c1", "f c1", "f c2", "f c1"]


def test_numbers_are_shown_while_there_is_room() -> None:
    small, large = np.eye(3), np.eye(15)
    names = [f"model {i}" for i in range(15)]
    assert texts(heat(small, names[:3], title="t")).count("1") == 3
    shown = texts(heat(large, names, title="t"))
    assert shown.count("0") == 0
    assert "1 model 0" in shown
    assert "15" in shown


def test_a_large_map_keeps_its_width_and_nan_is_pale() -> None:
    names = ["n" * 80] * 20
    svg = heat(np.full((20, 20), np.nan), names, title="t")
    assert size(svg)[0] == 360
    assert {float(c["fill-opacity"]) for c in marks(svg, "rect")} == {0.04}
