"""How many rounds are enough, found on rows set apart inside the training rows."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from foldwise.arrays import Array, BoolArray, IntArray
from foldwise.errors import Plain, invalid_data, invalid_parameter
from foldwise.folds import without_rows
from foldwise.folds.lattice import asked_splits, check_groups_are_whole
from foldwise.learners.one_learner import WeightedRows
from foldwise.learners.watched import scaled_rounds

Splits = list[tuple[IntArray, IntArray]]
# What takes the seed of the split; or rows that are watched beside the training rows.
SetApart = Callable[..., Splits] | list[WeightedRows]


def inner_splits(
    owner: str,
    validation: Any,
    y: Array,
    *,
    classes: bool,
    groups: Array | None,
    seed: int,
    kept: BoolArray | None = None,
) -> Splits:
    """Return the (training, validation) rows on which the rounds are found.

    ``kept``: Which rows of the user's are left, if not all: splits given as row numbers count
    those of the user's.
    """
    smallest = int(np.unique(y, return_counts=True)[1].min()) if classes else 0
    splitter = _splitter(owner, validation, smallest, groups is not None, seed)
    if isinstance(splitter, Iterable):
        kept = np.ones(len(y), dtype=bool) if kept is None else kept
        splits = without_rows(owner, splitter, kept, name="validation")
        if not splits or not all(len(train) and len(test) for train, test in splits):
            must = "leave rows of positive weight to fit and to judge in every split"
            got, fix = Plain("a split without"), "Set early_stopping=False, or give other splits."
            raise invalid_data(owner, "validation", must=must, got=got, fix=fix)
    else:
        try:
            splits = asked_splits(owner, splitter, np.zeros((len(y), 1)), y, groups)
        except ValueError as error:
            must = f"leave rows to fit and rows to judge out of n_samples={len(y)}"
            fix = f"Set early_stopping=False ({error})"
            raise invalid_data(owner, "validation", must=must, got=validation, fix=fix) from error
    check_groups_are_whole(owner, "validation", splits, groups)
    return splits


def _splitter(owner: str, validation: Any, smallest_class: int, grouped: bool, seed: int) -> Any:
    """Return what deals the rows; ``smallest_class``: rows of the rarest class, 0 for numbers."""
    if isinstance(validation, bool | str | bytes) or validation is None:
        validation = -1.0
    if isinstance(validation, float) and 0 < validation < 1:
        if grouped:
            return GroupShuffleSplit(1, test_size=validation, random_state=seed)
        kind = StratifiedShuffleSplit if smallest_class > 1 else ShuffleSplit
        return kind(1, test_size=validation, random_state=seed)
    if isinstance(validation, int | np.integer) and validation >= 2:
        if grouped:
            return GroupKFold(int(validation), shuffle=True, random_state=seed)
        folds = StratifiedKFold if smallest_class >= validation else KFold
        return folds(int(validation), shuffle=True, random_state=seed)
    if isinstance(validation, PredefinedSplit):  # it counts the user's rows
        return list(validation.split())
    if hasattr(validation, "split") or isinstance(validation, Iterable):
        return validation
    must = "be a share between 0 and 1, a number of folds from 2 on, or a splitter"
    got = validation if validation != -1.0 else Plain("none of these")
    raise invalid_parameter(owner, "validation", must=must, got=got, fix="Try 0.1, the default.")


class Stageable(Protocol):
    """A boosted model that knows its best round and can be cut there."""

    @property
    def best_round(self) -> int:
        """Rounds at the lowest validation loss."""

    def first(self, rounds: int) -> Self:
        """Return the model of the first rounds."""


Model = TypeVar("Model", bound=Stageable)


def stop_early(
    run: Callable[[IntArray, IntArray | None, int], Model],
    splits: Splits,
    n_samples: int,
    rounds: int,
    refit: str | None,
) -> Model:
    """Return the model with the number of rounds found on the splits.

    ``refit``: Whether all rows are boosted once more, for scaled rounds or as many as were found,
    or the model of the one split is kept.
    """
    models = [run(train, test, rounds) for train, test in splits]
    best = [model.best_round for model in models]
    if refit is None:
        return models[0].first(best[0])
    sizes = [len(train) if refit == "scaled" else n_samples for train, _ in splits]
    wanted = min(scaled_rounds(best, sizes, n_samples), rounds)
    return run(np.arange(n_samples), None, wanted)
