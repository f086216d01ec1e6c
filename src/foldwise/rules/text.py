"""Rules as text: for people, for pandas, and back again."""

import ast
import math
import re
from dataclasses import dataclass

from foldwise.errors import InvalidParameterError, invalid_parameter
from foldwise.isle.data import Columns
from foldwise.rules.rule import Condition, Interval, Members, Rule, conjunction

_NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|inf)"
_NAME = r"`(?:[^`]|``)*`|[^\W\d]\w*"
_LITERAL = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^'\"{}]"
_ATOM = re.compile(
    rf"(?:(?P<low>{_NUMBER}) < )?(?P<name>{_NAME})"
    rf"(?: <= (?P<high>{_NUMBER})| > (?P<above>{_NUMBER})"
    rf"| (?P<no>not )?in (?P<codes>\{{(?:{_LITERAL})*\}})| is (?P<present>not )?missing)"
)
_OR_MISSING = re.compile(rf" or (?:{_NAME}) is missing\)")


def rule_text(rule: Rule, columns: Columns) -> str:
    """Return the rule as a person would write it.

    Parameters
    ----------
    rule : Rule
        Conditions that must all hold.
    columns : Columns
        Names and levels of the columns.

    Returns
    -------
    str
        Conditions joined by " and ".

    Examples
    --------
    >>> columns = Columns(("age", "home town"), {1: ("Bonn", "Rome")})
    >>> rule = Rule((Interval(0, 18.0, 30.5, missing=True), Members(1, frozenset({1}))))
    >>> rule_text(rule, columns)
    "(18 < age <= 30.5 or age is missing) and `home town` in {'Rome'}"
    """
    return " and ".join(TEXT.of(condition, columns) for condition in rule.conditions)


def rule_query(rule: Rule, columns: Columns) -> str:
    """Return the rule for ``pandas.DataFrame.query``.

    Parameters
    ----------
    rule : Rule
        Conditions that must all hold.
    columns : Columns
        Names and levels of the columns.

    Returns
    -------
    str
        The query; it selects the rows for which the rule holds.

    Examples
    --------
    >>> rule_query(Rule((Interval(0, high=30.5, missing=True),)), Columns(("age",), {}))
    '(age <= 30.5 or age != age)'
    """
    return " and ".join(QUERY.of(condition, columns) for condition in rule.conditions)


def parse_rule(text: str, columns: Columns) -> Rule:
    """Return the rule a text stands for.

    Parameters
    ----------
    text : str
        A rule as :func:`rule_text` writes it.
    columns : Columns
        Names and levels of the columns.

    Returns
    -------
    Rule
        Its conditions, at most one a column.

    Examples
    --------
    >>> parse_rule("age <= 30 and age > 18 and age <= 40", Columns(("age",), {}))
    Rule(conditions=(Interval(feature=0, low=18.0, high=30.0, missing=False),))
    """
    position, conditions = 0, []
    while True:
        bracket = text.startswith("(", position)
        found = _ATOM.match(text, position + bracket)
        end = found and (_OR_MISSING.match(text, found.end()) if bracket else found)
        if found is None or end is None:
            raise _unreadable(text[position:])
        conditions.append(_parse_condition(found, bracket, columns))
        position = end.end()
        if position == len(text):
            return conjunction(conditions)
        if not text.startswith(" and ", position):
            raise _unreadable(text[position:])
        position += len(" and ")


@dataclass(frozen=True)
class Wording:
    """How conditions are written for a reader; ``{0}`` stands for the column's name."""

    absent: str
    present: str
    listed: str
    # whether the reader counts a missing value as "not in" any list
    missing_is_not_in: bool

    def of(self, condition: Condition, columns: Columns) -> str:
        """Return one condition in words."""
        feature = condition.feature
        name = _quoted(columns.names[feature])
        absent, present = self.absent.format(name), self.present.format(name)
        none = frozenset[int]()
        missing = Interval(feature, math.inf, missing=True), Members(feature, none, missing=True)
        known = Interval(feature), Members(feature, none, excluded=True)
        if condition in missing:
            return absent
        if condition in known:
            return present
        if isinstance(condition, Interval):
            atom = _range(name, condition)
        else:
            levels = columns.levels[feature]
            shown = ", ".join(repr(levels[code]) for code in sorted(condition.codes))
            listed = self.listed.format(shown)
            atom = f"{name} {'not ' if condition.excluded else ''}in {listed}"
            if condition.excluded and self.missing_is_not_in:
                return atom if condition.missing else f"({atom} and {present})"
        return f"({atom} or {absent})" if condition.missing else atom


TEXT = Wording("{0} is missing", "{0} is not missing", "{{{0}}}", missing_is_not_in=False)
QUERY = Wording("{0} != {0}", "{0} == {0}", "[{0}]", missing_is_not_in=True)


def _range(name: str, condition: Interval) -> str:
    if condition.high == math.inf:
        return f"{name} > {number_text(condition.low)}"
    upper = f"{name} <= {number_text(condition.high)}"
    return upper if condition.low == -math.inf else f"{number_text(condition.low)} < {upper}"


def number_text(number: float) -> str:
    """Return the shortest text that reads back as the number."""
    return repr(float(number)).removesuffix(".0")


def _quoted(name: str) -> str:
    plain = name.isidentifier() and name not in {"and", "or", "not", "in", "is", "inf"}
    return name if plain else "`" + name.replace("`", "``") + "`"


def _parse_condition(found: re.Match[str], missing: bool, columns: Columns) -> Condition:
    feature = _position(found["name"], columns)
    ranged = found["low"] or found["high"] or found["above"]
    if (ranged and feature in columns.levels) or (found["codes"] and feature not in columns.levels):
        must = "ask for ranges of numbers and lists of levels"
        raise _unreadable(found[0], must=must, fix="See columns.levels.")
    if found["codes"]:
        levels = columns.levels[feature]
        try:
            values = ast.literal_eval("[" + found["codes"][1:-1] + "]")
        except (SyntaxError, ValueError) as error:
            raise _unreadable(found["codes"]) from error
        codes = frozenset(_code(levels, value, found["codes"]) for value in values)
        return Members(feature, codes, found["no"] is not None, missing)
    if found[0].endswith(" missing"):
        absent = found["present"] is None
        if feature in columns.levels:
            return Members(feature, frozenset(), not absent, absent)
        return Interval(feature, math.inf if absent else -math.inf, math.inf, absent)
    low = float(found["low"] or found["above"] or -math.inf)
    return Interval(feature, low, float(found["high"] or math.inf), missing)


def _position(word: str, columns: Columns) -> int:
    name = word[1:-1].replace("``", "`") if word.startswith("`") else word
    if name not in columns.names:
        raise _unreadable(name, must="name known columns", fix="See columns.names.")
    return columns.names.index(name)


def _code(levels: tuple[object, ...], value: object, shown: str) -> int:
    # True == 1 in Python, but they are different levels of different columns.
    for code, level in enumerate(levels):
        if level == value and type(level) is type(value):
            return code
    raise _unreadable(shown, must="name known levels", fix="See columns.levels.")


def _unreadable(
    got: str,
    must: str = "be conditions joined by ' and '",
    fix: str = "Write for example \"age <= 30 and town in {'Rome'}\".",
) -> InvalidParameterError:
    return invalid_parameter("parse_rule", "text", must=must, got=got, fix=fix)
