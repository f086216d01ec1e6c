"""What the cells of a column mean: numbers, truth values, dates, words."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.learners.one_learner import factors

Column = "pd.Series[Any]"

TRUE_WORDS = ("true", "yes", "y", "t", "on")
FALSE_WORDS = ("false", "no", "n", "f", "off")
WORD_PAIRS = tuple(zip(TRUE_WORDS, FALSE_WORDS, strict=True))
MISSING_MARKS = frozenset(
    ["", "?", "-", "--", ".", "*", "na", "n/a", "nan", "none", "null", "nil", "missing", "unknown"]
)

DAYS = ["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%d.%m.%y"]
DAYS += ["%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%Y.%m.%d"]
TIMES = ["%H:%M", "%H:%M:%S"]
FORMATS = ["ISO8601", *DAYS, *(f"{day} {time}" for day in DAYS for time in TIMES), *TIMES]


def text_of(column: Any) -> "pd.Series[Any]":
    """Return the cells as stripped text, None where missing or empty.

    A whole number reads the same whether it came as 1, 1.0 or "1", so that a column means the
    same in a table where some of its cells are missing.
    """
    codes, words = distinct_words(column)
    return pd.Series(words[codes], dtype=object)


def distinct_words(column: Any) -> tuple[IntArray, Array]:
    """Return for each cell where its word stands, and the words; the last is None, for missing."""
    codes, distinct = factors(column)
    return codes, np.array([*map(_word, distinct.tolist()), None], dtype=object)


def _word(value: Any) -> str | None:
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    return str(value).strip() or None


def numbers_of(column: Any) -> FloatArray:
    """Return the cells as numbers, NaN where they are not.

    Durations are seconds; truth values 0 and 1; text is read where it is a number.
    """
    dtype = column.dtype
    if dtype.kind == "m":
        return np.asarray(column.dt.total_seconds(), dtype=np.float64)
    if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    codes, distinct = pd.factorize(column)
    parsed = np.array([_number(value) for value in distinct] + [np.nan])
    return parsed[codes]


def _number(value: Any) -> float:
    try:
        return float("nan") if isinstance(value, str) and "_" in value else float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def truths_of(column: Any) -> FloatArray:
    """Return yes as 1, no as 0, NaN for anything else; numbers stay numbers."""
    if pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
        return numbers_of(column)
    codes, distinct = pd.factorize(column)
    return np.array([_truth(value) for value in distinct] + [np.nan])[codes]


def _truth(value: Any) -> float:
    word = str(value).strip().lower()
    if word in TRUE_WORDS or word in FALSE_WORDS:
        return float(word in TRUE_WORDS)
    return _number(value)


def dates_of(column: Any, date_format: str) -> NDArray[np.datetime64]:
    """Return the cells as points in time without zone, NaT where they are not."""
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.to_timestamp()
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        plain = column if column.dt.tz is None else column.dt.tz_localize(None)
        return plain.to_numpy(dtype="datetime64[us]", na_value=np.datetime64("NaT"))
    codes, distinct = pd.factorize(column)
    words = pd.Series([str(value).strip() for value in distinct], dtype=object)
    parsed = parse_dates(words, date_format or "ISO8601")
    return np.append(parsed, np.datetime64("NaT"))[codes]


def parse_dates(words: Any, date_format: str) -> NDArray[np.datetime64]:
    """Return text as points in time, NaT where it is not in the format."""
    parsed = pd.to_datetime(words, format=date_format, errors="coerce", utc=True)
    return parsed.dt.tz_localize(None).to_numpy().astype("datetime64[us]")


def date_format_of(words: "pd.Series[Any]", share: float = 0.98) -> str:
    """Return the format nearly all words are dates in, "" if there is none."""
    sample = words.iloc[:200]
    if sample.str.contains(r"\d[-/.: ]|[a-z] \d|\dT\d", regex=True).mean() < share:
        return ""
    for date_format in FORMATS:
        if _fits(sample, date_format, share) and _fits(words, date_format, share):
            return date_format
    return ""


def _fits(words: "pd.Series[Any]", date_format: str, share: float) -> bool:
    return bool(1.0 - np.isnat(parse_dates(words, date_format)).mean() >= share)
