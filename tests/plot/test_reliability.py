import matplotlib as mpl
import numpy as np
import pytest

from foldwise.combine import expected_calibration_error, reliability_curve
from foldwise.plot import plot_reliability

mpl.use("agg")


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=400)
    return p, (rng.uniform(size=400) < p).astype(int)


def test_every_curve_is_drawn_at_its_points_with_its_error(rows) -> None:
    p, y = rows
    ax = plot_reliability({"right": p, "too sure": np.clip(2 * p - 0.5, 0, 1)}, y, n_bins=8)
    _, first, _ = ax.get_lines()
    curve = reliability_curve(p, y, n_bins=8)
    np.testing.assert_array_equal(first.get_xdata(), curve.predicted)
    np.testing.assert_array_equal(first.get_ydata(), curve.observed)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[0] == f"right, {expected_calibration_error(p, y, n_bins=8):.3f}"
    mpl.pyplot.close("all")


def test_one_array_is_drawn_on_given_axes(rows) -> None:
    p, y = rows
    _, ax = mpl.pyplot.subplots()
    assert plot_reliability(np.column_stack([1 - p, p]), y, ax=ax) is ax
    assert len(ax.get_lines()) == 2
    mpl.pyplot.close("all")
