import matplotlib as mpl
import numpy as np

from foldwise.plot import plot_variance_curve
from foldwise.resample.variance import BaggingVariance

mpl.use("Agg")


def test_curve_floor_and_place_are_drawn() -> None:
    found = BaggingVariance(np.array([0.3]), np.array([1.2]), 50)
    ax = plot_variance_curve(found.curve())
    curve, floor, here = ax.lines
    assert curve.get_ydata()[0] == 1.5
    assert floor.get_ydata()[0] == 0.3
    np.testing.assert_allclose(here.get_ydata(), [0.3 + 1.2 / 50])
    assert ax.get_title() == "σ² = 1.5, ρ = 0.20"
