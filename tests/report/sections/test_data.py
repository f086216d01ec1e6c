from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from foldwise.auto.tables import column_kinds
from foldwise.report.sections.data import (
    MOST_COLUMNS,
    column_of,
    column_table,
    data_section,
    describe_column,
)
from foldwise.scores.metric import Target


def of(y: np.ndarray, labels: Any = None, weight: Any = None) -> Target:
    return Target(y, labels, weight, np.zeros(len(y), int))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([1, 2, 3]), ["number", "0 %", "3", "1, 2, 3"]),
        (np.array([np.nan, np.nan]), ["number", "100 %", "0", ""]),
        (np.array([True, False, True]), ["yes or no", "0 %", "2", "True (67 %), False (33 %)"]),
        (np.array(["a", None, "a"], dtype=object), ["text", "33 %", "1", "a (100 %)"]),
        (np.array(["a", pd.NA, np.nan, pd.NaT], dtype=object), ["text", "75 %", "1", "a (100 %)"]),
        (
            np.array(["2020-01-01", "NaT", "2021-06-01"], dtype="datetime64[s]"),
            ["time", "33 %", "2", "2020-01-01 to 2021-06-01"],
        ),
        (np.array([], dtype=float), ["number", "100 %", "0", ""]),
    ],
)
def test_a_column_of_any_kind_is_described(values: np.ndarray, expected: list[str]) -> None:
    assert describe_column(values) == expected


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, pl.DataFrame, sparse.csc_array])
def test_a_column_is_found_in_any_table(make: Any) -> None:
    X = make(np.array([[1.0, 2.0], [3.0, 4.0]]))
    np.testing.assert_array_equal(column_of(X, 1), [2.0, 4.0])


def test_columns_of_one_name_are_told_apart_by_their_place() -> None:
    X = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])
    assert [column_of(X, j)[0] for j in (0, 1)] == [1.0, 2.0]


def test_categories_and_mixed_columns_are_described() -> None:
    frame = pd.DataFrame({"c": pd.Categorical(["x", "y", "x"]), "m": ["a", 1, None]})
    assert [row[1] for row in column_table(frame, frame.columns).rows] == ["text", "text"]


@pytest.mark.parametrize("kind", ["string", "boolean", "Int64"])
def test_columns_that_pandas_knows_to_have_gaps_are_described(kind: str) -> None:
    column = pd.array([1, None, 1, 0], dtype="Int64").astype(kind)
    row = column_table(pd.DataFrame({"c": column}), ["c"]).rows[0]
    assert row[2:4] == ["25 %", "2"]


def test_a_wide_table_is_cut() -> None:
    table = column_table(np.zeros((3, 500)), None)
    assert len(table.rows) == MOST_COLUMNS
    assert table.left_out == 500 - MOST_COLUMNS
    assert table.rows[0][0] == "x0"


def test_the_target_is_drawn_for_numbers_and_classes() -> None:
    numbers = data_section(of(np.arange(20.0)), None, ["a", "b"])
    assert numbers.blocks[1].figures[0].title == "The target"
    assert numbers.lead == "20 rows; the columns are not at hand."
    labels = np.array([f"c{i}" for i in range(50)])
    section = data_section(of(np.arange(50), labels, np.ones(50)), np.zeros((50, 2)), None)
    assert section.blocks[1].figures[0].caption == "And 30 rarer ones."
    assert dict(section.blocks[0].pairs)["Weights"] == "1 to 1"


def test_kinds_found_by_the_automatic_stack_are_listed_with_their_reason() -> None:
    frame = pd.DataFrame({"age": [31.5, 42.0, None], "town": ["Bonn", "Rome", "Bonn"]})
    section = data_section(of(np.arange(3.0)), frame, None, column_kinds(frame))
    assert section.blocks[-1].rows == [
        ["age", "number", "1", "2", "numbers"],
        ["town", "category", "0", "2", "words that repeat"],
    ]
