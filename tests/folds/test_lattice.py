import itertools

import numpy as np
import pytest
from sklearn.model_selection import KFold, RepeatedKFold, TimeSeriesSplit

from foldwise.errors import InvalidParameterError
from foldwise.folds import Lattice, without_rows


def error_of(splits, n_rows=9) -> str:
    with pytest.raises(InvalidParameterError) as caught:
        Lattice.from_splits(splits, n_rows, "Stack")
    return str(caught.value)


def test_the_empty_node_has_all_rows() -> None:
    lattice = Lattice.from_splits(TimeSeriesSplit(3).split(np.zeros(12)), 12)
    assert np.array_equal(lattice.rows(frozenset()), np.arange(12))


def test_a_nodes_rows_are_what_all_its_splits_train_on() -> None:
    splits = [([0, 1, 2, 5], [3, 4]), ([2, 3, 5], [0, 1]), ([0, 1, 3], [2])]
    lattice = Lattice.from_splits(splits, 7)
    for size in (1, 2, 3):
        for node in itertools.combinations(range(3), size):
            expected = set.intersection(*(set(splits[i][0]) for i in node))
            assert set(lattice.rows(frozenset(node))) == expected


def test_rows_that_no_split_tests_are_uncovered() -> None:
    lattice = Lattice.from_splits([([0, 1], [2]), ([1, 2], [0])], 5)
    assert lattice.fold_of.tolist() == [1, -1, 0, -1, -1]


def test_nodes_with_equal_rows_are_one_node() -> None:
    lattice = Lattice.from_splits(KFold(3).split(np.zeros(9)), 9)
    assert lattice.canonical(frozenset({0, 1})) == lattice.canonical(frozenset([1, 0]))
    forward = Lattice.from_splits(TimeSeriesSplit(3).split(np.zeros(12)), 12)
    assert forward.canonical(frozenset({1})) == forward.canonical(frozenset({1, 2}))
    assert forward.canonical(frozenset({1})) != forward.canonical(frozenset({0}))


def test_rows_are_sorted_whatever_the_splitter_gives() -> None:
    lattice = Lattice.from_splits([([4, 0, 2], [3, 1]), ([1, 3], [4, 2, 0])], 5)
    assert lattice.trains[0].tolist() == [0, 2, 4]
    assert lattice.tests[0].tolist() == [1, 3]


@pytest.mark.parametrize(
    ("splits", "kind"),
    [
        ([([0, 1], [2]), ([0, 1, 2], [3])], "forward"),
        ([([0, 1], [2]), ([1, 2], [3])], "forward"),
        ([([0], [2]), ([0, 1], [3])], "forward"),
        ([([0, 1, 2], [3]), ([0, 1], [2])], "partition"),
        ([([0, 3], [2]), ([0, 1, 2], [3])], "partition"),
        ([([0, 1], [2])], "single"),
    ],
    ids=["expanding", "rolling", "gapped", "tests not in order", "sees later rows", "one split"],
)
def test_the_kind_is_how_the_splits_lie(splits, kind) -> None:
    assert Lattice.from_splits(splits, 4).kind == kind


def test_a_split_that_leaks_is_an_error() -> None:
    assert error_of([([0, 1, 2, 3], [2, 3, 4])]) == (
        "Stack: cv must keep the training rows of a split apart from its test rows; "
        "got split 0 with rows 2, 3 in both. Remove these rows from the training part."
    )


def test_a_row_tested_twice_is_an_error_that_names_n_repeats() -> None:
    splits = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0).split(np.zeros(9))
    assert error_of(splits) == (
        "Stack: cv must test each row at most once; got row 0 tested 2 times. "
        "Use a splitter without repeats, and n_repeats for several deals."
    )


@pytest.mark.parametrize(
    ("split", "got"),
    [
        (([], [1, 2]), "split 0 with 0 training and 2 test rows"),
        (([1, 2], []), "split 0 with 2 training and 0 test rows"),
    ],
)
def test_an_empty_part_is_an_error(split, got) -> None:
    assert error_of([split]) == (
        "Stack: cv must leave rows to train on and rows to test in every split; "
        f"got {got}. Use fewer splits."
    )


def test_no_split_at_all_is_an_error() -> None:
    assert error_of([]) == "Stack: cv must give at least one split; got none. Use cv=5."


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        (2, "2"), ("a", "'a'"), (["a"], "['a']"), (None, "None"), ([[2], [3]], "[[2], [3]]"),
        ([[2], [3, 4]], "[[2], [3, 4]]"), ([2.5], "[2.5]"), ([np.nan], "[nan]"),
    ],
)  # fmt: skip
def test_what_numbers_no_rows_is_an_error(part, shown) -> None:
    assert error_of([([0, 1], part)]) == (
        f"Stack: cv must give row numbers or masks of rows in every split; got {shown}. Use cv=5."
    )


@pytest.mark.parametrize("part", [[2.0, 3.0], np.array([2, 3], dtype=object), range(2, 4)])
def test_whole_numbers_of_any_kind_number_rows(part) -> None:
    lattice = Lattice.from_splits([([0, 1], part)], 9)
    np.testing.assert_array_equal(lattice.tests[0], [2, 3])


@pytest.mark.parametrize(("row", "shown"), [(9, "9"), (-1, "-1")])
def test_a_row_number_outside_the_data_is_an_error(row, shown) -> None:
    assert error_of([([0, 1], [row])]) == (
        f"Stack: cv must give row numbers from 0 to 8; got {shown}. "
        "Make the splits from the rows that are fitted."
    )


def test_given_splits_are_renumbered_in_their_order_and_refused_by_name() -> None:
    kept = np.array([True, False, True, True])
    masks = np.array([True, True, False, False]), np.array([False, False, True, True])
    for split in (([1, 0], [3, 2]), masks):
        ((train, test),) = without_rows("Stack", iter([split]), kept)
        assert train.tolist() == [0]
        assert sorted(test.tolist()) == [1, 2]
    ((_, test),) = without_rows("Stack", [([0], [3, 2])], kept)
    assert test.tolist() == [2, 1]
    for split, must in (
        (([0], [4]), "give row numbers from 0 to 3; got 4"),
        (([0.5], [1]), "give row numbers or masks of rows in every split; got [0.5]"),
        ((1, 2, 3), "hold pairs of (train, test) if it is an iterable; got (1, 2, 3)"),
    ):
        with pytest.raises(InvalidParameterError) as error:
            without_rows("Boost", [split], kept, name="validation")
        assert str(error.value).startswith(f"Boost: validation must {must}.")
