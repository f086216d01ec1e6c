import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from foldwise.subset.columns import choose_from


def test_units_stand_in_the_order_of_their_first_columns():
    choice = choose_from("Test", 6, None, [4], [[5, 0], [3, 2]], intercept=True)
    assert choice.units == [[1, 6], [2], [3, 4]]
    assert choice.forced == [0, 5]
    assert choice.widths == [2, 1, 2]
    assert choice.n_always == 1
    kept = np.array([True, False, True])
    assert_array_equal(choice.columns(kept), [0, 5, 1, 6, 3, 4])
    assert_array_equal(choice.support(kept[None], 6), [[True, False, True, True, True, True]])


def test_names_and_positions_mean_the_same():
    by_name = choose_from("Test", 3, ["a", "b", "c"], ["b"], [["a", "c"]], intercept=False)
    assert by_name == choose_from("Test", 3, None, [1], [[0, 2]], intercept=False)


def test_an_unknown_name_gets_a_suggestion():
    message = "Test: forced must name columns of X; got 'heigt'. Did you mean 'height'?"
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        choose_from("Test", 1, ["height"], ["heigt"], None, intercept=True)


def test_subsets_are_listed_by_columns_and_then_lexicographically():
    choice = choose_from("Test", 4, None, None, [[1, 2]], intercept=True)
    kept = replace(choice, max_size=3).subsets()
    listed = [tuple(np.flatnonzero(row)) for row in choice.support(kept, 4)]
    assert listed == [(), (0,), (3,), (1, 2), (0, 3), (0, 1, 2), (1, 2, 3)]


def test_forced_columns_and_the_intercept_are_always_in():
    choice = choose_from("Test", 3, None, [1], None, intercept=True)
    columns = choice.with_intercept(replace(choice, max_size=1).subsets(), 3)
    assert_array_equal(columns[:, [0, 2]], True)
    assert_array_equal(columns[:, [1, 3]], [[0, 0], [1, 0], [0, 1]])
