import matplotlib as mpl
import numpy as np
import pytest

from foldwise.diagnose import OutOfFoldTable, diversity
from foldwise.errors import InvalidParameterError
from foldwise.plot import plot_diversity

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
        "plot_diversity: measure must be a pairwise measure; got 'disagree'. "
        "Did you mean 'disagreement'?"
    )
