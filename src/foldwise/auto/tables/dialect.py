"""How a text table is written: encoding, delimiter, quotes, decimal mark."""

import codecs
import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from foldwise.errors import FoldwiseError, Plain, invalid_data

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SINGLE_BYTE = ("cp1252", "latin-1")
DELIMITERS = (",", ";", "\t", "|")
SAMPLE = 500
SEPARATOR_LINE = re.compile(r"^sep=(.)\r?\n", re.IGNORECASE)
SINGLE_QUOTED = re.compile(r"(^|[,;\t|\r\n])'[^'\n]*'([,;\t|\r\n]|$)")
POINT = re.compile(r"[+-]?(\d+|\d{1,3}(,\d{3})+)\.\d+([eE][+-]?\d+)?")
COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?")
GROUPED = {
    ",": re.compile(r"[+-]?\d{1,3}(,\d{3})*(\.\d+)?"),
    ".": re.compile(r"[+-]?\d{1,3}(\.\d{3})*(,\d+)?"),
}


def refused(name: str, must: str, got: str, fix: str) -> FoldwiseError:
    """Return the error about a file that cannot be read."""
    return invalid_data("read_table", name, must=must, got=Plain(got), fix=fix)


def decode(name: str, content: bytes) -> tuple[str, str]:
    """Return the text of a file and its encoding.

    By its mark; else UTF-16 where every second byte is zero, UTF-8 where that is valid, and
    Windows-1252 or Latin-1, in which any byte is a letter, for the rest.
    """
    encoding = _encoding(content)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        must = f"be valid {encoding}, as its first bytes say"
        found = f"byte {error.start:,} that is not"
        raise refused(name, must, found, "Save it again as UTF-8.") from error
    nul = text.find("\0")
    if nul >= 0:
        line = text.count("\n", 0, nul) + 1
        fix = "Export it again as CSV, or give a Parquet file."
        raise refused(name, "be a text file without NUL bytes", f"one on line {line:,}", fix)
    return text, encoding


def _encoding(content: bytes) -> str:
    for mark, encoding in MARKS:
        if content.startswith(mark):
            return encoding
    head = content[:4096]
    if len(head) >= 4 and b"\0" in head:
        even, odd = head[0::2].count(0), head[1::2].count(0)
        if max(even, odd) > 0.4 * len(head) / 2 and min(even, odd) < 0.1 * max(even, odd):
            return "utf-16-le" if odd > even else "utf-16-be"
    for encoding in ("utf-8", *SINGLE_BYTE):
        try:
            content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return SINGLE_BYTE[-1]


@dataclass(frozen=True)
class Dialect:
    """How a table is written."""

    delimiter: str = ","  # one character each
    quote: str = '"'  # one character each
    decimal: str = "."  # one character each
    skip: int = 0  # letters before the header: a line ``sep=;``, as spreadsheets write it


def records(text: str, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield the line each record begins on, counted from 1, and its fields.

    Blank lines are left out.
    """
    # The csv module's own limit, 131,072 characters, is one of the whole process.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    lines = io.StringIO(text, newline="")
    lines.seek(dialect.skip)
    first = 1 + (dialect.skip > 0)
    reader = csv.reader(lines, delimiter=dialect.delimiter, quotechar=dialect.quote, strict=True)
    begin = first
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise csv.Error(str(error), begin) from error
        if len(fields) > 1 or "".join(fields).strip():
            yield begin, fields
        begin = first + reader.line_num


def dialect_of(text: str, like: Mapping[str, str] | None = None) -> Dialect:
    """Return how a table is written.

    The delimiter that gives most of the first 500 records as many fields as the header, and of
    those the one that gives the most fields. Single quotes where there are no double ones and
    fields begin and end with them. The decimal mark that more numbers are written with.

    ``like``: Delimiter and decimal mark of a table it belongs to. They are taken unless the file
    itself speaks against them.
    """
    said = SEPARATOR_LINE.match(text)
    skip = said.end() if said else 0
    delimiters = (said.group(1),) if said else DELIMITERS
    head = text[skip : skip + 100_000]
    quote = "'" if '"' not in head and SINGLE_QUOTED.search(head) else '"'
    tried = [Dialect(delimiter, quote, skip=skip) for delimiter in delimiters]
    samples = [_sample(text, dialect) for dialect in tried]
    best = max(range(len(tried)), key=lambda k: _evenness(samples[k]))
    known = (like or {}).get("delimiter")
    if (
        known in delimiters
        and _evenness(samples[best])[0] <= _evenness(samples[delimiters.index(known)])[0]
    ):
        best = delimiters.index(known)
    delimiter = tried[best].delimiter
    decimal = _decimal(samples[best], delimiter, (like or {}).get("decimal"))
    return Dialect(delimiter, quote, decimal, skip)


def _sample(text: str, dialect: Dialect) -> list[list[str]]:
    sample = []
    try:
        for _, fields in islice(records(text, dialect), SAMPLE):
            sample.append(fields)
    except csv.Error:
        # What could be read is judged; the reader will name the line.
        pass
    return sample


def _evenness(sample: list[list[str]]) -> tuple[bool, float, int]:
    """Return whether there are fields at all, how many records are like the header, and fields."""
    if not sample:
        return False, 0.0, 0
    width = len(sample[0])
    alike = sum(len(fields) == width for fields in sample) / len(sample)
    return width > 1, round(alike, 1), width


def _decimal(sample: list[list[str]], delimiter: str, known: str | None) -> str:
    """Return the decimal mark that more cells are written with.

    Where commas stand between fields, quoted numbers with a comma before each three digits are
    thousands, not decimals; so they are where the mark is known to be another.
    """
    cells = [cell.strip() for fields in sample[1:] for cell in fields]
    points = [cell for cell in cells if POINT.fullmatch(cell)]
    commas = [cell for cell in cells if COMMA.fullmatch(cell)]
    if known == ",":
        against = sum(not GROUPED["."].fullmatch(cell) for cell in points)
        return "." if against > len(commas) else ","
    if known == ".":
        against = sum(not GROUPED[","].fullmatch(cell) for cell in commas)
        return "," if against > len(points) else "."
    thousands = delimiter == "," and all(GROUPED[","].fullmatch(cell) for cell in commas)
    return "," if len(commas) > len(points) and not thousands else "."
