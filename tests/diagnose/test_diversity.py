import numpy as np
import pytest
from numpy.testing import assert_allclose

from foldwise.diagnose import OutOfFoldTable, diversity, error_correlation
from foldwise.diagnose.diversity import OVERALL, PAIRWISE
from foldwise.errors import UnsupportedError


def labels(n_repeats: int = 1) -> OutOfFoldTable:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 50)
    noisy = np.where(rng.random((n_repeats, 50, 3)) < 0.7, y[None, :, None], 1)
    return OutOfFoldTable.from_arrays(np.eye(3)[noisy], y, names=list("abc"), classes=range(3))


def test_all_ten_are_there_with_their_direction() -> None:
    frame = diversity(labels()).to_frame()
    assert frame["measure"].tolist() == [*PAIRWISE, *OVERALL]
    assert len(frame) == 10
    assert frame["value"].notna().all()
    assert frame.set_index("measure").loc["entropy", "more_diverse_when"] == "higher"


def test_repeats_are_pooled() -> None:
    table = labels(2)
    whole = diversity(table)
    parts = [
        diversity(OutOfFoldTable.from_arrays(table.predictions[r], table.y, classes=range(3)))
        for r in range(2)
    ]
    assert_allclose(whole.disagreement, (parts[0].disagreement + parts[1].disagreement) / 2)
    assert_allclose(whole.accuracy, (parts[0].accuracy + parts[1].accuracy) / 2)


def test_permuting_models_permutes_pairs_and_leaves_the_rest() -> None:
    table, order = labels(), [2, 0, 1]
    other = OutOfFoldTable.from_arrays(table.predictions[0][:, order], table.y, classes=range(3))
    one, two = diversity(table), diversity(other)
    assert_allclose(one.q_statistic[np.ix_(order, order)], two.q_statistic)
    assert_allclose(one.entropy, two.entropy)


def test_pairs_bear_the_names() -> None:
    found = diversity(labels())
    assert found.pairs("double_fault").loc["a", "c"] == found.double_fault[0, 2]


def test_the_text_says_how_many_and_what() -> None:
    text = str(diversity(labels())).splitlines()
    assert text[0].startswith("Diversity of 3 models, right on ")
    assert len(text) == 12


def test_numbers_are_refused_with_what_to_use_instead() -> None:
    with pytest.raises(UnsupportedError) as error:
        diversity(OutOfFoldTable.from_arrays([[1.0]], [1.0]))
    assert str(error.value) == (
        "diversity: source must predict classes; got numbers. Use ambiguity or error_correlation."
    )


def test_error_correlation_is_numpys_for_numbers() -> None:
    rng = np.random.default_rng(1)
    predictions, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    found = error_correlation(OutOfFoldTable.from_arrays(predictions, y))
    assert_allclose(found.matrix, np.corrcoef((predictions - y[:, None]).T), atol=1e-12)


def test_error_correlation_weighs_rows() -> None:
    rng = np.random.default_rng(1)
    predictions, y, weight = rng.normal(size=(40, 3)), rng.normal(size=40), rng.integers(0, 3, 40)
    found = error_correlation(OutOfFoldTable.from_arrays(predictions, y, sample_weight=weight))
    errors = np.repeat(predictions - y[:, None], weight, axis=0)
    assert_allclose(found.matrix, np.corrcoef(errors.T), atol=1e-12)


def test_error_correlation_of_classes_looks_at_the_true_class() -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 30)
    probabilities = rng.dirichlet(np.ones(3), size=(30, 2))
    found = error_correlation(OutOfFoldTable.from_arrays(probabilities, y, classes=range(3)))
    true = probabilities[np.arange(30), :, y]
    assert_allclose(found.matrix, np.corrcoef(true.T), atol=1e-12)
    assert found.to_frame().shape == (2, 2)
    assert str(found).startswith("Correlation of the models' errors\n")


def test_a_constant_error_correlates_with_nothing() -> None:
    found = error_correlation(OutOfFoldTable.from_arrays([[1.0, 2.0], [2.0, 1.0]], [0.0, 1.0]))
    assert found.matrix.tolist() == [[1.0, 0.0], [0.0, 1.0]]
