import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from foldwise.checks import checked_groups, checked_weights
from foldwise.errors import InvalidDataError, InvalidParameterError, UnsupportedError
from foldwise.stack.problem import (
    check_columns,
    checked_classes,
    checked_table,
    checked_values,
    passed_columns,
)

FRAME = pd.DataFrame({"age": [1, 2], "weight": [3, 4]})


def test_arrays_and_frames_are_not_copied() -> None:
    array = np.ones((3, 2))
    assert np.shares_memory(checked_table("S", array), array)
    assert checked_table("S", FRAME) is FRAME


@pytest.mark.parametrize("make", [sparse.coo_array, sparse.csc_matrix, sparse.lil_array])
def test_sparse_matrices_become_rows_that_can_be_taken(make: object) -> None:
    assert checked_table("S", make(np.eye(3))).format == "csr"


def test_lists_become_arrays() -> None:
    assert checked_table("S", [[1, 2], [3, 4]]).shape == (2, 2)


def test_nested_objects_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="S: X must hold numbers or strings"):
        checked_table("S", np.array([[{"a": 1}], [{"b": 2}]], dtype=object))


def test_one_number_is_the_weight_of_every_row() -> None:
    assert checked_weights("S", 2, 3).tolist() == [2, 2, 2]
    assert checked_weights("S", None, 3) is None


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ([1, -1, 1], "be finite and not negative (Negative values in data); got -1.0."),
        ([1, np.inf, 1], "be finite and not negative (Negative values in data); got inf."),
        ([0, 0, 0], "not be zero everywhere; got all zeros."),
        ([1, 1], "have one entry for each of the 3 rows of X"),
        ([[1], [1], [1]], "be one-dimensional"),
    ],
)
def test_weights_must_be_weights(weights: list, text: str) -> None:
    with pytest.raises(InvalidDataError) as caught:
        checked_weights("S", weights, 3)
    assert str(caught.value).startswith("S: sample_weight must ")
    assert text in str(caught.value)


@pytest.mark.parametrize(
    "groups", [list("bab"), np.array([7, 3, 7]), pd.Series(list("bab")), pl.Series(list("bab"))]
)
def test_groups_of_any_kind_become_codes(groups: object) -> None:
    codes = checked_groups("S", groups, 3)
    assert codes.tolist() == [1, 0, 1]


def test_rows_without_a_group_are_refused() -> None:
    with pytest.raises(InvalidDataError, match="groups must name a group for every row; got 1 mis"):
        checked_groups("S", ["a", None, "b"], 3)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_targets_must_be_finite(bad: float) -> None:
    with pytest.raises(InvalidDataError, match="S: y must hold no NaN or infinity"):
        checked_values("S", [1.0, bad])


def test_words_are_no_numbers() -> None:
    with pytest.raises(InvalidDataError, match="Use StackingClassifier for classes"):
        checked_values("S", ["a", "b"])


def test_classes_become_codes_in_sorted_order() -> None:
    codes, labels = checked_classes("S", ["b", "a", "b"])
    assert (codes.tolist(), labels.tolist()) == ([1, 0, 1], ["a", "b"])


@pytest.mark.parametrize(
    ("y", "text"),
    [
        (["a", "a"], "hold at least two classes; got one class, 'a'."),
        (["a", None], "hold no missing class (y contains NaN); got 1 missing."),
        ([1.0, np.nan], "hold no missing class (y contains NaN); got 1 missing."),
        ([[0, 1], [1, 1]], "several labels a row (multilabel) are not supported yet"),
    ],
)
def test_classes_must_be_classes(y: list, text: str) -> None:
    with pytest.raises(InvalidDataError) as caught:
        checked_classes("S", y)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("passthrough", "expected"),
    [(False, None), (None, None), (True, slice(None)), ("age", ["age"]), ([0, -1], [0, -1])],
)
def test_columns_to_pass_on(passthrough: object, expected: object) -> None:
    assert passed_columns("S", passthrough, FRAME, ()) == expected


@pytest.mark.parametrize(
    ("passthrough", "text"),
    [
        (["wieght"], "S: passthrough must name columns of X; got 'wieght'. Did you mean 'weight'?"),
        (
            [2],
            "S: passthrough must be a bool or columns of X, which has 2; got 2. "
            "Use column names of a DataFrame, or column numbers.",
        ),
    ],
)
def test_unknown_columns_to_pass_on(passthrough: object, text: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        passed_columns("S", passthrough, FRAME, ())
    assert str(caught.value) == text


def test_unknown_columns_of_a_learner() -> None:
    with pytest.raises(InvalidParameterError) as caught:
        check_columns("S", "ridge", ["age", "wieght"], FRAME)
    assert str(caught.value) == (
        "S: estimators must name columns of X for 'ridge'; got ['age', 'wieght']. "
        "Did you mean 'weight'?"
    )
    with pytest.raises(InvalidParameterError, match="X has columns 0 to 2"):
        check_columns("S", "ridge", [5], np.ones((4, 3)))
