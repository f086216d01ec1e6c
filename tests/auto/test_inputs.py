import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import (
    GroupShuffleSplit,
    ShuffleSplit,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)

from foldwise.auto.inputs import AutoInputs, order_in_time, splitter_for
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
    forward = splitter_for(8, facts, PLAIN, ordered=True, seed=0)
    assert isinstance(forward, TimeSeriesSplit)
    assert forward.n_splits == 5
    assert splitter_for(1, facts, PLAIN, ordered=True, seed=0).n_splits == 2


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
    moved = rows.sorted(order)
    for values in (
        moved.data.X["a"],
        moved.data.y,
        moved.data.sample_weight - 1,
        moved.data.groups,
    ):
        np.testing.assert_array_equal(values, order)
    assert moved.order is order


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
    assert order_in_time("A", pd.DataFrame({"t": times}), "t").tolist() == [1, 2, 0]


def test_rows_of_the_same_time_keep_their_order() -> None:
    order = order_in_time("A", pd.DataFrame({"t": np.arange(100) % 2}), "t")
    assert order.tolist() == [*range(0, 100, 2), *range(1, 100, 2)]


def test_a_position_names_a_column_without_a_name() -> None:
    assert order_in_time("A", pd.DataFrame(np.array([[0, 2.0], [1, 1.0]])), 1).tolist() == [1, 0]


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
        order_in_time("A", frame, time_column)
    assert str(error.value) == words


def test_text_that_is_no_date_is_refused() -> None:
    with pytest.raises(InvalidParameterError) as error:
        order_in_time("A", pd.DataFrame({"t": ["soon", "later"]}), "t")
    assert str(error.value) == (
        "A: time_column must hold numbers or dates; got 'soon'. Write dates like 2024-01-31."
    )
