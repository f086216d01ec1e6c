import numpy as np
import pandas as pd
from numpy.testing import assert_array_equal

from foldwise.auto.tables.levels import Levels, indicators


def test_levels_are_sorted_by_number_or_alphabet():
    assert Levels(pd.Series(["10", "9", "1"])).words == ["1", "9", "10"]
    assert Levels(pd.Series(["b", "a", "10"])).words == ["10", "a", "b"]


def test_an_ordered_categorical_keeps_its_order():
    sizes = pd.Categorical(["L", "S"], categories=["S", "M", "L"], ordered=True)
    assert Levels(pd.Series(sizes)).words == ["S", "L"]


def test_unknown_is_minus_one_and_missing_a_level_where_it_was_seen():
    seen = Levels(pd.Series(["a", None, "b"]))
    assert_array_equal(seen.codes(pd.Series(["b", "c", None])), [1, -1, 2])
    unseen = Levels(pd.Series(["a", "b"]))
    assert_array_equal(unseen.codes(pd.Series(["b", "c", None])), [1, -1, -1])
    assert seen.names == ["a", "b", "(missing)"]


def test_a_level_is_the_same_number_or_word():
    levels = Levels(pd.Series([1, 2]))
    assert_array_equal(levels.codes(pd.Series([2.0, np.nan])), [1, -1])
    assert_array_equal(levels.codes(pd.Series(["2", "1"])), [1, 0])


def test_indicators_mark_the_level():
    assert_array_equal(indicators(np.array([0, 2, -1]), 3), [[1, 0, 0], [0, 0, 1], [0, 0, 0]])
