"""Rows in the order of a time column."""

import numpy as np
import pandas as pd
import pytest

from foldwise.auto.timeline import order_in_time
from foldwise.errors import InvalidDataError, InvalidParameterError


@pytest.mark.parametrize(
    "times",
    [
        [3, 1, 2],
        ["2024-03-01", "2024-01-31", "2024-02-01"],
        pd.to_datetime(["2024-03-01", "2024-01-31", "2024-02-01"]),
        pd.to_datetime(["2024-03-01", "2024-01-31", "2024-02-01"]).tz_localize("UTC"),
        pd.Categorical(["2024-03-01", "2024-01-31", "2024-02-01"]),
    ],
)
def test_numbers_dates_and_text_of_dates_are_ordered_alike(times) -> None:
    assert order_in_time("A", pd.DataFrame({"t": times}), "t").tolist() == [1, 2, 0]


def test_rows_of_the_same_time_keep_their_order() -> None:
    order = order_in_time("A", pd.DataFrame({"t": np.arange(100) % 2}), "t")
    assert order.tolist() == [*range(0, 100, 2), *range(1, 100, 2)]


def test_a_position_names_a_column_without_a_name() -> None:
    assert order_in_time("A", pd.DataFrame(np.array([[0, 2.0], [1, 1.0]])), 1).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("time_column", "frame", "kind", "words"),
    [
        (
            "tiem",
            pd.DataFrame({"time": [1]}),
            InvalidParameterError,
            "A: time_column must be a column of X; got 'tiem'. Did you mean 'time'?",
        ),
        (
            "time",
            pd.DataFrame({"time": [1, None]}),
            InvalidDataError,
            "A: time_column must hold a time in every row; got 1 missing. Drop these rows.",
        ),
    ],
)
def test_what_cannot_order_rows_is_refused(time_column, frame, kind, words) -> None:
    with pytest.raises(kind) as error:
        order_in_time("A", frame, time_column)
    assert str(error.value) == words


def test_text_that_is_no_date_is_refused() -> None:
    with pytest.raises(InvalidParameterError) as error:
        order_in_time("A", pd.DataFrame({"t": ["soon", "later"]}), "t")
    assert str(error.value) == (
        "A: time_column must hold numbers or dates; got 'soon'. Write dates like 2024-01-31."
    )
