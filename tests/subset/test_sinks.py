import numpy as np
from numpy.testing import assert_array_equal

from foldwise.subset.exhaustive import SubsetBlock
from foldwise.subset.sinks import BestByFold, BestBySize, members

EMPTY_AND_SINGLES = SubsetBlock(np.array([0b00, 0b10, 0b01]), np.array([0, 1, 1]))


def test_the_best_of_each_size_has_the_least_sum_over_folds():
    sink = BestBySize(3)
    sink.take(np.array([[5.0, 1.0, 2.0], [5.0, 4.0, 2.0]]), EMPTY_AND_SINGLES)
    assert_array_equal(sink.ids, [0b00, 0b01, -1, -1])
    assert_array_equal(sink.fold_errors[1], [2.0, 2.0])


def test_later_blocks_count_their_common_units():
    sink = BestBySize(3)
    sink.take(
        np.ones((1, 3)), SubsetBlock(*(EMPTY_AND_SINGLES.ids, EMPTY_AND_SINGLES.sizes), 1, 0b100)
    )
    assert_array_equal(sink.ids, [-1, 0b100, 0b110, -1])


def test_rounding_does_not_choose_between_ties():
    sink = BestBySize(1)
    sink.take(np.array([[5.0, 1.0 + 1e-14, 1.0]]), EMPTY_AND_SINGLES)
    assert sink.ids[1] == 0b10
    again = BestBySize(1)
    again.take(np.array([[1.0]]), SubsetBlock(np.array([0b01]), np.array([1])))
    again.take(np.array([[1.0 + 1e-14]]), SubsetBlock(np.array([0b10]), np.array([1])))
    assert again.ids[1] == 0b10


def test_each_fold_has_its_own_best_and_ties_go_to_the_smaller():
    sink = BestByFold(3)
    errors = np.array([[5.0, 1.0, 2.0], [5.0, 4.0, 2.0], [1.0, 1.0 - 1e-14, 1.0]])
    sink.take(errors, EMPTY_AND_SINGLES)
    assert_array_equal(sink.ids, [0b10, 0b01, 0b00])


def test_the_empty_subset_can_be_left_out():
    sink = BestByFold(1, empty_model=False)
    sink.take(np.array([[0.0, 2.0, 1.0]]), EMPTY_AND_SINGLES)
    assert_array_equal(sink.ids, [0b01])


def test_members_reads_the_first_unit_from_the_highest_bit():
    assert_array_equal(members(np.array([0b10]), 2), [[True, False]])


def test_a_later_block_replaces_a_folds_best_only_by_a_lower_error():
    sink = BestByFold(2)
    sink.take(np.array([[5.0, 1.0, 2.0], [5.0, 4.0, 2.0]]), EMPTY_AND_SINGLES)
    later = SubsetBlock(np.array([0b00]), np.array([0]), 2, 0b1100)
    sink.take(np.array([[1.5], [0.5]]), later)
    assert_array_equal(sink.ids, [0b10, 0b1100])
    assert_array_equal(sink.errors, [1.0, 0.5])
    assert_array_equal(sink.sizes, [1, 2])
