import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin

from foldwise.errors import InvalidDataError
from foldwise.isle.data import CodedTable, Columns, frame_levels, frame_numbers, training_data


def test_unseen_levels_get_the_next_code_and_missing_is_nan():
    train = pd.DataFrame({"c": ["a", "b", None]})
    levels = frame_levels(train, "test")
    new = pd.DataFrame({"c": ["b", "z", np.nan]})
    assert_array_equal(frame_numbers(new, levels)[:, 0], [1, 2, np.nan])


def test_polars_frames_are_read_like_pandas_frames():
    frame = pl.DataFrame({"n": [1, None], "c": ["x", None], "f": [True, False]})
    levels = frame_levels(frame, "test")
    assert levels == {1: ("x",), 2: (False, True)}
    assert_array_equal(frame_numbers(frame, levels), [[1, 0, 1], [np.nan, np.nan, 0]])


def test_nullable_numbers_are_numbers():
    frame = pd.DataFrame({"n": pd.array([1, None], dtype="Int64")})
    assert frame_levels(frame, "test") == {}
    assert_array_equal(frame_numbers(frame, {})[:, 0], [1, np.nan])


def test_sparse_and_dense_columns_are_the_same():
    X = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]])
    dense, thin = (CodedTable(v, Columns.numeric(2)) for v in (X, sparse.csc_matrix(X)))
    for feature in (0, 1):
        assert_array_equal(dense.column(feature), thin.column(feature))
    assert_array_equal(thin.rows(np.array([1])).column(0), [2.0])


def test_a_table_of_constants_cannot_be_split():
    constant = np.array([[1.0, np.nan], [1.0, np.nan]])
    assert not CodedTable(constant, Columns.numeric(2)).can_be_split()
    assert CodedTable(np.eye(2), Columns.numeric(2)).can_be_split()


class Nobody(RegressorMixin, BaseEstimator):
    pass


def read(sample_weight=None, groups=None):
    X, y = np.arange(8.0).reshape(4, 2), np.arange(4.0)
    return training_data(Nobody(), X, y, sample_weight, groups)


def test_rows_of_weight_zero_are_dropped_with_their_groups():
    table, y, weight, groups, kept = read([1, 0, 2, 3], groups=list("abcd"))
    assert_array_equal(y, [0, 2, 3])
    assert_array_equal(weight, [1, 2, 3])
    assert_array_equal(table.values[:, 0], [0, 4, 6])
    assert_array_equal(groups, [0, 1, 2])
    assert_array_equal(kept, [True, False, True, True])


def test_a_single_weight_is_everyones():
    assert_array_equal(read(2)[2], [2, 2, 2, 2])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 2], "Nobody: sample_weight must have one entry for each of the 4 rows of X"),
        (
            [1, 2, -1, 1],
            "sample_weight must be finite and not negative",
        ),
        ([0, 0, 0, 0], "sample_weight must not be zero everywhere; got all zeros."),
    ],
)
def test_bad_weights_are_refused(weight, message):
    with pytest.raises(InvalidDataError) as caught:
        read(weight)
    assert message in str(caught.value)
