import numpy as np
import pytest

from foldwise.folds import Block, Ref
from foldwise.stack.table.read import NodeTable

ONE, TWO = frozenset({0, 1}), frozenset({0, 2})


@pytest.fixture
def table() -> NodeTable:
    table = NodeTable()
    rows = np.array([2, 5, 9])
    table.predictions["m", ONE, None] = (rows, np.array([[1.0], [2.0], [3.0]]))
    table.predictions["m", TWO, None] = (rows, np.array([[3.0], [4.0], [5.0]]))
    table.models["m", ONE, None] = "model"
    table.n_fits["m"] = 2
    return table


def test_a_block_reads_the_mean_over_its_nodes(table: NodeTable) -> None:
    block = Block(np.array([9, 2]), (Ref(ONE), Ref(TWO)))
    assert table.read("m", block).tolist() == [[4.0], [2.0]]


def test_a_node_that_is_read_twice_counts_twice(table: NodeTable) -> None:
    block = Block(np.array([2]), (Ref(ONE), Ref(TWO), Ref(ONE)))
    assert table.read("m", block).item() == pytest.approx(5 / 3)


def test_a_tuned_learner_is_read_at_the_point_its_owner_chose(table: NodeTable) -> None:
    table.choices["m"] = {0: 4, 1: 7}
    assert table.cell("m", Ref(ONE, 1)) == ("m", ONE, 7)


def test_a_dropped_learner_leaves_nothing_but_its_reason(table: NodeTable) -> None:
    table.drop("m", "broken")
    assert not table.predictions
    assert not table.models
    assert table.failures == {"m": "broken"}


def test_cells_are_taken_over_with_their_count(table: NodeTable) -> None:
    new = NodeTable()
    new.take_over(table, [("m", ONE, None), ("other", ONE, None)])
    assert new.has(("m", ONE, None))
    assert not new.has(("m", TWO, None))
    assert new.models == {("m", ONE, None): "model"}
    assert new.n_fits.total() == 2
