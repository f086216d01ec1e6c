import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from foldwise.paths.curvature import Curvature, Dictionary


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("columns", [[1, 2, 4, 5], [0, 1, 2, 3, 4, 5, 6], [2], [0, 6], [1, 2, 5]])
def test_moving_to_other_columns_is_computing_them_afresh(kind, columns):
    rng = np.random.default_rng(0)
    dictionary = Dictionary(kind(rng.normal(size=(30, 7)) * (rng.random((30, 7)) < 0.5)))
    weights, columns = rng.random(30), np.array(columns)
    moved = Curvature.at(dictionary, weights, np.array([1, 2, 5])).moved_to(dictionary, columns)
    fresh = Curvature.at(dictionary, weights, columns)
    assert_allclose(moved.Q, fresh.Q, atol=1e-12)
    assert_allclose(moved.centre, fresh.centre, atol=1e-12)


def test_moments_are_centred_by_the_curvature():
    dictionary = Dictionary(np.arange(6.0).reshape(3, 2))
    found = Curvature.at(dictionary, np.array([1.0, 0.0, 3.0]), np.array([0, 1]))
    assert_allclose(found.centre, [3, 4])
    assert_allclose(found.Q, np.full((2, 2), 12))
