import numpy as np
from sklearn.model_selection import KFold, TimeSeriesSplit

from foldwise.folds import Lattice, read_lattice
from foldwise.folds.reading import Needs, needs_of, upper_blocks


def test_rows_asked_several_times_are_asked_once() -> None:
    needs = Needs()
    node = frozenset({0})
    needs.add(node, np.array([3, 1]))
    needs.add(node, np.array([1, 2]))
    needs.add(frozenset(), np.empty(0, dtype=np.intp))
    assert needs.of(node).tolist() == [1, 2, 3]
    assert needs.of(frozenset()).tolist() == []


def test_a_pair_predicts_both_its_folds_and_a_single_its_own() -> None:
    lattice = Lattice.from_splits(KFold(4).split(np.zeros(12)), 12)
    (needs,) = needs_of(read_lattice(lattice), lattice)
    for node in needs.rows:
        expected = np.sort(np.concatenate([lattice.tests[i] for i in node]))
        assert np.array_equal(needs.of(node), expected)


def test_an_upper_learner_reads_lower_models_without_its_own_folds_and_the_rows_fold() -> None:
    lattice = Lattice.from_splits(KFold(5).split(np.zeros(15)), 15)
    blocks = upper_blocks(lattice, frozenset({1, 3}))
    assert [sorted(block.refs[0].node) for block in blocks] == [[0, 1, 3], [1, 2, 3], [1, 3, 4]]
    assert np.array_equal(np.concatenate([b.rows for b in blocks]), lattice.rows(frozenset({1, 3})))


def test_an_upper_learner_forward_in_time_reads_earlier_folds_only() -> None:
    lattice = Lattice.from_splits(TimeSeriesSplit(4).split(np.zeros(15)), 15)
    blocks = upper_blocks(lattice, frozenset({2}))
    assert [sorted(block.refs[0].node) for block in blocks] == [[0], [1]]
    assert max(block.rows.max() for block in blocks) < lattice.tests[2][0]


def test_the_lower_models_predict_what_the_upper_ones_are_asked_for() -> None:
    lattice = Lattice.from_splits(KFold(5).split(np.zeros(15)), 15)
    lower, upper = needs_of(read_lattice(lattice, n_layers=2), lattice, 2)
    for node in upper.rows:
        assert np.isin(upper.of(node), lower.of(node)).all()
