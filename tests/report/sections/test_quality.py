import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldwise.report.predictions import Predictions
from foldwise.report.sections.quality import binned, quality_section
from foldwise.scores.metric import Response, Target
from tests.report.drawn import texts


@given(st.lists(st.integers(0, 8), min_size=1, max_size=60), st.integers(1, 12))
def test_bins_hold_every_row_once_in_order_and_never_part_ties(x: list[int], n_bins: int) -> None:
    values = np.array(x, dtype=float)
    bins = binned(values, n_bins)
    assert sorted(np.concatenate(bins).tolist()) == list(range(len(x)))
    assert len(bins) <= n_bins
    ends = [(values[rows].min(), values[rows].max()) for rows in bins]
    assert all(a[1] < b[0] for a, b in itertools.pairwise(ends))


def of_classes(n_classes: int, n: int = 300, probabilities: bool = True) -> Predictions:
    rng = np.random.default_rng(0)
    given = rng.dirichlet(np.ones(n_classes), n)
    y = np.array([rng.choice(n_classes, p=row) for row in given])
    labels = np.array([f"class {i}" for i in range(n_classes)])
    response = Response("probability", given)
    if not probabilities:
        response = Response("label", given.argmax(axis=1).astype(float)[:, None])
    return Predictions(response, Target(y, labels, None, np.zeros(n, int)), "here")


def of_numbers(y: np.ndarray, predicted: np.ndarray) -> Predictions:
    target = Target(y, None, None, np.zeros(len(y), int))
    return Predictions(Response("value", predicted.reshape(len(y), -1)), target, "here")


def test_confusion_is_in_percent_of_each_actual_class() -> None:
    y, said = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    weight = np.array([1.0, 1.0, 2.0, 5.0])
    target = Target(y, np.array(["a", "b"]), weight, np.zeros(4, int))
    shown = Predictions(Response("label", said.astype(float)[:, None]), target, "here")
    (figures,) = quality_section(shown).blocks
    assert [t for t in texts(figures.figures[0].drawing) if t.isdigit()] == ["50", "50", "0", "100"]


def test_few_classes_are_drawn_and_many_listed() -> None:
    (figures,) = quality_section(of_classes(3)).blocks
    assert [f.title for f in figures.figures] == ["Reliability", "Confusion"]
    figures, table = quality_section(of_classes(30)).blocks
    assert [f.title for f in figures.figures] == ["Reliability"]
    assert table.title == "Commonest confusions among 30 classes"
    counts = [int(row[2]) for row in table.rows]
    assert counts == sorted(counts, reverse=True)


def test_without_probabilities_there_is_confusion_only() -> None:
    (figures,) = quality_section(of_classes(3, probabilities=False)).blocks
    assert [f.title for f in figures.figures] == ["Confusion"]


def test_probabilities_that_mean_what_they_say_are_near_the_line() -> None:
    (figures,) = quality_section(of_classes(2, 20_000)).blocks
    distance = float(figures.figures[0].caption.split("is ")[-1].split(" %")[0])
    assert distance < 2.0


def test_a_regression_has_two_figures_and_several_targets_one_each() -> None:
    y = np.random.default_rng(0).normal(size=(50, 2))
    (figures,) = quality_section(of_numbers(y[:, 0], y[:, 1])).blocks
    assert [f.title for f in figures.figures] == [
        "Predicted against actual",
        "Errors along the prediction",
    ]
    (figures,) = quality_section(of_numbers(y, y)).blocks
    assert [f.title for f in figures.figures] == ["Target 1", "Target 2"]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_very_few_rows_can_be_shown(n: int) -> None:
    y = np.arange(float(n))
    (figures,) = quality_section(of_numbers(y, y * 0)).blocks
    assert "predicted" in texts(figures.figures[1].drawing)
