import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from foldwise.auto.tables.problem import table_problem
from foldwise.errors import FoldwiseError, InvalidDataError, InvalidParameterError


def problem(y, **options):
    frame = pd.DataFrame({"x": [3 * k % 17 for k in range(len(y))], "y": y})
    return table_problem(frame, "y", **options)


@pytest.mark.parametrize(
    ("y", "task"),
    [
        ([0.5, 1.5, 2.5], "regression"),
        (list(range(40)), "regression"),
        ([0, 1] * 10, "classification"),
        ([0.0, 1.0] * 10, "classification"),
        ([1, 2, 3] * 30, "classification"),
        ([1, 2, 3], "regression"),
        (list(range(11)) * 30, "regression"),
        (["a", "b"] * 5, "classification"),
        ([True, False] * 5, "classification"),
        (["yes", "no"] * 5, "classification"),
        (["1.5", "2.5", "3"], "regression"),
        (pd.Categorical([1, 2, 3, 1, 2, 3]), "classification"),
    ],
)
def test_the_task_is_told_from_the_target(y, task):
    assert problem(y).task == task


def test_what_was_decided_is_said_with_the_way_out():
    assert problem([1, 2, 3] * 30).notes == (
        "'y' has 3 different values, which are taken as classes; --task regression takes them "
        "as a quantity.",
    )
    assert problem([1, 2, 3] * 30, task="regression").y.dtype == np.float64


def test_classes_are_whole_numbers_or_words():
    assert_array_equal(problem([0.0, 1.0] * 3).y, [0, 1] * 3)
    assert problem([0.0, 1.0] * 3).y.dtype.kind == "i"
    assert_array_equal(problem(["b", "a"] * 2).y, ["b", "a"] * 2)
    assert_array_equal(problem([True, False] * 2).y, ["True", "False"] * 2)


def test_rows_without_target_are_left_out_and_said():
    found = problem([0.5, None, 1.5, 2.5])
    assert found.X["x"].tolist() == [0, 6, 9]
    assert found.notes == ("Rows left out because 'y' is missing: 1 of 4.",)


def test_a_misspelt_task_is_no_task():
    frame = pd.DataFrame({"x": [1, 2], "y": [1.5, 2.5]})
    with pytest.raises(ValueError, match="Did you mean 'regression'"):
        table_problem(frame, "y", task="regresion")


def test_rows_of_weight_zero_are_left_out_and_said():
    frame = pd.DataFrame({"x": [1, 2, 3, "rubbish"], "y": [1.5, 2.5, 3.5, "?"], "w": [1, 2, 1, 0]})
    found = table_problem(frame, "y", weight="w")
    assert found.kinds["x"].kind == "number"
    assert (found.task, found.y.tolist()) == ("regression", [1.5, 2.5, 3.5])
    assert_array_equal(found.sample_weight, [1, 2, 1])
    assert found.notes == ("Rows left out because 'w' is zero: 1 of 4.",)


def test_weights_and_groups_and_dropped_columns_are_no_features():
    frame = pd.DataFrame({"x": [1, 2], "w": [1, 0.5], "g": ["a", "b"], "z": [0, 0], "y": [0.5, 1]})
    found = table_problem(frame, "y", weight="w", groups="g", drop=["z"])
    assert list(found.X.columns) == ["x"]
    assert_array_equal(found.sample_weight, [1, 0.5])
    assert_array_equal(found.groups, [0, 1])


FRAME = pd.DataFrame(
    {
        "x": [1.0, 2.0, 3.0],
        "price": [1.0, 2.5, np.inf],
        "none": [None] * 3,
        "same": [7] * 3,
        "day": ["2024-01-01", "2024-01-02", "2024-01-03"],
        "name": ["a", "b", "c"],
        "gap": [1.0, None, 2.0],
    }
)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"target": "pric"},
            InvalidParameterError,
            "table_problem: target must name a column of the table; got 'pric'. "
            "Did you mean 'price'?",
        ),
        (
            {"target": "x", "drop": ["zzz"]},
            InvalidParameterError,
            "table_problem: drop must name a column of the table; got 'zzz'. Use one of "
            "'day', 'gap', 'name', 'none', 'price', 'same', 'x'.",
        ),
        (
            {"target": "x", "weight": "x"},
            InvalidParameterError,
            "table_problem: target, groups, weight and drop must name different columns; got "
            "'x' more than once. Use each column for one thing.",
        ),
        (
            {"target": "none"},
            InvalidDataError,
            "table_problem: target 'none' must be known in some rows; got 3 of 3 missing. "
            "Name another column.",
        ),
        (
            {"target": "same"},
            InvalidDataError,
            "table_problem: target 'same' must differ between rows; got 7 in every row. There is "
            "nothing to learn from one value: name another column.",
        ),
        (
            {"target": "price"},
            InvalidDataError,
            "table_problem: target 'price' must be finite numbers; got 'inf' in 1 of 3 rows. "
            "Correct or drop these rows.",
        ),
        (
            {"target": "day"},
            InvalidDataError,
            "table_problem: target 'day' must be numbers or classes; got dates. Turn them into a "
            "number of days first.",
        ),
        (
            {"target": "name"},
            InvalidDataError,
            "table_problem: target 'name' must be numbers, or classes of which each has several "
            "rows; got 3 different values in 3 rows. Name another column, or merge rare classes.",
        ),
        (
            {"target": "x", "weight": "gap"},
            InvalidDataError,
            "table_problem: sample_weight must be finite and not negative (Negative values in "
            "data); got nan. Drop these rows instead.",
        ),
        (
            {"target": "x", "groups": "gap"},
            InvalidDataError,
            "table_problem: groups must name a group for every row; got 1 missing. Give "
            "these rows a group of their own.",
        ),
    ],
)
def test_what_cannot_be_is_refused_word_for_word(arguments, error, message):
    with pytest.raises(error) as caught:
        table_problem(FRAME, **arguments)
    assert str(caught.value) == message


def test_columns_that_cannot_help_are_named_with_their_kinds():
    with pytest.raises(FoldwiseError, match=r"got 'x' \(constant\). Add what the target"):
        table_problem(pd.DataFrame({"x": [1, 1], "y": [1.5, 2.5]}), "y")


def test_too_few_rows_are_refused():
    with pytest.raises(FoldwiseError) as caught:
        problem([1.5, 2.5, None], fewest_rows=3)
    assert str(caught.value) == (
        "table_problem: the table must have at least 3 rows with a target; got 2. Collect more."
    )


def test_a_table_of_the_target_alone_is_refused():
    with pytest.raises(FoldwiseError, match="must have columns besides 'y' that differ and"):
        table_problem(pd.DataFrame({"y": [1.5, 2.5]}), "y")


def test_huge_whole_labels_do_not_wrap() -> None:
    frame = pd.DataFrame({"a": np.arange(40.0), "label": [1e25, 2e25] * 20})
    problem = table_problem(frame, "label", task="classification")
    assert set(problem.y) == {str(int(1e25)), str(int(2e25))}
