import numpy as np
import pytest

from foldwise.learners import NodeTask
from foldwise.learners import blocks as module
from foldwise.learners.blocks import predict_blocks
from learners.lattices import LATTICES


@pytest.mark.parametrize("deal", LATTICES)
def test_each_row_is_read_once_and_put_where_its_task_wants_it(deal, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_BYTES", 1)
    rng = np.random.default_rng(0)
    tasks = [NodeTask(t.train, rng.permutation(t.test)) for t in LATTICES[deal](200)]
    read = []

    def respond(rows, numbers):
        read.extend(rows)
        return [np.column_stack([rows, np.full(len(rows), number)]) for number in numbers]

    predictions = predict_blocks(tasks, (200, 1), respond)
    assert len(read) == len(set(read))
    for number, (task, values) in enumerate(zip(tasks, predictions, strict=True)):
        np.testing.assert_array_equal(values[:, 0], task.test)
        assert (values[:, 1] == number).all()


def unasked(_rows, _numbers):
    raise AssertionError("there is nothing to predict")


def test_a_task_without_test_rows_has_no_predictions():
    tasks = [NodeTask(np.arange(3), np.empty(0, dtype=int))]
    assert predict_blocks(tasks, (3, 1), unasked)[0].shape == (0, 0)


def test_a_row_tested_twice_by_a_task_is_predicted_twice():
    tasks = [NodeTask(np.arange(3), np.array([1, 0, 1]))]

    def respond(rows, _numbers):
        return [rows[:, None]]

    np.testing.assert_array_equal(predict_blocks(tasks, (3, 1), respond)[0], [[1], [0], [1]])
