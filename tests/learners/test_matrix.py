import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from foldwise.learners import matrix as module
from foldwise.learners.matrix import centre_of, matrix_of

X = np.random.default_rng(0).normal(size=(50, 3))
TABLES = {
    "array": X,
    "columns first": np.asfortranarray(X),
    "integers": np.arange(150).reshape(50, 3),
    "pandas": pd.DataFrame(X, columns=list("abc")),
    "pandas, mixed": pd.DataFrame({"a": X[:, 0], "b": np.arange(50), "c": X[:, 1] > 0}),
    "polars": pl.DataFrame(dict(zip("abc", X.T, strict=True))),
    "polars, mixed": pl.DataFrame({"a": X[:, 0], "b": np.arange(50)}),
}


@pytest.mark.parametrize("name", TABLES)
def test_rows_are_those_of_the_table(name, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_BYTES", 1)
    table = TABLES[name]
    whole = np.asarray(table, dtype=float)
    matrix = matrix_of(table)
    assert matrix.shape == whole.shape
    np.testing.assert_array_equal(matrix.rows(3, 9), whole[3:9])
    np.testing.assert_array_equal(matrix.take(np.array([7, 1])), whole[[7, 1]])
    np.testing.assert_array_equal(np.vstack([block for _, block in matrix.blocks()]), whole)


@pytest.mark.parametrize(
    "table",
    [
        csr_array(X),
        X.astype("f4"),
        X.astype(object),
        X > 0,
        X[:, 0],
        X[:0],
        X.tolist(),
        np.ma.masked_array(X),
        pd.DataFrame(X.astype("f4")),
        pd.DataFrame({"a": ["x"] * 3}),
        pd.DataFrame({"a": pd.Series([1, None], dtype="Int64")}),
        pd.DataFrame({"a": pd.Categorical(["x", "y"])}),
        pl.DataFrame({"a": ["x"]}),
        pl.DataFrame({"a": np.ones(2, dtype="f4")}),
    ],
    ids=lambda table: type(table).__name__,
)
def test_what_is_not_plainly_numeric_is_none(table):
    assert matrix_of(table) is None


def test_the_centre_of_a_constant_column_is_its_value_to_the_last_bit():
    table = X.copy()
    table[:, 1] = 0.1
    centre = centre_of(matrix_of(table))
    assert centre[1] == 0.1
    np.testing.assert_allclose(centre[[0, 2]], table[:, [0, 2]].mean(axis=0))
