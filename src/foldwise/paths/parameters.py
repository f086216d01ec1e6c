"""Checking what estimators of this room were asked for."""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from foldwise.arrays import FloatArray
from foldwise.errors import did_you_mean, invalid_data, invalid_parameter
from foldwise.losses.numbers import HUBER_CONSTANT, robust_spread


def check_whole(owner: str, name: str, value: Any, least: int, *, none: bool = False) -> None:
    """Raise unless the value is a whole number, at least ``least`` (or None, where allowed)."""
    if none and value is None:
        return
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < least:
        other = " or None" if none else ""
        raise invalid_parameter(
            owner,
            name,
            must=f"be a whole number of at least {least}{other}",
            got=value,
            fix=f"Try {max(least, 10)}.",
        )


def check_between(owner: str, name: str, value: Any, low: float, high: float, fix: str) -> None:
    """Raise unless the value is a number with low < value <= high."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not low < value <= high:
        raise invalid_parameter(
            owner, name, must=f"be a number above {low} and up to {high}", got=value, fix=fix
        )


def check_word(owner: str, name: str, value: Any, words: Iterable[str]) -> None:
    """Raise unless the value is one of the words."""
    known = list(words)
    if value not in known:
        raise invalid_parameter(
            owner,
            name,
            must="be one of " + ", ".join(map(repr, known)),
            got=value,
            fix=did_you_mean(value, known),
        )


def check_subsample(owner: str, subsample: Any) -> None:
    """Raise unless the value is "auto" or a share of the rows."""
    if subsample != "auto":
        check_between(
            owner, "subsample", subsample, 0, 1, 'Use "auto" for Friedman and Popescu\'s formula.'
        )


def check_counts(owner: str, y: FloatArray) -> None:
    """Raise unless y can be counts."""
    if (y < 0).any() or not y.any():
        raise invalid_data(
            owner,
            "y",
            must='be non-negative and not all zero with loss="poisson"',
            got=float(y.min()),
            fix='Use loss="squared".',
        )


def huber_delta(y: FloatArray, given: float | None) -> float:
    """Return where the Huber loss turns linear: as given, or 1.345 robust deviations of y."""
    if given is not None:
        return float(given)
    return HUBER_CONSTANT * (robust_spread(y, np.ones(len(y))) or float(np.std(y)) or 1.0)


def threads(n_jobs: int | None) -> int:
    """Return the number of threads for LightGBM."""
    return int(effective_n_jobs(n_jobs))
