import contextlib
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldwise.auto.tables import TableEncoder, column_kinds, read_table
from foldwise.auto.tables.problem import table_problem
from foldwise.errors import FoldwiseError, InvalidDataError, InvalidParameterError
from tests.auto.tables.bad_tables import BAD_TABLES


@pytest.mark.parametrize("name", BAD_TABLES)
def test_a_bad_table_is_read_right_or_refused_in_one_sentence(name, tmp_path):
    content, expected = BAD_TABLES[name]
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    if isinstance(expected, str):
        with pytest.raises(
            InvalidDataError, match="^" + re.escape(f"read_table: t.csv must {expected}")
        ) as caught:
            read_table(path)
        assert "\n" not in str(caught.value)
        return
    frame = read_table(path)
    for column, values in expected.items():
        found = frame[column]
        assert found.isna().tolist() == [value != value for value in values]
        assert found.dropna().tolist() == [value for value in values if value == value]


@pytest.mark.parametrize("name", [n for n, (_, e) in BAD_TABLES.items() if isinstance(e, dict)])
def test_what_is_read_can_be_encoded_or_is_refused_in_one_sentence(name, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(BAD_TABLES[name][0])
    frame = read_table(path)
    assert column_kinds(frame).names() == list(frame.columns)
    if len(frame) == 1:
        with pytest.raises(FoldwiseError, match="neither constant nor an identifier"):
            TableEncoder().fit_transform(frame)
    else:
        assert np.isfinite(TableEncoder().fit_transform(frame)).all()


cells = st.text(
    st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), max_size=6
)


@given(st.lists(st.tuples(cells, cells, cells), min_size=2, max_size=8))
def test_whatever_the_cells_hold_none_changes_its_column(rows):
    frame = pd.DataFrame([("x" + a, "y" + b, "z" + c) for a, b, c in rows], columns=list("abc"))
    content = frame.to_csv(index=False, quoting=1).encode()
    back = read_bytes(content)
    assert list(back.columns) == ["a", "b", "c"]
    assert [tuple(row) for row in back.to_numpy()] == [tuple(row) for row in frame.to_numpy()]


@given(st.binary(max_size=200))
def test_any_bytes_give_a_table_or_one_of_our_errors(content):
    with contextlib.suppress(InvalidDataError):
        assert len(read_bytes(content)) > 0


def read_bytes(content):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(content)
        return read_table(path)


@pytest.fixture
def frame():
    return pd.DataFrame({"a": [1.5, np.nan], "b": pd.Categorical(["x", "y"]), "c": [True, False]})


def test_parquet_is_known_by_its_content(frame, tmp_path):
    frame.to_parquet(tmp_path / "t.csv")
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), frame)


def test_a_named_index_of_a_parquet_file_is_a_column(frame, tmp_path):
    frame.assign(key=["p", "q"]).set_index("key").to_parquet(tmp_path / "t.parquet")
    assert list(read_table(tmp_path / "t.parquet").columns) == ["key", "a", "b", "c"]


def test_an_index_of_a_parquet_file_that_is_named_like_a_column_is_refused(frame, tmp_path):
    frame.set_index(pd.Index(["p", "q"], name="a")).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InvalidDataError, match="name every column differently; got 'a' twice"):
        read_table(tmp_path / "t.parquet")


def test_long_text_is_text(tmp_path):
    long = "word " * 40_000
    (tmp_path / "t.csv").write_text(f'a,b\n"{long}",1\n"short",2\n')
    assert read_table(tmp_path / "t.csv")["a"].tolist() == [long, "short"]


def test_a_number_is_no_path():
    with pytest.raises(InvalidParameterError, match="read_table: path must be a path; got 5"):
        read_table(5)


def test_a_parquet_file_cut_short_is_refused(frame, tmp_path):
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InvalidDataError, match=r"t.parquet must be a whole Parquet file; got "):
        read_table(path)


def test_a_parquet_file_without_rows_is_refused(frame, tmp_path):
    frame.iloc[:0].to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InvalidDataError, match="hold rows below its header; got none"):
        read_table(tmp_path / "t.parquet")


def test_a_file_that_is_not_there_names_the_closest(tmp_path):
    (tmp_path / "prices.csv").write_text("a\n1\n")
    with pytest.raises(
        InvalidDataError,
        match=r"^read_table: price.csv must be there; got nothing. Did you mean 'prices.csv'\?$",
    ):
        read_table(tmp_path / "price.csv")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(InvalidDataError, match=r"must be a file; got a folder. Name a file in it."):
        read_table(tmp_path)


def test_how_a_file_was_read_is_noted(tmp_path):
    (tmp_path / "t.csv").write_bytes("ä;b\n1,5;2\n".encode("latin-1"))
    noted = read_table(tmp_path / "t.csv").attrs["read_as"]
    assert noted == {"encoding": "cp1252", "delimiter": ";", "decimal": ","}


GERMAN = "a;b\n1.234,5;1\n2,5;2\n"


def test_a_file_is_read_as_the_one_the_model_was_fitted_on(tmp_path) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text(GERMAN)
    second.write_text("a;b\n5.000;3\n")
    like = read_table(first).attrs["read_as"]
    assert read_table(second)["a"].tolist() == [5.0]
    assert read_table(second, like=like)["a"].tolist() == [5000.0]


@pytest.mark.parametrize(
    ("text", "like", "words"),
    [
        (
            "a;b\n5.25;3\n",
            {"delimiter": ";", "decimal": ","},
            "new.csv must have decimal mark ',', as the table the model was fitted on; got '.'.",
        ),
        (
            "a;b\n5,25;3\n",
            {"delimiter": ";", "decimal": "."},
            "new.csv must have decimal mark '.', as the table the model was fitted on; got ','.",
        ),
        (
            "a,b\n5,3\n",
            {"delimiter": ";", "decimal": "."},
            "new.csv must have fields between ';', as the table the model was fitted on; got ','.",
        ),
    ],
)
def test_a_file_that_contradicts_the_one_before_is_refused(text, like, words, tmp_path) -> None:
    path = tmp_path / "new.csv"
    path.write_text(text)
    with pytest.raises(InvalidDataError) as error:
        read_table(path, like=like)
    assert str(error.value) == f"read_table: {words} Write it as that table was."


@pytest.mark.parametrize("text", ["a\n1\n", "a;b\n1;x, y\n", "a;b\n1;31.12.2024\n"])
def test_what_says_nothing_against_it_is_read_alike(text, tmp_path) -> None:
    path = tmp_path / "new.csv"
    path.write_text(text)
    frame = read_table(path, like={"delimiter": ";", "decimal": ","})
    assert frame["a"].tolist() == [1]


def test_words_that_count_as_missing_are_named(tmp_path) -> None:
    path = tmp_path / "labels.csv"
    rows = ["None", "NA", "yes", "no"] * 10
    path.write_text("a,label\n" + "".join(f"{k},{word}\n" for k, word in enumerate(rows)))
    problem = table_problem(read_table(path), "label")
    assert problem.notes == (
        "Rows left out because 'label' is missing: 20 of 40. 'NA', 'None' count as missing.",
    )
