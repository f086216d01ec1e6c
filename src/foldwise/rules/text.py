"""Rules as text: for people, for pandas, and back again."""

import ast
import math
import re

from foldwise.errors import invalid_parameter
from foldwise.isle.table import Columns
from foldwise.rules.conditions import Condition, Interval, Members
from foldwise.rules.rule import Rule, conjunction

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

    Examples
    --------
    >>> columns = Columns(("age", "home town"), {1: ("Bonn", "Rome")})
    >>> rule = Rule((Interval(0, 18.0, 30.5, missing=True), Members(1, frozenset({1}))))
    >>> rule_text(rule, columns)
    "(18 < age <= 30.5 or age is missing) and `home town` in {'Rome'}"
    """
    return " and ".join(_condition_text(condition, columns) for condition in rule.conditions)


def rule_query(rule: Rule, columns: Columns) -> str:
    """Return the rule for :meth:`pandas.DataFrame.query`.

    Examples
    --------
    >>> rule_query(Rule((Interval(0, high=30.5, missing=True),)), Columns(("age",), {}))
    '(age <= 30.5 or age != age)'
    """
    return " and ".join(_condition_query(condition, columns) for condition in rule.conditions)


def parse_rule(text: str, columns: Columns) -> Rule:
    """Return the rule a text stands for.

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
            raise _unreadable(text, position)
        conditions.append(_parse_condition(found, bracket, columns))
        position = end.end()
        if position == len(text):
            return conjunction(conditions)
        if not text.startswith(" and ", position):
            raise _unreadable(text, position)
        position += len(" and ")


def _condition_text(condition: Condition, columns: Columns) -> str:
    name = _quoted(columns.names[condition.feature])
    if _only_missing(condition):
        return f"{name} is missing"
    if _all_but_missing(condition):
        return f"{name} is not missing"
    if isinstance(condition, Members):
        shown = ", ".join(_level_reprs(condition, columns))
        atom = f"{name} {'not ' if condition.excluded else ''}in {{{shown}}}"
    else:
        atom = _range(name, condition)
    return f"({atom} or {name} is missing)" if condition.missing else atom


def _condition_query(condition: Condition, columns: Columns) -> str:
    name = _quoted(columns.names[condition.feature])
    if _only_missing(condition):
        return f"{name} != {name}"
    if _all_but_missing(condition):
        return f"{name} == {name}"
    if isinstance(condition, Interval):
        atom = _range(name, condition)
        return f"({atom} or {name} != {name})" if condition.missing else atom
    shown = ", ".join(_level_reprs(condition, columns))
    if condition.excluded:
        # pandas counts a missing value as "not in" any list.
        atom = f"{name} not in [{shown}]"
        return atom if condition.missing else f"({atom} and {name} == {name})"
    atom = f"{name} in [{shown}]"
    return f"({atom} or {name} != {name})" if condition.missing else atom


def _only_missing(condition: Condition) -> bool:
    if isinstance(condition, Members):
        return condition.missing and not condition.excluded and not condition.codes
    return condition.missing and condition.low == math.inf


def _all_but_missing(condition: Condition) -> bool:
    if isinstance(condition, Members):
        return not condition.missing and condition.excluded and not condition.codes
    return not condition.missing and condition.low == -math.inf and condition.high == math.inf


def _range(name: str, condition: Interval) -> str:
    if condition.high == math.inf:
        return f"{name} > {number_text(condition.low)}"
    upper = f"{name} <= {number_text(condition.high)}"
    return upper if condition.low == -math.inf else f"{number_text(condition.low)} < {upper}"


def number_text(number: float) -> str:
    """Return the shortest text that reads back as the number.

    Examples
    --------
    >>> number_text(5.0), number_text(0.1)
    ('5', '0.1')
    """
    return repr(float(number)).removesuffix(".0")


def _level_reprs(condition: Members, columns: Columns) -> list[str]:
    levels = columns.levels[condition.feature]
    return [repr(levels[code]) for code in sorted(condition.codes)]


def _quoted(name: str) -> str:
    plain = name.isidentifier() and name not in {"and", "or", "not", "in", "is", "inf"}
    return name if plain else "`" + name.replace("`", "``") + "`"


def _parse_condition(found: re.Match[str], missing: bool, columns: Columns) -> Condition:
    feature = _position(found["name"], columns)
    if found["codes"]:
        levels = columns.levels[feature]
        values = ast.literal_eval("[" + found["codes"][1:-1] + "]")
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
        raise invalid_parameter(
            "parse_rule", "text", must="name known columns", got=name, fix="See columns.names."
        )
    return columns.names.index(name)


def _code(levels: tuple[object, ...], value: object, shown: str) -> int:
    # True == 1 in Python, but they are different levels of different columns.
    for code, level in enumerate(levels):
        if level == value and type(level) is type(value):
            return code
    raise invalid_parameter(
        "parse_rule", "text", must="name known levels", got=shown, fix="See columns.levels."
    )


def _unreadable(text: str, position: int) -> Exception:
    return invalid_parameter(
        "parse_rule",
        "text",
        must="be conditions joined by ' and '",
        got=text[position:],
        fix="Write for example \"age <= 30 and town in {'Rome'}\".",
    )
