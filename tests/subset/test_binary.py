import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from foldwise.subset.binary import list_subsets, scaled_columns, with_forced
from foldwise.subset.columns import choose_from


def test_subsets_are_listed_by_columns_and_then_lexicographically():
    choice = choose_from("Test", 4, None, None, [[1, 2]], intercept=True)
    kept = list_subsets(choice, 3)
    listed = [tuple(np.flatnonzero(row)) for row in choice.support(kept, 4)]
    assert listed == [(), (0,), (3,), (1, 2), (0, 3), (0, 1, 2), (1, 2, 3)]


def test_forced_columns_and_the_intercept_are_always_in():
    choice = choose_from("Test", 3, None, [1], None, intercept=True)
    columns = with_forced(choice, list_subsets(choice, 1), 3)
    assert_array_equal(columns[:, [0, 2]], True)
    assert_array_equal(columns[:, [1, 3]], [[0, 0], [1, 0], [0, 1]])


def test_scaled_columns_have_mean_zero_and_unit_size():
    rng = np.random.default_rng(0)
    weights = rng.random(50)
    Z, _ = scaled_columns(rng.normal(size=(50, 2)) * 100 + 5, weights)
    assert_allclose(weights @ Z[:, 1:], 0, atol=1e-12)
    assert_allclose(np.average(Z**2, axis=0, weights=weights), 1)
