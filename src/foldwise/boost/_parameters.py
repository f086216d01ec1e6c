"""Rules for the parameters that the boosting estimators share."""

import operator
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from foldwise.arrays import Array
from foldwise.errors import Plain, did_you_mean, invalid_data, invalid_parameter


def check_choice(owner: str, name: str, value: Any, known: Iterable[str]) -> None:
    """Raise unless the value is one of the known words.

    Examples
    --------
    >>> check_choice("Owner", "step", "leaf", ["leaf", "line"])
    """
    words = list(known)
    if not isinstance(value, str) or value not in words:
        raise invalid_parameter(
            owner, name, must="be a known word", got=value, fix=did_you_mean(value, words)
        )


def check_count(owner: str, name: str, value: Any, least: int, try_: int) -> None:
    """Raise unless the value is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise invalid_parameter(
            owner,
            name,
            must=f"be a whole number of at least {least}",
            got=value,
            fix=f"Try {try_}.",
        )


def check_number(
    owner: str,
    name: str,
    value: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
    below: float | None = None,
    try_: float,
) -> None:
    """Raise unless the value is a finite number within the given bounds."""
    rules: list[tuple[float | None, str, Callable[[float, float], bool]]] = [
        (above, "above", operator.gt),
        (least, "at least", operator.ge),
        (most, "at most", operator.le),
        (below, "below", operator.lt),
    ]
    words = " and ".join(f"{word} {bound:g}" for bound, word, _ in rules if bound is not None)
    number = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value))
    if not number or not all(holds(value, bound) for bound, _, holds in rules if bound is not None):
        raise invalid_parameter(
            owner, name, must=f"be a number {words}", got=value, fix=f"Try {try_:g}."
        )


def check_boosting(estimator: Any) -> None:
    """Raise unless rounds, learning rate and early stopping of a booster are in order."""
    owner = type(estimator).__name__
    check_count(owner, "n_estimators", estimator.n_estimators, 1, 100)
    check_number(owner, "learning_rate", estimator.learning_rate, above=0, try_=0.1)
    check_count(owner, "n_iter_no_change", estimator.n_iter_no_change, 1, 10)
    if estimator.refit is not None:
        check_choice(owner, "refit", estimator.refit, ["scaled", "same"])
    elif estimator.early_stopping and not isinstance(estimator.validation, float):
        raise invalid_parameter(
            owner,
            "refit",
            must="be 'scaled' or 'same' unless validation is a share",
            got=Plain(f"None with validation={estimator.validation!r}"),
            fix="Use refit='scaled'.",
        )


def needs_two_classes(estimator: Any, classes: Array) -> None:
    """Raise if there is nothing to tell apart."""
    if len(classes) < 2:
        raise invalid_data(
            type(estimator).__name__,
            "y",
            must="have at least two classes",
            got=Plain(f"1 class, {classes[0]!r}"),
            fix="Check how y was made.",
        )
