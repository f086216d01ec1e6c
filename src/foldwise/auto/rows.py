"""The rows of a fit, in the order they are dealt, and how they are dealt."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupShuffleSplit,
    ShuffleSplit,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)

from foldwise.arrays import IntArray
from foldwise.auto.budget import HELD_OUT
from foldwise.auto.facts import Facts
from foldwise.learners import TrainingData

MOST_FORWARD = 5


@dataclass(frozen=True)
class Rows:
    """Checked rows."""

    data: TrainingData  # the table as a pandas frame, targets or class codes, weights, groups
    order: IntArray | None = None  # where each row stood before they were sorted in time

    def sorted(self, order: IntArray) -> "Rows":
        """Return the rows in another order."""
        data = self.data
        moved = TrainingData(
            data.X.iloc[order],
            data.y[order],
            None if data.sample_weight is None else data.sample_weight[order],
            data.n_classes,
            None if data.groups is None else data.groups[order],
        )
        return Rows(moved, order)


def splitter_for(folds: int, facts: Facts, rows: Rows, *, ordered: bool, seed: int) -> Any:
    """Return what the stack takes as ``cv``."""
    if ordered:
        return TimeSeriesSplit(int(np.clip(folds, 2, min(MOST_FORWARD, facts.n_rows - 1))))
    if folds > 1:
        return folds
    if rows.data.groups is not None:
        return GroupShuffleSplit(1, test_size=HELD_OUT, random_state=seed)
    plain = facts.regression or facts.smallest_class < 2
    kind = ShuffleSplit if plain else StratifiedShuffleSplit
    return kind(1, test_size=HELD_OUT, random_state=seed)
