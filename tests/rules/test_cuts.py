import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from foldwise.isle.table import CodedTable, Columns
from foldwise.rules.cuts import Cuts, short_number_between

numbers = st.floats(-1e12, 1e12)


@given(numbers, numbers)
def test_a_short_number_separates_its_neighbours(a, b):
    low, high = min(a, b), max(a, b)
    if low < high:
        assert low <= short_number_between(low, high) < high


def test_whole_numbers_are_cut_at_whole_numbers():
    cuts = Cuts(CodedTable(np.array([[1.0], [2.0], [5.0]]), Columns.numeric(1)))
    assert cuts.move(0, 3.4) == 2.0


def test_cuts_outside_the_data_become_infinite():
    cuts = Cuts(CodedTable(np.array([[1.0], [2.5], [np.nan]]), Columns.numeric(1)))
    assert cuts.move(0, 1e300) == math.inf
    assert cuts.move(0, -5.0) == -math.inf


def test_moved_cuts_split_the_rows_as_before():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    cuts = Cuts(CodedTable(x[:, None], Columns.numeric(1)))
    for threshold in rng.normal(size=50):
        assert np.array_equal(x <= cuts.move(0, threshold), x <= threshold)
