import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldwise.learners import atoms as module
from foldwise.learners.atoms import atoms_of
from learners.lattices import LATTICES


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
    tasks = LATTICES["plain"](100)
    assert atoms_of([task.train for task in tasks], 100).n_atoms == 5


def test_a_row_twice_in_a_part_has_no_atoms():
    assert atoms_of([np.array([0, 1, 1])], 3) is None


@pytest.mark.parametrize("n_parts", [12, 60])
def test_too_many_atoms_are_none(monkeypatch, n_parts):
    monkeypatch.setattr(module, "MAX_ATOMS", 5)
    assert atoms_of([np.array([i]) for i in range(n_parts)], n_parts) is None
