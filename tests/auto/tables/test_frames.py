import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from foldwise.auto.tables import column_kinds
from foldwise.auto.tables.frames import as_frame, is_frame
from foldwise.auto.tables.values import dates_of, numbers_of
from foldwise.errors import InvalidDataError, UnsupportedError

COLUMNS = {
    "whole": [1, 2, None],
    "real": [1.5, None, 2.5],
    "word": ["a", None, "c"],
    "truth": [True, False, True],
    "day": [dt.datetime(2024, 1, 31), None, dt.datetime(2024, 2, 1)],
}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_all_libraries_hold_the_same(make):
    frame = as_frame(make(COLUMNS))
    assert list(frame.columns) == list(COLUMNS)
    np.testing.assert_array_equal(frame["whole"].to_numpy(float), [1, 2, np.nan])
    np.testing.assert_array_equal(frame["real"].to_numpy(float), [1.5, np.nan, 2.5])
    assert frame["word"].isna().tolist() == [False, True, False]
    assert frame["truth"].tolist() == [True, False, True]
    assert pd.to_datetime(frame["day"]).dt.day.tolist()[::2] == [31, 1]


def test_polars_categories_stay_categories_in_their_order():
    levels = pl.Enum(["low", "high"])
    frame = as_frame(pl.DataFrame({"a": pl.Series(["high", None, "low"], dtype=levels)}))
    assert list(frame["a"].cat.categories) == ["low", "high"]
    assert frame["a"].isna().tolist() == [False, True, False]


def test_arrays_get_plain_names():
    assert list(as_frame(np.zeros((2, 3))).columns) == ["x0", "x1", "x2"]
    assert not is_frame(np.zeros((2, 3)))


def test_names_that_are_not_text_become_text():
    assert list(as_frame(pd.DataFrame({1: [1], "b": [2]})).columns) == ["1", "b"]


def test_duplicate_names_are_refused_by_name():
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(
        InvalidDataError,
        match=r"^f: column names must differ; got 'a' more than once. Rename or drop all but one.$",
    ):
        as_frame(twice, "f")


def test_names_that_differ_only_as_objects_are_refused():
    with pytest.raises(InvalidDataError, match="got '1' more than once"):
        as_frame(pd.DataFrame([[1, 2]], columns=[1, "1"]))


def test_sparse_matrices_are_refused():
    with pytest.raises(
        UnsupportedError, match=r"^f: X must be a dense table .* got a sparse matrix"
    ):
        as_frame(sparse.eye(3), "f")


def test_a_zoned_time_reads_the_same_from_every_frame() -> None:
    times = pd.Series(pd.to_datetime(["2024-07-01 00:30"])).dt.tz_localize("Asia/Tokyo")
    pandas = pd.DataFrame({"t": times})
    arrow = pa.Table.from_pandas(pandas)
    read = [
        dates_of(as_frame(frame)["t"], "").astype(str).tolist()
        for frame in (
            pandas,
            arrow,
            pl.from_pandas(pandas),
            pandas.astype({"t": pd.ArrowDtype(arrow.schema.field("t").type)}),
        )
    ]
    assert read == 4 * [["2024-07-01T00:30:00.000000"]]


def test_durations_of_every_frame_are_seconds() -> None:
    pandas = pd.DataFrame({"d": pd.to_timedelta(["1min", "2min", None])})
    arrow = pa.Table.from_pandas(pandas)
    typed = pandas.astype({"d": pd.ArrowDtype(arrow.schema.field("d").type)})
    for frame in (pandas, arrow, pl.from_pandas(pandas), typed):
        column = as_frame(frame)["d"]
        assert column_kinds(as_frame(frame))["d"].kind == "number"
        np.testing.assert_array_equal(numbers_of(column), [60.0, 120.0, np.nan])


@pytest.mark.parametrize(
    "cells", [np.array([1j, 2.0]), np.array([1.0, 1j], dtype=object)], ids=["complex", "object"]
)
def test_complex_numbers_are_refused_in_any_frame(cells) -> None:
    with pytest.raises(InvalidDataError, match="complex numbers in column 'a'"):
        as_frame(pd.DataFrame({"a": cells}))


def test_a_list_in_a_cell_is_refused_in_words() -> None:
    with pytest.raises(TypeError) as error:
        as_frame(pd.DataFrame({"a": [[1], 2.0]}), "A")
    assert str(error.value) == (
        "A: X must hold numbers or strings (each argument must be a string or a number); got a "
        "list in column 'a'. Spread it over columns of its own."
    )
