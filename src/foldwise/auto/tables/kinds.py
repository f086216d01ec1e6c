"""The kind of every column of a table: told from its cells, shown, changed by those who know."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from foldwise.auto.tables.frames import as_frame, check_columns
from foldwise.auto.tables.values import (
    MISSING_MARKS,
    WORD_PAIRS,
    date_format_of,
    numbers_of,
    text_of,
)
from foldwise.checks import check_type, check_word

KINDS = ("number", "category", "boolean", "date", "text", "identifier", "constant")
DROPPED = ("identifier", "constant")
WHAT_IS_DONE = {
    "number": "used as it is",
    "category": "encoded",
    "boolean": "0 or 1",
    "date": "spread over its parts",
    "text": "hashed",
    "identifier": "dropped",
    "constant": "dropped",
}


FEWEST_ROWS_OF_AN_IDENTIFIER = 20
DISTINCT_SHARE_OF_AN_IDENTIFIER = 0.95
NOT_NUMBERS_SHARE = 0.01
WORDS_OF_A_TEXT = 3.0
DISTINCT_SHARE_OF_A_TEXT = 0.3
FEWEST_DISTINCT_TEXTS = 20
LETTERS_OF_A_TEXT = 60.0

ID_NAME = re.compile(r"(?:^|[^A-Za-z])(?:id|uuid|guid|idx|index|key)$", re.IGNORECASE)
TIME_NAME = re.compile(
    r"(?:^t$|time|date|day|week|month|year|period|hour|minute|second|step|age)", re.IGNORECASE
)
ID_CAMEL = re.compile(r"[a-z](?:Id|ID|UUID|Key|Index)$")


@dataclass(frozen=True)
class ColumnKind:
    """What one column is.

    Parameters
    ----------
    name : str
        The column.
    kind : {"number", "category", "boolean", "date", "text", "identifier", "constant"}
        What it is; the last two are dropped.
    why : str
        The reason, for people.
    n_missing, n_distinct : int
        Missing cells, and different ones among the others.
    date_format : str
        How dates are written, "" if they are dates already or the column is none.

    Examples
    --------
    >>> import pandas as pd
    >>> from foldwise import column_kinds
    >>> column_kinds(pd.DataFrame({"unit": ["kg", "g"]}))["unit"].kind
    'category'
    """

    name: str
    kind: str
    why: str
    n_missing: int
    n_distinct: int
    date_format: str = ""


@dataclass(frozen=True)
class Kinds:
    """What the columns of a table are, in their order.

    Parameters
    ----------
    columns : tuple of ColumnKind
        One a column.
    n_rows : int
        Rows they were told from.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [31.5, 42.0, None], "town": ["Bonn", "Rome", "Bonn"]})
    >>> print(column_kinds(frame))
    column  kind      missing  distinct  done with it   why
    age     number          1         2  used as it is  numbers
    town    category        0         2  encoded        words that repeat
    """

    columns: tuple[ColumnKind, ...]
    n_rows: int

    def __iter__(self) -> Iterator[ColumnKind]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, name: str) -> ColumnKind:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def names(self, *kinds: str) -> list[str]:
        """Return the names of the columns of these kinds; of all columns if none is given."""
        return [column.name for column in self.columns if not kinds or column.kind in kinds]

    @property
    def dropped(self) -> list[str]:
        """Names of the columns that are not used."""
        return self.names(*DROPPED)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a column of the table."""
        rows = [
            (c.name, c.kind, c.n_missing, c.n_distinct, WHAT_IS_DONE[c.kind], c.why)
            for c in self.columns
        ]
        titles = ["column", "kind", "missing", "distinct", "done with it", "why"]
        return pd.DataFrame(rows, columns=titles)

    def __str__(self) -> str:
        table = [list(self.to_frame().columns), *self.to_frame().astype(str).to_numpy().tolist()]
        widths = [max(len(row[j]) for row in table) for j in range(6)]
        return "\n".join(_line(row, widths) for row in table)


