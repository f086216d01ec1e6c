import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

from foldwise.errors import InvalidDataError
from foldwise.isle.inputs import training_data


class Nobody(BaseEstimator):
    pass


def read(sample_weight=None, groups=None):
    X, y = np.arange(8.0).reshape(4, 2), np.arange(4.0)
    return training_data(Nobody(), X, y, sample_weight, groups, y_numeric=True)


def test_rows_of_weight_zero_are_dropped_with_their_groups():
    data = read([1, 0, 2, 3], groups=list("abcd"))
    assert_array_equal(data.y, [0, 2, 3])
    assert_array_equal(data.table.values[:, 0], [0, 4, 6])
    assert_array_equal(data.groups, ["a", "c", "d"])


def test_a_single_weight_is_everyones():
    assert_array_equal(read(2).weight, [2, 2, 2, 2])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 2], "Nobody: sample_weight must have one entry for each of the 4 rows; got (2,)."),
        ([1, 2, -1, 1], "sample_weight must be non-negative and not all zero; got -1.0."),
        ([0, 0, 0, 0], "sample_weight must be non-negative and not all zero; got 0.0."),
    ],
)
def test_bad_weights_are_refused(weight, message):
    with pytest.raises(InvalidDataError) as caught:
        read(weight)
    assert message in str(caught.value)
