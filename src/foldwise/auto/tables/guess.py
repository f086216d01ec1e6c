"""What a column is, told from its cells: the rules, one function a question."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from foldwise.auto.tables.values import (
    MISSING_MARKS,
    WORD_PAIRS,
    date_format_of,
    numbers_of,
    text_of,
)

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
class Guess:
    """What a column is, and why."""

    kind: str  # one of the kinds
    why: str  # the reason, for people
    date_format: str = ""  # how dates are written, "" if they are dates already


def guess(column: Any) -> Guess:
    """Return what a column of at least two different cells is.

    Examples
    --------
    >>> import pandas as pd
    >>> guess(pd.Series(["2024-01-31", "2024-02-01"])).kind
    'date'
    >>> guess(pd.Series([3, 1, 2])).kind
    'number'
    """
    dtype = column.dtype
    if pd.api.types.is_bool_dtype(dtype):
        return Guess("boolean", "true or false")
    if isinstance(dtype, pd.CategoricalDtype):
        return _guess_levels(column)
    if pd.api.types.is_datetime64_any_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        return Guess("date", "dates")
    if pd.api.types.is_timedelta64_dtype(dtype):
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
        return Guess("identifier", "another number in every row, and named like one")
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
