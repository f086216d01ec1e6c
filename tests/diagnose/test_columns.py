import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from foldwise.diagnose.columns import column_groups, shuffled
from foldwise.errors import InvalidParameterError

X = np.arange(12.0).reshape(4, 3)
ORDER = np.array([2, 0, 3, 1])
WANTED = X.copy()
WANTED[:, [0, 2]] = X[ORDER][:, [0, 2]]


@pytest.mark.parametrize(
    "make",
    [np.asarray, sparse.csr_array, sparse.csc_array, pd.DataFrame,
     lambda X: pl.DataFrame(X, schema=list("abc"))],
)  # fmt: skip
def test_named_columns_move_together_and_others_stay(make) -> None:
    given = make(X)
    found = shuffled(given, [0, 2], ORDER)
    assert type(found) is type(given)
    assert_array_equal(found.toarray() if sparse.issparse(found) else np.asarray(found), WANTED)
    assert_array_equal(given.toarray() if sparse.issparse(given) else np.asarray(given), X)


def test_types_and_index_of_a_frame_are_kept() -> None:
    frame = pd.DataFrame(
        {"c": pd.Categorical(["a", "b", None]), "t": pd.to_datetime(["2020", "2021", "2022"])},
        index=[7, 7, 9],
    )
    found = shuffled(frame, [0, 1], np.array([1, 2, 0]))
    assert (found.dtypes == frame.dtypes).all()
    assert found.index.tolist() == [7, 7, 9]
    assert found["c"].iloc[0] == "b"


def test_columns_of_the_same_name_are_told_apart() -> None:
    frame = pd.DataFrame(X[:, :2], columns=["a", "a"])
    assert column_groups(frame, None, "x") == {"a (0)": [0], "a (1)": [1]}
    assert_array_equal(shuffled(frame, [1], ORDER).iloc[:, 1], X[ORDER, 1])


def test_groups_by_name_and_number() -> None:
    frame = pd.DataFrame(X, columns=list("abc"))
    assert column_groups(frame, {"both": ["a", 2]}, "x") == {"both": [0, 2]}
    assert column_groups(frame, ["b"], "x") == {"b": [1]}
    assert list(column_groups(X, None, "x")) == ["x0", "x1", "x2"]


def test_unknown_columns_are_named() -> None:
    with pytest.raises(InvalidParameterError) as error:
        column_groups(pd.DataFrame({"price": [1]}), ["prize"], "permutation_importance")
    assert str(error.value) == (
        "permutation_importance: columns must name columns of X; got 'prize'. Did you mean 'price'?"
    )
