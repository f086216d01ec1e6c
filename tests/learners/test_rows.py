import os
import sys
import tempfile
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from foldwise.engine.processes.packing import pack
from foldwise.engine.processes.worker import highest, resident
from foldwise.learners import NodeTask
from foldwise.learners import rows as module
from foldwise.learners.prepare import take_rows
from foldwise.learners.rows import atoms_of, centre_of, matrix_of, node_fits, predict_blocks
from learners.lattices import LATTICES

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
    np.testing.assert_array_equal(matrix.take(slice(3, 9)), whole[3:9])
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


@given(
    st.integers(1, 30).flatmap(
        lambda n: st.tuples(
            st.just(n), st.lists(st.sets(st.integers(0, n - 1)), min_size=1, max_size=60)
        )
    )
)
def test_every_part_is_a_union_of_atoms_and_no_two_atoms_belong_to_the_same_parts(case):
    n_rows, sets = case
    parts = [np.array(sorted(rows), dtype=int) for rows in sets]
    atoms = atoms_of(parts, n_rows)
    for rows, members in zip(parts, atoms.members, strict=True):
        inside = np.append(members, False)[atoms.label]
        np.testing.assert_array_equal(np.flatnonzero(inside), rows)
    assert len(np.unique(atoms.members, axis=1).T) == atoms.n_atoms
    covered = np.unique(np.concatenate(parts))
    np.testing.assert_array_equal(np.flatnonzero(atoms.label >= 0), covered)
    np.testing.assert_array_equal(np.sort(np.concatenate([*atoms.rows(), []])), covered)
    assert [len(rows) for rows in atoms.rows()] == list(atoms.counts())


def test_folds_are_the_atoms_of_a_plain_lattice():
    tasks = LATTICES["plain"](100, 5)
    assert atoms_of([task.train for task in tasks], 100).n_atoms == 5


def test_a_row_twice_in_a_part_has_no_atoms():
    assert atoms_of([np.array([0, 1, 1])], 3) is None


@pytest.mark.parametrize("n_parts", [12, 60])
def test_too_many_atoms_are_none(monkeypatch, n_parts):
    monkeypatch.setattr(module, "MAX_ATOMS", 5)
    assert atoms_of([np.array([i]) for i in range(n_parts)], n_parts) is None


@pytest.mark.parametrize("deal", LATTICES)
def test_each_row_is_read_once_and_put_where_its_task_wants_it(deal, monkeypatch):
    monkeypatch.setattr(module, "PREDICT_BYTES", 1)
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


def test_only_tasks_with_a_find_are_predicted_and_only_kept_models_are_made():
    rows = np.arange(3)
    tasks = [NodeTask(rows, rows[:1]), NodeTask(rows, rows[1:]), NodeTask(rows, rows, None, False)]

    def predict(tasks, found):
        return [value * task.test[:, None] for task, value in zip(tasks, found, strict=True)]

    begun = time.perf_counter() - 30.0
    fits = node_fits(
        tasks, begun, [None, 2.0, 3.0].__getitem__, predict, lambda _, value: str(value)
    )
    assert fits[0] is None
    np.testing.assert_array_equal(fits[1].predictions, [[2.0], [4.0]])
    assert fits[1].model == "2.0"
    assert fits[2].model is None
    assert 10.0 <= fits[2].fit_seconds < 11.0


@pytest.mark.skipif(sys.platform != "linux", reason="no other system tells")
def test_little_of_a_mapped_table_is_held_for_its_centre_and_for_a_copy_of_rows() -> None:
    table = np.random.default_rng(0).normal(size=(400_000, 20))
    with tempfile.TemporaryFile() as file:
        parcel = replace(pack(table, file), file=os.dup(file.fileno()))
        mapped = parcel.open()
        held, most = resident(), table.nbytes / 2
        np.testing.assert_allclose(centre_of(matrix_of(mapped)), 0, atol=0.2)
        assert highest() - held < most
        rows = np.arange(0, len(table), 3)
        held = resident()
        copied = take_rows(mapped, rows)
        assert highest() - held < most
        assert (copied == table[rows]).all()
