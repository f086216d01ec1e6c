import json

import numpy as np
import pandas as pd
import pytest

from foldwise.errors import InvalidDataError, UnsupportedError
from foldwise.files.decode import Decoder
from foldwise.files.encode import Encoder
from foldwise.files.frames import column_from, column_parts

FRAME = pd.DataFrame(
    {
        "number": [1.5, np.nan],
        "whole": [1, 2],
        "flag": [True, False],
        "text": ["a", None],
        "mixed": pd.Series([(1, 2), "x"], dtype=object),
        "kind": pd.Categorical(["b", None], categories=["b", "a"], ordered=True),
        "time": pd.to_datetime(["2020-01-01", None]),
        "zoned": pd.to_datetime(["2020-01-01", "2020-07-01"]).tz_localize("Europe/Berlin"),
        "maybe": pd.array([1, None], dtype="Int64"),
        "string": pd.array(["a", None], dtype="string"),
    }
)


def again(thing):
    encoder = Encoder()
    document = {"model": encoder.value(thing), "entries": encoder.entries}
    return Decoder(encoder.members).build(json.loads(json.dumps(document)))


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(3, 7, 2, name="n"),
        pd.Index([5, 5]),
        pd.Index(["x", "y"], name="id"),
        pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["l", None]),
        pd.DatetimeIndex(["2020-01-01", "2020-01-02"]),
        pd.CategoricalIndex(["a", "b"]),
    ],
    ids=lambda index: type(index).__name__ + str(index.dtype),
)
def test_frames_come_back_with_types_and_index(index) -> None:
    frame = FRAME.set_axis(index)
    pd.testing.assert_frame_equal(again(frame), frame, check_freq=False)
    pd.testing.assert_series_equal(again(frame["kind"]), frame["kind"], check_freq=False)


def test_columns_of_the_same_name_and_no_columns_come_back() -> None:
    frame = pd.DataFrame([[1, 2.5]], columns=["a", "a"])
    pd.testing.assert_frame_equal(again(frame), frame)
    assert again(pd.DataFrame(index=[1, 2])).shape == (2, 0)


def test_unknown_columns_are_refused_both_ways() -> None:
    with pytest.raises(UnsupportedError) as error:
        column_parts(pd.array(pd.period_range("2020", periods=2, freq="D")))
    assert str(error.value) == (
        "save: model must hold columns of known types; got period[D]. Convert that column."
    )
    with pytest.raises(InvalidDataError, match="hold columns of known types; got 'object'"):
        column_from("object", [], int)
