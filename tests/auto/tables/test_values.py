import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from foldwise.auto.tables.values import (
    FORMATS,
    date_format_of,
    dates_of,
    numbers_of,
    text_of,
    truths_of,
)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, 2, 3]),
        pd.Series([1.0, 2.0, 3.0]),
        pd.Series(["1", "2", " 3 "]),
        pd.Series([1, 2, 3], dtype="Int64"),
        pd.Series([1, 2, 3], dtype="category"),
        pd.Series([1, 2, 3], dtype=np.uint8),
        pd.Series([1, 2, 3], dtype="float64[pyarrow]"),
        pd.Series([Decimal(1), Decimal(2), Decimal(3)], dtype=object),
        pd.Series([1, 2.0, "3"], dtype=object),
    ],
)
def test_a_number_is_the_same_number_however_it_is_stored(column):
    assert_array_equal(numbers_of(column), [1, 2, 3])


def test_whole_numbers_are_the_same_words_however_they_are_stored():
    for column in ([1, 2], [1.0, 2.0], ["1", "2"], [" 1", "2 "]):
        assert text_of(pd.Series(column)).tolist() == ["1", "2"]


def test_missing_cells_of_all_kinds_are_missing():
    column = pd.Series([None, np.nan, pd.NA, pd.NaT, "", " "], dtype=object)
    assert text_of(column).isna().all()
    assert np.isnan(numbers_of(column)).all()
    assert np.isnat(dates_of(column, "")).all()


def test_underscores_do_not_make_a_number():
    assert np.isnan(numbers_of(pd.Series(["1_000"]))).all()


def test_truth_in_words_and_numbers():
    assert_array_equal(truths_of(pd.Series(["Yes", "no", "maybe"])), [1, 0, np.nan])
    assert_array_equal(truths_of(pd.Series([True, None], dtype="boolean")), [1, np.nan])
    assert_array_equal(truths_of(pd.Series([1.0, 0.0])), [1, 0])


DAYS = [dt.datetime(2024, 1, 31, 13, 45), dt.datetime(1999, 12, 1, 8, 5)]


@pytest.mark.parametrize("date_format", FORMATS[1:])
def test_a_format_is_found_again(date_format):
    words = pd.Series([day.strftime(date_format) for day in DAYS])
    found = date_format_of(words)
    assert found
    read = dates_of(words, found).astype("datetime64[s]").astype(object)
    assert [day.strftime(date_format) for day in read] == words.tolist()


def test_iso_dates_are_read_with_and_without_time_and_zone():
    words = pd.Series(["2024-01-31", "2024-01-31T10:00", "2024-01-31 10:00:00+02:00"])
    assert date_format_of(words) == "ISO8601"
    hours = dates_of(words, "ISO8601").astype("datetime64[h]").astype(object)
    assert [hour.hour for hour in hours] == [0, 10, 8]


def test_day_comes_first_where_both_would_do():
    assert date_format_of(pd.Series(["01/02/2024", "03/04/2024"])) == "%d/%m/%Y"
    assert date_format_of(pd.Series(["01/02/2024", "03/14/2024"])) == "%m/%d/%Y"


@pytest.mark.parametrize(
    "words",
    [["red", "blue"], ["A-1", "B-2"], ["1.2.3", "1.2.4"], ["12 kg", "13 kg"], ["10-20", "20-30"]],
)
def test_words_are_not_dates(words):
    assert date_format_of(pd.Series(words)) == ""


def test_dates_of_all_types_are_read():
    day = "2024-01-31"
    for column in (
        pd.Series([pd.Timestamp(day)]),
        pd.Series([pd.Timestamp(day, tz="Asia/Tokyo")]),
        pd.Series([dt.date(2024, 1, 31)]),
        pd.Series([pd.Period(day, freq="D")]),
        pd.Series([day]),
        pd.Series([day], dtype="category"),
    ):
        assert dates_of(column, "").astype("datetime64[D]").astype(str).tolist() == [day]
