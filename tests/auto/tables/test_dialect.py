import pytest

from foldwise.auto.tables.dialect import Dialect, dialect_of, records


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
