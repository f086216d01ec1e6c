"""Dealing rows into the folds by which a penalty is chosen."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv

from foldwise.arrays import Array, IntArray
from foldwise.errors import invalid_parameter


def deal_folds(
    owner: str,
    cv: Any,
    y: Array,
    *,
    classify: bool,
    groups: Array | None,
    rng: np.random.Generator,
) -> IntArray:
    """Return the fold of every row."""
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        return _dealt(owner, int(cv), y, classify, groups, rng)
    splits = check_cv(cv, y, classifier=classify).split(np.zeros((len(y), 1)), y, groups)
    return _from_splits(owner, cv, splits, len(y))


def _dealt(
    owner: str,
    n_folds: int,
    y: Array,
    classify: bool,
    groups: Array | None,
    rng: np.random.Generator,
) -> IntArray:
    if n_folds < 2:
        raise invalid_parameter(owner, "cv", must="be at least 2", got=n_folds, fix="Try 5.")
    if groups is None:
        order = np.lexsort((rng.random(len(y)), y if classify else np.zeros(len(y))))
        folds = np.empty(len(y), dtype=np.intp)
        folds[order] = np.arange(len(y)) % n_folds
        return folds
    kind = StratifiedGroupKFold if classify else GroupKFold
    seed = int(rng.integers(2**31))
    splitter = kind(min(n_folds, len(np.unique(groups))), shuffle=True, random_state=seed)
    splits = splitter.split(np.zeros((len(y), 1)), y, groups)
    return _from_splits(owner, n_folds, splits, len(y))


def _from_splits(owner: str, cv: Any, splits: Iterable[Any], n_rows: int) -> IntArray:
    folds, tested = np.zeros(n_rows, dtype=np.intp), np.zeros(n_rows, dtype=int)
    for number, (_, test) in enumerate(splits):
        folds[test] = number
        tested[test] += 1
    if (tested != 1).any():
        raise invalid_parameter(
            owner,
            "cv",
            must="test every row exactly once",
            got=cv,
            fix="Use a number of folds, KFold, StratifiedKFold or GroupKFold.",
        )
    return np.unique(folds, return_inverse=True)[1]
