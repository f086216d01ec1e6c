from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import (
    GroupShuffleSplit,
    ShuffleSplit,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)

from foldwise.auto.inputs import AutoInputs, splitter_for, times_of
from foldwise.auto.portfolio.member import TableProfile
from foldwise.errors import InvalidDataError, InvalidParameterError
from foldwise.learners import TrainingData

FRAME = pd.DataFrame({"a": np.arange(30.0)})
PLAIN = AutoInputs(TrainingData(FRAME, np.arange(30.0)), np.arange(30.0))
GROUPED = AutoInputs(
    TrainingData(FRAME, np.arange(30.0), None, None, np.arange(30) // 3), np.arange(30.0)
)


def test_folds_are_a_number_and_time_goes_forward() -> None:
    facts = TableProfile(30, 1)
    assert splitter_for(5, facts, PLAIN, ordered=False, seed=0) == 5
    sorted_rows = PLAIN.sorted("A", np.arange(30))
    assert len(splitter_for(8, facts, sorted_rows, ordered=True, seed=0)) == 5
    assert len(splitter_for(1, facts, sorted_rows, ordered=True, seed=0)) == 2


@pytest.mark.parametrize(("smallest", "folds"), [(9, 8), (4, 4), (1, 3), (2, 3)])
def test_there_are_no_more_folds_than_rows_of_a_class(smallest, folds) -> None:
    facts = TableProfile(30, 1, n_classes=2, smallest_class=smallest)
    assert splitter_for(8, facts, PLAIN, ordered=False, seed=0) == folds


def test_there_are_no_more_folds_than_rows_or_groups() -> None:
    assert splitter_for(8, TableProfile(6, 1), PLAIN, ordered=False, seed=0) == 6
    few = AutoInputs(replace(GROUPED.data, groups=np.arange(30) % 4), np.arange(30.0))
    assert splitter_for(8, TableProfile(30, 1), few, ordered=False, seed=0) == 4


@pytest.mark.parametrize(
    ("facts", "rows", "kind"),
    [
        (TableProfile(30, 1), PLAIN, ShuffleSplit),
        (TableProfile(30, 1, n_classes=2, smallest_class=9), PLAIN, StratifiedShuffleSplit),
        (TableProfile(30, 1, n_classes=2, smallest_class=1), PLAIN, ShuffleSplit),
        (TableProfile(30, 1), GROUPED, GroupShuffleSplit),
    ],
)
def test_a_single_split_keeps_classes_and_groups(facts, rows, kind) -> None:
    splitter = splitter_for(1, facts, rows, ordered=False, seed=0)
    assert type(splitter) is kind
    assert splitter.get_n_splits(FRAME, rows.data.y, rows.data.groups) == 1


def test_sorting_moves_everything_together() -> None:
    weight = np.arange(30.0) + 1
    rows = AutoInputs(
        TrainingData(FRAME, np.arange(30.0), weight, None, np.arange(30)), np.arange(30.0)
    )
    order = np.random.default_rng(0).permutation(30)
    moved = rows.sorted("A", np.argsort(order))
    for values in (
        moved.data.X["a"],
        moved.data.y,
        moved.data.sample_weight - 1,
        moved.data.groups,
    ):
        np.testing.assert_array_equal(values, order)
    np.testing.assert_array_equal(moved.places, order)


@pytest.mark.parametrize(
    "times",
    [
        [3, 1, 2],
        ["2024-03-01", "2024-01-31", "2024-02-01"],
        pd.to_datetime(["2024-03-01", "2024-01-31", "2024-02-01"]),
        pd.to_datetime(["2024-03-01", "2024-01-31", "2024-02-01"]).tz_localize("UTC"),
        pd.Categorical(["2024-03-01", "2024-01-31", "2024-02-01"]),
    ],
)
def test_numbers_dates_and_text_of_dates_are_ordered_alike(times) -> None:
    assert times_of("A", pd.DataFrame({"t": times}), "t").argsort().tolist() == [1, 2, 0]


def test_rows_of_the_same_time_keep_their_order() -> None:
    order = PLAIN.sorted("A", np.arange(30) % 3).places
    assert order.tolist() == [*range(0, 30, 3), *range(1, 30, 3), *range(2, 30, 3)]


def test_a_position_names_a_column_without_a_name() -> None:
    assert times_of("A", pd.DataFrame(np.array([[0, 2.0], [1, 1.0]])), 1).tolist() == [2, 1]


@pytest.mark.parametrize("folds", [1, 3, 5, 8])
@pytest.mark.parametrize("n_times", [3, 4, 10, 30])
def test_equal_times_never_stand_on_both_sides_of_a_split(folds, n_times) -> None:
    times = np.random.default_rng(n_times).permutation(np.arange(30) % n_times)
    rows = PLAIN.sorted("A", times)
    splits = splitter_for(folds, TableProfile(30, 1), rows, ordered=True, seed=0)
    assert 2 <= len(splits) <= 5
    for train, test in splits:
        assert times[rows.places][train].max() < times[rows.places][test].min()
    assert splits[-1][1][-1] == 29


def test_where_all_times_differ_the_splits_are_those_of_scikit_learn() -> None:
    rows = PLAIN.sorted("A", np.arange(30))
    ours = splitter_for(5, TableProfile(30, 1), rows, ordered=True, seed=0)
    theirs = TimeSeriesSplit(5).split(FRAME)
    for (train, test), (train_there, test_there) in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(train, train_there)
        np.testing.assert_array_equal(test, test_there)


def test_groups_are_kept_together_in_time_where_they_can_be() -> None:
    rows = GROUPED.sorted("A", np.arange(30))
    groups = rows.data.groups
    for train, test in splitter_for(5, TableProfile(30, 1), rows, ordered=True, seed=0):
        assert not set(groups[train]) & set(groups[test])


def test_groups_that_go_on_in_time_are_refused() -> None:
    data = TrainingData(FRAME, np.arange(30.0), None, None, np.arange(30) % 3)
    with pytest.raises(InvalidDataError) as error:
        AutoInputs(data, np.arange(30.0)).sorted("A", np.arange(30) // 3)
    assert str(error.value) == (
        "A: time_column must leave three times or more whose rows and groups can be kept apart; "
        "got 10 different times that groups join to 1. Leave out time_column, or groups that go "
        "on in time."
    )


def test_two_times_are_too_few() -> None:
    with pytest.raises(InvalidDataError, match="got 2 different times"):
        PLAIN.sorted("A", np.arange(30) % 2)


@pytest.mark.parametrize(
    ("time_column", "frame", "kind", "words"),
    [
        (
            "tiem",
            pd.DataFrame({"time": [1]}),
            InvalidParameterError,
            "A: time_column must be a column of X; got 'tiem'. Did you mean 'time'?",
        ),
        (
            "time",
            pd.DataFrame({"time": [1, None]}),
            InvalidDataError,
            "A: time_column must hold a time in every row; got 1 missing. Drop these rows.",
        ),
    ],
)
def test_what_cannot_order_rows_is_refused(time_column, frame, kind, words) -> None:
    with pytest.raises(kind) as error:
        times_of("A", frame, time_column)
    assert str(error.value) == words


def test_text_that_is_no_date_is_refused() -> None:
    with pytest.raises(InvalidParameterError) as error:
        times_of("A", pd.DataFrame({"t": ["soon", "later"]}), "t")
    assert str(error.value) == (
        "A: time_column must hold numbers or dates; got 'soon'. Write dates like 2024-01-31."
    )


def test_rows_are_drawn_in_their_order_and_one_of_each_class() -> None:
    y, weight = np.zeros(30, dtype=int), np.ones(30)
    y[7] = 1
    rows = AutoInputs(TrainingData(FRAME, y, weight, 2, np.arange(30) // 3), y * 10)
    drawn = rows.drawn(8, 0)
    places = drawn.places
    assert len(places) == 8
    assert (np.diff(places) > 0).all()
    assert 7 in places
    np.testing.assert_array_equal(drawn.data.X["a"], places)
    np.testing.assert_array_equal(drawn.given, y[places] * 10)
    np.testing.assert_array_equal(drawn.data.groups, places // 3)


def test_rows_drawn_of_a_table_in_time_stay_sorted_and_groups_whole() -> None:
    times = np.arange(30)[::-1] // 3
    rows = GROUPED.sorted("A", times).drawn(15, 0)
    assert (np.diff(times[rows.places]) >= 0).all()
    np.testing.assert_array_equal(rows.data.X["a"], rows.places)
    for train, test in splitter_for(3, TableProfile(15, 1), rows, ordered=True, seed=0):
        assert times[rows.places[train]].max() < times[rows.places[test]].min()
        assert not set(rows.data.groups[train]) & set(rows.data.groups[test])
