import numpy as np

from foldwise.report.drawing.points import MOST_POINTS, cloud, named_points
from tests.report.drawn import marks, texts


def draw(x: np.ndarray, y: np.ndarray) -> str:
    return cloud(x, y, axes=("x", "y"), title="t")


def test_few_rows_are_points_and_many_a_density() -> None:
    rng = np.random.default_rng(0)
    few, many = rng.normal(size=(2, 50)), rng.normal(size=(2, MOST_POINTS + 1))
    (points,) = marks(draw(*few), "path")
    assert points["d"].count("M") == 50
    assert len(marks(draw(*many), "path")) > 1


def test_a_drawing_does_not_grow_with_the_rows() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 200_000))
    assert len(draw(x, y)) < 60_000


def test_a_few_extreme_rows_do_not_squeeze_the_rest() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 10_000))
    x[0] = 1e9
    assert "1G" not in texts(draw(x, y))


def test_rows_that_are_not_finite_are_left_out() -> None:
    svg = draw(np.array([1.0, np.nan, 2.0]), np.array([1.0, 1.0, np.inf]))
    assert marks(svg, "path")[0]["d"].count("M") == 1
    assert "nan" not in svg


def test_no_rows_are_axes_without_points() -> None:
    svg = draw(np.array([]), np.array([]))
    assert {"x", "y", "0", "1"} <= set(texts(svg))
    assert marks(svg, "path")[0]["d"] == ""


def test_many_rows_of_one_value_are_one_full_square() -> None:
    svg = draw(np.full(5_000, 3.0), np.full(5_000, 3.0))
    (square,) = marks(svg, "path")
    assert square["d"].count("M") == 1
    assert square["fill-opacity"] == "1.00"
    assert "3" in texts(svg)


def test_names_of_points_do_not_lie_on_each_other() -> None:
    svg = named_points(
        [0.5] * 6, [1.0 + i * 1e-3 for i in range(6)], [f"model {i}" for i in range(6)],
        axes=("x", "y"), title="t",
    )  # fmt: skip
    places = sorted(
        float(m["y"]) for m, t in zip(marks(svg, "text"), texts(svg), strict=True) if "model" in t
    )
    assert len(places) == 6
    assert min(np.diff(places)) >= 12


def test_a_name_without_room_is_a_tooltip_alone() -> None:
    names = [f"model {i}" for i in range(12)]
    svg = named_points([0.0, *[0.5] * 11], [9.0, *[1.0] * 11], names, axes=("x", "y"), title="t")
    assert all(f"<title>{name}</title>" in svg for name in names)
    shown = zip(marks(svg, "text"), texts(svg), strict=True)
    places = sorted(float(m["y"]) for m, text in shown if text in names)
    assert 2 < len(places) < 12
    assert min(np.diff(places)) >= 12
