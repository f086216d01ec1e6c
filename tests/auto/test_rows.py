"""How rows are dealt."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import (
    GroupShuffleSplit,
    ShuffleSplit,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)

from foldwise.auto.facts import Facts
from foldwise.auto.rows import Rows, splitter_for
from foldwise.learners import TrainingData

FRAME = pd.DataFrame({"a": np.arange(30.0)})
PLAIN = Rows(TrainingData(FRAME, np.arange(30.0)))
GROUPED = Rows(TrainingData(FRAME, np.arange(30.0), None, None, np.arange(30) // 3))


def test_folds_are_a_number_and_time_goes_forward() -> None:
    facts = Facts(30, 1)
    assert splitter_for(5, facts, PLAIN, ordered=False, seed=0) == 5
    forward = splitter_for(8, facts, PLAIN, ordered=True, seed=0)
    assert isinstance(forward, TimeSeriesSplit)
    assert forward.n_splits == 5
    assert splitter_for(1, facts, PLAIN, ordered=True, seed=0).n_splits == 2


@pytest.mark.parametrize(
    ("facts", "rows", "kind"),
    [
        (Facts(30, 1), PLAIN, ShuffleSplit),
        (Facts(30, 1, n_classes=2, smallest_class=9), PLAIN, StratifiedShuffleSplit),
        (Facts(30, 1, n_classes=2, smallest_class=1), PLAIN, ShuffleSplit),
        (Facts(30, 1), GROUPED, GroupShuffleSplit),
    ],
)
def test_a_single_split_keeps_classes_and_groups(facts, rows, kind) -> None:
    splitter = splitter_for(1, facts, rows, ordered=False, seed=0)
    assert type(splitter) is kind
    assert splitter.get_n_splits(FRAME, rows.data.y, rows.data.groups) == 1


def test_sorting_moves_everything_together() -> None:
    weight = np.arange(30.0) + 1
    rows = Rows(TrainingData(FRAME, np.arange(30.0), weight, None, np.arange(30)))
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