def _line(row: list[str], widths: list[int]) -> str:
    numeric = (2, 3)
    cells = [
        cell.rjust(width) if j in numeric else cell.ljust(width)
        for j, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(cells).rstrip()


def column_kinds(
    frame: Any, target: str | None = None, given: Mapping[str, str] | None = None
) -> Kinds:
    """Tell what each column of a table is. The target is never looked at.

    Parameters
    ----------
    frame : data frame or array-like
        pandas, polars, Arrow; an array's columns are called x0, x1, ...
    target : str or None, default=None
        A column to leave out.
    given : mapping of str to str, or None
        Kinds that are known, by column: they are taken, not guessed.

    Returns
    -------
    Kinds
        One entry a column.

    Notes
    -----
    *constant*: one value and none missing, or all missing. *identifier*: text that differs in
    nearly every row, whole numbers that differ in every row and are named like an identifier, or
    count the rows without being named like a time; never told from fewer than 20 rows.
    *boolean*: true and false, or yes and no in words. *date*: dates, or text of which 98 % is in
    one format; day comes before month where both would do. *number*: numbers, durations, and
    text of which 99 % is a number. *text*: three words or more, mostly different. *category*:
    the rest.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"when": ["2024-05-01", "2024-05-02"], "unit": ["kg", "kg"]})
    >>> [column.kind for column in column_kinds(frame)]
    ['date', 'constant']
    >>> [column.kind for column in column_kinds(frame, given={"unit": "category"})]
    ['date', 'category']
    """
    table = as_frame(frame, "column_kinds")
    if target is not None:
        check_columns("column_kinds", "target", [target], table.columns)
    found = kinds_of(table, given, "column_kinds", "given")
    return Kinds(tuple(column for column in found if column.name != target), len(table))


def kinds_of(table: pd.DataFrame, given: Any, owner: str, name: str = "kinds") -> Kinds:
    """Return what the columns hold; ``owner`` complains about kinds that cannot be."""
    given = {} if given is None else given
    must, fix = "be a dict of column to kind", "Try {'town': 'category'}."
    check_type(owner, name, given, Mapping, must, fix)
    check_columns(owner, name, given, table.columns)
    for kind in given.values():
        check_word(owner, name, kind, KINDS)
    columns = tuple(_describe(table[column], given.get(column)) for column in table.columns)
    return Kinds(columns, len(table))


def _describe(column: "pd.Series[Any]", known: str | None) -> ColumnKind:
    n_missing, n_distinct = _counts(column)
    if known is not None:
        found = Guess(known, "as you said", _format_if_text(column) if known == "date" else "")
    elif n_distinct == 0:
        found = Guess("constant", "all missing")
    elif n_distinct == 1 and n_missing == 0:
        found = Guess("constant", "the same in every row")
    else:
        found = guess(column)
    return ColumnKind(
        str(column.name), found.kind, found.why, n_missing, n_distinct, found.date_format
    )


def _counts(column: "pd.Series[Any]") -> tuple[int, int]:
    """Return how many cells are missing, and how many different ones there are."""
    if column.dtype.kind in "iuf":
        values = column.to_numpy()
        missing = int(np.isnan(values).sum()) if column.dtype.kind == "f" else 0
        return missing, int(column.nunique())
    words = text_of(column)
    return int(words.isna().sum()), int(words.nunique())


def _format_if_text(column: "pd.Series[Any]") -> str:
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return ""
    return date_format_of(text_of(column).dropna().drop_duplicates(), share=0.5)


@dataclass(frozen=True)
class Guess:
    """What a column is, and why."""

    kind: str  # one of the kinds
    why: str  # the reason, for people
    date_format: str = ""  # how dates are written, "" if they are dates already


def guess(column: Any) -> Guess:
    """Return what a column of at least two different cells is."""
    dtype = column.dtype
    if pd.api.types.is_bool_dtype(dtype):
        return Guess("boolean", "true or false")
    if isinstance(dtype, pd.CategoricalDtype):
        return _guess_levels(column)
    if pd.api.types.is_datetime64_any_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        return Guess("date", "dates")
    if dtype.kind == "m":
        return Guess("number", "durations, in seconds")
    if pd.api.types.is_numeric_dtype(dtype):
        return _guess_numbers(column)
    return _guess_words(column)


def _guess_numbers(column: Any) -> Guess:
    if not pd.api.types.is_integer_dtype(column.dtype):
        return Guess("number", "numbers")
    n_rows = len(column)
    if n_rows < FEWEST_ROWS_OF_AN_IDENTIFIER or not column.is_unique or column.hasnans:
        return Guess("number", "whole numbers")
    if ID_NAME.search(str(column.name)) or ID_CAMEL.search(str(column.name)):
        return Guess("identifier", "another in every row, and named so")
    if TIME_NAME.search(str(column.name)):
        return Guess("number", "whole numbers")
    values = column.to_numpy(dtype=np.float64)
    if values[0] in (0.0, 1.0) and (np.diff(values) == 1.0).all():
        return Guess("identifier", "counts the rows")
    return Guess("number", "whole numbers")


def _guess_levels(column: Any) -> Guess:
    words = text_of(column).dropna()
    distinct = words.drop_duplicates()
    if _every_row_differs(len(distinct), len(words)):
        return Guess("identifier", "another value in nearly every row")
    return Guess("category", "categories")


def _guess_words(column: Any) -> Guess:
    words = text_of(column).dropna()
    counts = words.value_counts(sort=False)
    distinct = pd.Series(counts.index, dtype=object)
    return (
        _as_numbers(distinct, counts.to_numpy())
        or _as_truths(distinct)
        or _as_dates(distinct)
        or _as_text(distinct, len(words))
        or Guess("category", "words that repeat")
    )


def _as_numbers(distinct: "pd.Series[Any]", counts: Any) -> Guess | None:
    bad = np.isnan(numbers_of(distinct))
    if bad.all():
        return None
    strangers = distinct[bad]
    lost = int(counts[bad].sum())
    if all(word.lower() in MISSING_MARKS for word in strangers):
        marks = f", {strangers.iloc[0]!r} counts as missing" if lost else ""
        return Guess("number", f"numbers written as text{marks}")
    if lost <= NOT_NUMBERS_SHARE * counts.sum():
        return Guess("number", f"numbers; {lost} cells such as {strangers.iloc[0]!r} are missing")
    return None


def _as_truths(distinct: "pd.Series[Any]") -> Guess | None:
    words = {word.lower() for word in distinct}
    if len(words) <= 2 and any(words <= set(pair) for pair in WORD_PAIRS):
        return Guess("boolean", " or ".join(sorted(words)))
    return None


def _as_dates(distinct: "pd.Series[Any]") -> Guess | None:
    date_format = date_format_of(distinct)
    return Guess("date", f"dates written as {date_format}", date_format) if date_format else None


def _as_text(distinct: "pd.Series[Any]", n_present: int) -> Guess | None:
    n_words = distinct.str.count(r"\s+").mean() + 1.0
    long = n_words >= WORDS_OF_A_TEXT or distinct.str.len().mean() >= LETTERS_OF_A_TEXT
    many = max(FEWEST_DISTINCT_TEXTS, DISTINCT_SHARE_OF_A_TEXT * n_present)
    if long and len(distinct) > many:
        return Guess("text", f"free text of about {n_words:.0f} words")
    if _every_row_differs(len(distinct), n_present):
        return Guess("identifier", "another word in nearly every row")
    return None


def _every_row_differs(n_distinct: int, n_present: int) -> bool:
    enough = n_present >= FEWEST_ROWS_OF_AN_IDENTIFIER
    return enough and n_distinct > DISTINCT_SHARE_OF_AN_IDENTIFIER * n_present
