import numpy as np
import pytest
from numpy.testing import assert_array_equal

from foldwise.diagnose import OutOfFoldTable, diversity
from foldwise.errors import InvalidDataError, UnsupportedError


def test_labels_become_certainties_in_the_order_of_the_classes() -> None:
    table = OutOfFoldTable.from_arrays([["b", "a"]], ["b"], classes=["b", "a"])
    assert table.predictions.tolist() == [[[[1.0, 0.0], [0.0, 1.0]]]]
    assert table.y.tolist() == [0]


def test_right_is_the_most_probable_class() -> None:
    probabilities = [[[0.6, 0.4], [0.2, 0.8]], [[0.1, 0.9], [0.3, 0.7]]]
    table = OutOfFoldTable.from_arrays(probabilities, [0, 1], classes=[0, 1])
    assert_array_equal(table.correct, [[True, False], [True, True]])


def test_weights_become_shares() -> None:
    table = OutOfFoldTable.from_arrays([[1.0], [2.0]], [1.0, 2.0], sample_weight=[1, 3])
    assert table.share.tolist() == [0.25, 0.75]


def test_repeats_count_alike() -> None:
    table = OutOfFoldTable.from_arrays(np.zeros((3, 2, 1, 1)), [1.0, 2.0])
    assert (table.n_repeats, table.n_rows, table.n_models) == (3, 2, 1)
    np.testing.assert_allclose(table.repeated_share, 1 / 6)


def test_several_targets_are_kept() -> None:
    table = OutOfFoldTable.from_arrays(np.zeros((4, 2, 3)), np.ones((4, 3)))
    assert table.target.shape == (4, 3)


def test_names_given_are_kept() -> None:
    assert OutOfFoldTable.from_arrays([[1.0]], [1.0], names=["ridge"]).names == ("ridge",)


def test_rows_must_match() -> None:
    with pytest.raises(InvalidDataError) as error:
        OutOfFoldTable.from_arrays([[1.0]], [1.0, 2.0])
    assert str(error.value) == (
        "OutOfFoldTable: predictions must have 2 rows and 1 columns a model; got shape (1, 1, 1). "
        "Give an array of shape (n_rows, n_models) or (n_rows, n_models, width)."
    )


def test_unknown_classes_are_named() -> None:
    with pytest.raises(InvalidDataError) as error:
        OutOfFoldTable.from_arrays([[0]], [2], classes=[0, 1])
    assert str(error.value) == (
        "OutOfFoldTable: y must hold only the given classes; got 2. Add it to classes."
    )


def test_missing_predictions_are_refused() -> None:
    with pytest.raises(InvalidDataError) as error:
        OutOfFoldTable.from_arrays([[np.nan]], [2.0])
    assert str(error.value) == (
        "OutOfFoldTable: predictions must be finite; got NaN or infinity. "
        "Leave out rows without predictions."
    )


def test_a_stack_inside_another_estimator_is_found() -> None:
    class Around:
        stack_ = OutOfFoldTable.from_arrays([[0, 1]], [0], classes=[0, 1])

    assert diversity(Around()).accuracy.tolist() == [1.0, 0.0]


def test_anything_else_is_refused() -> None:
    with pytest.raises(UnsupportedError) as error:
        diversity(3)
    assert str(error.value) == (
        "diversity: source must be a fitted stack or an OutOfFoldTable; got int. "
        "Fit a foldwise stack, or use OutOfFoldTable.from_arrays."
    )
