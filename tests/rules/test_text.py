import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from foldwise.errors import InvalidParameterError
from foldwise.isle.data import CodedTable, Columns, frame_levels, frame_numbers
from foldwise.rules.rule import Interval, Members, Rule, conjunction
from foldwise.rules.text import parse_rule, rule_query, rule_text

COLUMNS = Columns(
    ("age", "net income", "in", "tick`ed", "town", "flag"),
    {4: ("Bonn", "O'Hara", 'say "hi"', "a} and b", "x, y"), 5: (False, True)},
)
numbers = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def intervals(draw, feature):
    low, high = sorted((draw(numbers | st.just(-math.inf)), draw(numbers | st.just(math.inf))))
    if low >= high or (low == -math.inf and high == math.inf):
        # Neither end says anything: only being missing or not is left to ask.
        return draw(
            st.sampled_from([Interval(feature), Interval(feature, math.inf, math.inf, True)])
        )
    return Interval(feature, low, high, draw(st.booleans()))


@st.composite
def members(draw, feature):
    codes = draw(st.frozensets(st.integers(0, len(COLUMNS.levels[feature]) - 1), min_size=1))
    return Members(feature, codes, draw(st.booleans()), draw(st.booleans()))


@st.composite
def rules(draw):
    features = draw(st.sets(st.integers(0, 5), min_size=1))
    return conjunction(
        draw(members(f)) if f in COLUMNS.levels else draw(intervals(f)) for f in features
    )


@given(rules())
def test_text_parses_back_to_the_same_rule(rule):
    assert parse_rule(rule_text(rule, COLUMNS), COLUMNS) == rule


@given(rules(), st.integers(0, 1000))
def test_pandas_selects_the_rows_the_rule_selects(rule, seed):
    rng = np.random.default_rng(seed)
    n = 30
    ends = [e for c in rule.conditions if isinstance(c, Interval) for e in (c.low, c.high)]
    pool = np.array([0.0, 1.0, -1.0, np.nan, *[e for e in ends if math.isfinite(e)]])
    frame = pd.DataFrame(
        {
            # Backticks cannot be written inside backticks in a pandas query.
            name.replace("`", "_"): rng.choice(pool, n)
            for name in COLUMNS.names[:4]
        }
    )
    towns = np.array([*COLUMNS.levels[4], None, "elsewhere"], dtype=object)
    frame["town"] = rng.choice(towns, n)
    frame["flag"] = rng.choice(np.array([True, False, None], dtype=object), n)
    columns = Columns(tuple(frame.columns), COLUMNS.levels)
    table = CodedTable(frame_numbers(frame, COLUMNS.levels), columns)
    selected = frame.query(rule_query(rule, columns), engine="python").index
    assert_array_equal(frame.index.isin(selected), rule.holds(table))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (conjunction([Interval(0, high=5.0), Interval(0, high=10.0)]), "age <= 5"),
        (conjunction([Interval(0, low=3.0), Interval(0, high=10.0)]), "3 < age <= 10"),
        (Rule((Interval(1, low=0.1),)), "`net income` > 0.1"),
        (Rule((Interval(0, math.inf, math.inf, True),)), "age is missing"),
        (Rule((Interval(0),)), "age is not missing"),
        (Rule((Interval(0, high=2.0, missing=True),)), "(age <= 2 or age is missing)"),
        (Rule((Members(4, frozenset({0, 1})),)), "town in {'Bonn', \"O'Hara\"}"),
        (Rule((Members(5, frozenset({1}), True),)), "flag not in {True}"),
        (Rule((Members(4, frozenset(), True),)), "town is not missing"),
        (Rule((Members(4, frozenset(), False, True),)), "town is missing"),
    ],
)
def test_rules_read_like_this(rule, text):
    assert rule_text(rule, COLUMNS) == text
    assert parse_rule(text, COLUMNS) == rule


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age <= ", "text must be conditions joined by ' and '; got 'age <= '."),
        ("age <= 5 or age > 7", "got ' or age > 7'."),
        ("(age <= 5)", "got '(age <= 5)'."),
        ("size <= 5", "text must name known columns; got 'size'. See columns.names."),
        ("town in {'Paris'}", "text must name known levels; got \"{'Paris'}\"."),
        ("town in {Bonn}", "text must be conditions joined by ' and '; got '{Bonn}'."),
        ("age in {'Bonn'}", "text must ask for ranges of numbers and lists of levels; got "),
        ("town <= 1 and town in {'Bonn'}", "got 'town <= 1'. See columns.levels."),
    ],
)
def test_unreadable_text_is_refused(text, message):
    with pytest.raises(InvalidParameterError) as caught:
        parse_rule(text, COLUMNS)
    assert message in str(caught.value)


def test_levels_come_from_the_data_in_their_own_order():
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(["s", "l"], categories=["s", "m", "l"], ordered=True),
            "word": ["b", "a"],
            "number": [1.0, 2.0],
            "flag": [True, False],
        }
    )
    assert frame_levels(frame, "test") == {0: ("s", "l"), 1: ("a", "b"), 3: (False, True)}
