"""Dealing rows into the folds by which a penalty is chosen."""

from typing import Any

import numpy as np

from foldwise.arrays import Array, BoolArray, IntArray
from foldwise.errors import invalid_parameter
from foldwise.folds import own_splits
from foldwise.folds.lattice import users_splits


def deal_folds(
    owner: str,
    cv: Any,
    y: Array,
    *,
    classify: bool,
    groups: Array | None,
    rng: np.random.Generator,
    kept: BoolArray | None = None,
) -> IntArray:
    """Return the fold of every row.

    ``kept``: which of the rows that splits number these are; None for all.
    """
    if cv is None or (isinstance(cv, int | np.integer) and not isinstance(cv, bool)):
        classes = y.astype(np.intp) if classify else None
        splits = own_splits(cv, len(y), classes, groups, int(rng.integers(2**31)), 0, 0, owner)
    else:
        splits = users_splits(owner, cv, (np.zeros((len(y), 1)), y, groups), kept, groups)
    folds, tested = np.zeros(len(y), dtype=np.intp), np.zeros(len(y), dtype=int)
    gaps = False
    for number, (train, test) in enumerate(splits):
        folds[test] = number
        tested[test] += 1
        used = np.zeros(len(y), dtype=bool)
        used[train] = used[test] = True
        gaps |= not used.all()
    # A gap between the two parts could not be kept: whatever is not tested is trained on.
    if gaps or (tested != 1).any():
        must = "test every row exactly once and train on all others"
        fix = "Use a number of folds, KFold, StratifiedKFold or GroupKFold."
        raise invalid_parameter(owner, "cv", must=must, got=cv, fix=fix)
    return np.unique(folds, return_inverse=True)[1]
