import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from foldwise.folds import Block, Ref
from foldwise.learners import TrainingData
from foldwise.stack.problem import StackProblem
from foldwise.stack.table.read import rows_of, weights_of

REF = (Ref(frozenset({0})),)


def test_rows_come_block_after_block() -> None:
    blocks = [Block(np.array([4, 5]), REF), Block(np.array([1]), REF)]
    assert rows_of(blocks).tolist() == [4, 5, 1]


def test_no_weights_are_made_up() -> None:
    assert weights_of([Block(np.array([0, 1]), REF)], None) is None


def test_shares_multiply_the_weights_of_the_rows() -> None:
    blocks = [Block(np.array([2, 0]), REF, share=0.5), Block(np.array([1]), REF)]
    assert weights_of(blocks, np.array([1.0, 2.0, 3.0])).tolist() == [1.5, 0.5, 2.0]
    assert weights_of(blocks, None).tolist() == [0.5, 0.5, 1.0]


@pytest.mark.parametrize(
    ("weight", "amount"), [(None, 4.0), ([2, 1, 1, 0], 4.0), ([0.1, 0.1, 0, 0], 2.0)]
)
def test_an_integer_weight_counts_its_row_as_often(weight: object, amount: float) -> None:
    weight = None if weight is None else np.array(weight, dtype=float)
    assert StackProblem(TrainingData(np.ones((4, 1)), np.ones(4), weight)).amount == amount


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, pd.DataFrame, pl.DataFrame])
def test_columns_are_passed_on_by_number(make: object) -> None:
    X = make(np.arange(6.0).reshape(2, 3))
    problem = StackProblem(TrainingData(X, np.ones(2)), passthrough=[2, 0])
    found = problem.extra(X)
    found = found.toarray() if sparse.issparse(found) else np.asarray(found)
    assert found.tolist() == [[2, 0], [5, 3]]
    assert StackProblem(TrainingData(X, np.ones(2))).extra(X) is None
