import re

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
