import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldwise.auto.tables.dialect import Dialect, decode, dialect_of, records
from foldwise.errors import InvalidDataError


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff"), max_size=30))
def test_what_was_written_with_a_mark_or_in_utf_8_is_read(encoding, text):
    assert decode("t.csv", text.encode(encoding))[0] == text


def test_nul_bytes_are_named_with_their_line():
    with pytest.raises(InvalidDataError, match="got one on line 2"):
        decode("t.csv", b"abcdefgh\nxyz\0uvw")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_among_others(delimiter):
    rows = [["name", "a; b", "n"], ['"x, y | z"', "p", "1"], ["q", "r", "2"]]
    text = "\n".join(delimiter.join(f'"{c}"' for c in map(_bare, row)) for row in rows)
    assert dialect_of(text).delimiter == delimiter


def _bare(cell):
    return cell.strip('"')


def test_records_know_the_line_they_begin_on():
    text = 'a,b\n\n"x\ny",1\r\n2,3\r4,5'
    assert list(records(text, Dialect())) == [
        (1, ["a", "b"]),
        (3, ["x\ny", "1"]),
        (5, ["2", "3"]),
        (6, ["4", "5"]),
    ]


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("a;b\n1,5;2\n", ","),
        ("a;b\n1.5;2\n", "."),
        ("a;b\n1.5;2,5\n3.5;x\n", "."),
        ('a,b\n"1,234",2\n', "."),
        ('a,b\n"1,23",2\n', ","),
        ("a;b\n1.234,5;2\n", ","),
        ("a,b\n1,5\n", "."),
    ],
)
def test_the_decimal_mark_is_found(text, decimal):
    assert dialect_of(text).decimal == decimal
