"""A file -> a frame, or one sentence that names the line at fault."""

import csv
import difflib
import io
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from foldwise.auto.tables.dialect import GROUPED, Dialect, decode, dialect_of, records, refused
from foldwise.errors import FoldwiseError, invalid_parameter, listing

PARQUET = b"PAR1"
OTHERS = {
    b"PK\x03\x04": "an Excel or zip file",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"\x1f\x8b": "a gzip file",
    b"SQLite format 3": "an SQLite database",
    b"%PDF": "a PDF file",
    b"ARROW1": "an Arrow file",
    b"\x28\xb5\x2f\xfd": "a zstd file",
}
MOST_COLUMNS = 100_000
INDEX = "in the file and its index"
# The words that pandas takes for missing cells, beside an empty one.
MISSING = frozenset(
    ["#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
     "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"]
)  # fmt: skip


def read_table(path: str | Path, like: Mapping[str, str] | None = None) -> pd.DataFrame:
    r"""Read a CSV or Parquet file.

    Parameters
    ----------
    path : str or Path
        The file. What is in it decides, not its ending.
    like : mapping or None, default=None
        How the table that a model was fitted on was read (``model.read_as_``): delimiter and
        decimal mark are those, and a file that is written otherwise is refused.

    Returns
    -------
    DataFrame
        ``attrs["read_as"]`` says how a CSV file was read: encoding, delimiter, decimal;
        ``attrs["missing"]`` which words of which columns were read as missing cells.

    Raises
    ------
    InvalidDataError
        In one sentence, with the line where there is one.

    Notes
    -----
    Encoding (UTF-8, UTF-16, Windows-1252), delimiter (comma, semicolon, tab, bar), quotes and
    decimal comma are told from the file. Every record must have as many fields as the header:
    cells never move to another column. The first line must name the columns, each differently.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "prices.csv"
    >>> _ = path.write_text("name;price\nred;1,50\nblue;2,25\n")
    >>> read_table(path)
       name  price
    0   red   1.50
    1  blue   2.25
    """
    if not isinstance(path, str | os.PathLike):
        raise invalid_parameter(
            "read_table", "path", must="be a path", got=path, fix="Try 'table.csv'."
        )
    file = Path(path)
    content = _content(file)
    if content.startswith(PARQUET):
        return _read_parquet(file, content)
    for start, what in OTHERS.items():
        if content.startswith(start):
            raise _refused(file, "be a CSV or Parquet file", what, "Save the table as CSV.")
    text, encoding = decode(file.name, content)
    if not text.strip():
        raise _refused(file, "hold a table", "an empty file", "Check how it was written.")
    dialect = dialect_of(text, like)
    for part, words in (("delimiter", "fields between"), ("decimal", "decimal mark")):
        found, wanted = getattr(dialect, part), (like or {}).get(part)
        if wanted is not None and found != wanted:
            must = f"have {words} {wanted!r}, as the table the model was fitted on"
            raise _refused(file, must, f"{found!r}", "Write it as that table was.")
    names, n_records, missing = _checked_shape(file, text, dialect)
    frame = _parse(file, text, dialect, names)
    if frame.shape != (n_records, len(names)):
        must = f"hold {n_records:,} records of {len(names):,} fields"
        got = f"{len(frame):,} of {frame.shape[1]:,} on the second reading"
        raise _refused(file, must, got, "Look for unusual line ends or quotes.")
    marks = {"delimiter": dialect.delimiter, "decimal": dialect.decimal}
    frame.attrs["read_as"] = {"encoding": encoding, **marks}
    frame.attrs["missing"] = missing
    return frame


def _content(file: Path) -> bytes:
    if file.is_dir():
        raise _refused(file, "be a file", "a folder", "Name a file in it.")
    try:
        return file.read_bytes()
    except FileNotFoundError as error:
        beside = file.parent.iterdir() if file.parent.is_dir() else ()
        close = difflib.get_close_matches(file.name, [other.name for other in beside], n=1)
        fix = f"Did you mean {close[0]!r}?" if close else "Check the path."
        raise _refused(file, "be there", "nothing", fix) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise _refused(file, "be readable", reason.lower(), "Check its permissions.") from error


def _refused(file: Path, must: str, got: str, fix: str) -> FoldwiseError:
    return refused(file.name or str(file), must, got, fix)


def _read_parquet(file: Path, content: bytes) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(io.BytesIO(content))
    except ImportError as error:
        fix = "Install it with: pip install 'foldwise[parquet]'"
        raise _refused(file, "be read with pyarrow", "no pyarrow", fix) from error
    except Exception as error:
        # Damaged files raise whatever pyarrow's C++ meets first.
        reason = str(error).splitlines()[0][:80] if str(error) else type(error).__name__
        raise _refused(file, "be a whole Parquet file", reason, "Write it again.") from error
    if not isinstance(frame.index, pd.RangeIndex):
        _check_header(file, [str(n) for n in (*frame.index.names, *frame) if n is not None], INDEX)
        frame = frame.reset_index(drop=all(name is None for name in frame.index.names))
    names = [str(name).strip() for name in frame.columns]
    _check_header(file, names, "in the file")
    _check_rows(file, len(frame))
    return frame.set_axis(names, axis=1)


