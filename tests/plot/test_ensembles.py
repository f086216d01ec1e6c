import matplotlib as mpl
import numpy as np
import pytest

from foldwise.combine import expected_calibration_error, reliability_curve
from foldwise.diagnose import OutOfFoldTable, diversity
from foldwise.errors import InvalidParameterError
from foldwise.plot import plot_diversity, plot_reliability, plot_variance_curve
from foldwise.resample.variance import BaggingVariance

mpl.use("Agg")


LABELS = np.random.default_rng(0).integers(0, 2, (30, 3))
TABLE = OutOfFoldTable.from_arrays(LABELS, LABELS[:, 0], names=list("abc"), classes=[0, 1])


@pytest.mark.parametrize("measure", ["q_statistic", "correlation", "disagreement", "double_fault"])
def test_the_squares_are_the_measures_with_names_and_numbers(measure: str) -> None:
    ax = plot_diversity(TABLE, measure)
    wanted = diversity(TABLE).pairs(measure).to_numpy()
    np.testing.assert_array_equal(ax.images[0].get_array(), wanted)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]
    assert [text.get_text() for text in ax.texts] == [f"{value:.2f}" for value in wanted.ravel()]


def test_an_unknown_measure_is_refused() -> None:
    with pytest.raises(InvalidParameterError) as error:
        plot_diversity(TABLE, "disagree")
    assert str(error.value) == (
        "plot_diversity: measure must be one of 'error_correlation', 'q_statistic', 'correlation', "
        "'disagreement', 'double_fault'; got 'disagree'. Did you mean 'disagreement'?"
    )


def test_curve_floor_and_place_are_drawn() -> None:
    found = BaggingVariance(np.array([0.3]), np.array([1.2]), 50)
    ax = plot_variance_curve(found.curve())
    curve, floor, here = ax.lines
    assert curve.get_ydata()[0] == 1.5
    assert floor.get_ydata()[0] == 0.3
    np.testing.assert_allclose(here.get_ydata(), [0.3 + 1.2 / 50])
    assert ax.get_title() == "σ² = 1.5, ρ = 0.20"


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
