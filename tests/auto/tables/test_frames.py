import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from foldwise.auto.tables.frames import as_frame, is_frame
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