def _checked_shape(
    file: Path, text: str, dialect: Dialect
) -> tuple[list[str], int, dict[str, list[str]]]:
    """Return names, number of records and words for missing cells, after looking at every one."""
    n_records = -1
    names: list[str] = []
    missing: set[tuple[int, str]] = set()
    try:
        for line, fields in records(text, dialect):
            n_records += 1
            if n_records == 0:
                names = [field.strip() for field in fields]
                _check_header(file, names, f"on line {line}")
                _check_not_data(file, names, line)
            elif len(fields) != len(names):
                raise _ragged(file, len(names), len(fields), line, dialect)
            if not MISSING.isdisjoint(fields):
                missing.update((j, word) for j, word in enumerate(fields) if word in MISSING)
    except csv.Error as error:
        reason, line = error.args
        must = "close every quote where its field ends"
        got = f"{reason} in the record that begins on line {line:,}"
        raise _refused(file, must, got, "Double the quotes inside fields.") from error
    _check_rows(file, n_records)
    words: dict[str, list[str]] = {}
    for j, word in sorted(missing):
        words.setdefault(names[j], []).append(word)
    return names, n_records, words


def _ragged(file: Path, wanted: int, found: int, line: int, dialect: Dialect) -> FoldwiseError:
    delimiter = {"\t": "a tab"}.get(dialect.delimiter, repr(dialect.delimiter))
    more = f"Quote fields that hold {delimiter}." if found > wanted else "Add what is missing."
    must = f"have {wanted} field{'s' * (wanted != 1)} on every line, as its header has"
    return _refused(file, must, f"{found} on line {line:,}", more)


def _check_header(file: Path, names: list[str], where: str) -> None:
    if len(names) > MOST_COLUMNS:
        fix = "Turn the table if its columns are rows."
        raise _refused(file, f"have at most {MOST_COLUMNS:,} columns", f"{len(names):,}", fix)
    if "" in names:
        must, got = "name every column", f"no name for column {names.index('') + 1} {where}"
        raise _refused(file, must, got, "Name it, or leave it out (pandas: to_csv(index=False)).")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        fix = "Rename all but one."
        raise _refused(file, "name every column differently", f"{listing(twice)} twice", fix)


def _check_not_data(file: Path, names: list[str], line: int) -> None:
    """Refuse a first line of numbers, unless it counts the columns as pandas does."""
    counted = [str(k) for k in range(len(names))]
    if names == counted or not all(_is_number(name) for name in names):
        return
    must = "begin with the names of its columns"
    raise _refused(file, must, f"numbers only on line {line}", "Add a first line of names.")


def _is_number(word: str) -> bool:
    try:
        float(word.replace(",", "."))
    except ValueError:
        return False
    return True


def _check_rows(file: Path, n_rows: int) -> None:
    if n_rows < 1:
        raise _refused(
            file, "hold rows below its header", "none", "Check how the table was written."
        )


def _parse(file: Path, text: str, dialect: Dialect, names: list[str]) -> pd.DataFrame:
    marks: dict[str, Any] = {"sep": dialect.delimiter, "quotechar": dialect.quote}
    marks |= {"decimal": dialect.decimal, "na_values": ["", *MISSING], "keep_default_na": False}
    lines = io.StringIO(text[dialect.skip :], newline="")
    try:
        frame = pd.read_csv(lines, index_col=False, low_memory=False, **marks)
    except (ValueError, OverflowError) as error:
        reason = str(error).splitlines()[0][:80]
        raise _refused(file, "be a table", reason, "Look at the file in an editor.") from error
    if frame.shape[1] != len(names):
        return frame
    frame = frame.set_axis(names, axis=1)
    for name in frame.columns[[not pd.api.types.is_numeric_dtype(t) for t in frame.dtypes]]:
        frame[name] = _without_groups(frame[name], dialect.decimal)
    return frame


def _without_groups(column: Any, decimal: str) -> Any:
    """Return a column of text such as 1,234.5 as numbers, any other as it is.

    The reader's own option for this would also read the date 31.12.2024 as a number.
    """
    mark = "." if decimal == "," else ","
    words = column.dropna().astype(str).str.strip()
    if not words.iloc[:100].str.contains(mark, regex=False).any():
        return column
    if not words.str.fullmatch(GROUPED[mark]).all():
        return column
    plain = words.str.replace(mark, "", regex=False).str.replace(",", ".", regex=False)
    return plain.astype("float64").reindex(column.index)
