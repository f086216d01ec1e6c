"""Categories: words -> the codes of levels; codes -> zeros and ones, or shrunk mean targets."""

from typing import Any

import numpy as np
import pandas as pd

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.auto.tables.values import distinct_words, text_of

MISSING = "(missing)"
MOST_WHOLE_NUMBER_CLASSES = 30


class Levels:
    """The levels of one column of categories.

    ``words``: The levels: in the order of an ordered categorical, else by number or alphabet.

    ``has_missing``: Whether a training cell was missing: then that is a level of its own, the last.
    """

    def __init__(self, column: Any) -> None:
        text = text_of(column)
        self.words: list[str] = _in_order(column, text.dropna().unique())
        self.has_missing = bool(text.isna().any())

    def __len__(self) -> int:
        return len(self.words) + self.has_missing

    @property
    def names(self) -> list[str]:
        """The levels, the missing one included."""
        return [*self.words, MISSING] if self.has_missing else list(self.words)

    def codes(self, column: Any) -> IntArray:
        """Return the level of each cell; -1 if it was not in the training cells."""
        codes, words = distinct_words(column)
        places: dict[str | None, int] = {word: place for place, word in enumerate(self.words)}
        if self.has_missing:
            places[None] = len(self.words)
        return np.array([places.get(word, -1) for word in words], dtype=np.intp)[codes]


def _in_order(column: Any, words: Any) -> list[str]:
    if isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered:
        present = set(words)
        levels = text_of(pd.Series(column.dtype.categories))
        return [word for word in levels if word in present]
    numbers = pd.to_numeric(pd.Series(words, dtype=object), errors="coerce")
    if len(words) and numbers.notna().all():
        return [words[i] for i in np.argsort(numbers.to_numpy(), kind="stable")]
    return sorted(words)


def indicators(codes: IntArray, n_levels: int) -> FloatArray:
    """Return one column of zeros and ones a level; of two levels, the second alone.

    Shapes: returns (n_samples, n_levels).
    """
    if n_levels == 2:
        return np.where(codes < 0, 0.5, codes == 1).reshape(-1, 1).astype(np.float64)
    return np.equal.outer(codes, np.arange(n_levels)).astype(np.float64)


def is_quantity(y: Array, task: str = "auto") -> bool:
    """Return whether a target is a quantity rather than classes."""
    if task != "auto":
        return task == "regression"
    if y.dtype.kind == "f":
        return True
    return y.dtype.kind in "iu" and len(np.unique(y)) > MOST_WHOLE_NUMBER_CLASSES


def target_columns(y: Array, quantity: bool) -> tuple[FloatArray, list[str]]:
    """Return what is averaged, one column each, and its names.

    Shapes: returns (n_samples, n_columns).
    """
    if quantity:
        return y.astype(np.float64).reshape(-1, 1), ["mean target"]
    classes, codes = np.unique(y, return_inverse=True)
    kept = range(1, 2) if len(classes) == 2 else range(len(classes))
    columns = np.column_stack([codes == k for k in kept]).astype(np.float64)
    return columns, [f"share of {classes[k].item()!r}" for k in kept]


def level_means(codes: IntArray, targets: FloatArray, n_levels: int) -> FloatArray:
    """Return the mean target of each level, shrunk towards the mean of all rows.

    Levels are random effects: a level of n rows keeps the share n / (n + m) of its difference
    from the mean of all, with m the variance inside levels over the variance between them, both
    estimated from the same rows by the moments of the one-way layout.

    Where nothing differs between levels, or every level has one row, all means are the mean of
    all rows. O(n_samples * n_targets).

    Shapes: ``targets`` (n_samples, n_targets), returns (n_levels + 1, n_targets).
    """
    overall = targets.mean(axis=0)
    known = codes >= 0
    counts, means, *_ = found = _means(codes[known], targets[known] - overall, n_levels)
    within, between = _variances(*found)
    weight = counts * between
    kept = weight / np.where(weight > 0, weight + within, 1.0)
    return np.vstack([overall + kept[:, None] * means, overall])


def _means(
    codes: IntArray, targets: FloatArray, n_levels: int
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Return counts and means of levels, and the rows they are of."""
    counts = np.bincount(codes, minlength=n_levels).astype(np.float64)
    sums = np.column_stack(
        [np.bincount(codes, weights=column, minlength=n_levels) for column in targets.T]
    )
    return counts, sums / np.maximum(counts, 1.0)[:, None], targets, codes


def _variances(
    counts: FloatArray, means: FloatArray, centred: FloatArray, codes: IntArray
) -> tuple[float, float]:
    """Return the variance inside levels and between them, the latter 0 if it cannot be told.

    They are summed over the targets: classes shrunk alike have shares that sum to one.
    """
    n_rows, n_seen = counts.sum(), float((counts > 0).sum())
    if n_rows <= n_seen or n_seen < 2:
        return 0.0, 0.0
    within = ((centred - means[codes]) ** 2).sum() / (n_rows - n_seen)
    spread = (counts[:, None] * (means - centred.mean(axis=0)) ** 2).sum()
    between = (spread - (n_seen - 1.0) * within) / (n_rows - (counts**2).sum() / n_rows)
    return float(within), max(float(between), 0.0)


def between_share(codes: IntArray, targets: FloatArray, n_levels: int) -> float:
    """Return what share of the target's variance lies between levels.

    Shapes: ``targets`` (n_samples, n_targets).
    """
    known = codes >= 0
    if not known.any():
        return 0.0
    within, between = _variances(*_means(codes[known], targets[known], n_levels))
    return between / (within + between) if between > 0 else 0.0


def out_of_fold_means(
    codes: IntArray, targets: FloatArray, n_levels: int, folds: IntArray
) -> FloatArray:
    """Return for each row its level's mean, told from the rows of the other folds.

    Shapes: ``targets`` (n_samples, n_targets), returns (n_samples, n_targets).
    """
    encoded = np.empty((len(codes), targets.shape[1]))
    for fold in np.unique(folds):
        held = folds == fold
        rest = ~held if not held.all() else held
        encoded[held] = level_means(codes[rest], targets[rest], n_levels)[codes[held]]
    return encoded


def random_folds(n_rows: int, n_folds: int, seed: Any) -> IntArray:
    """Return a fold for each row, at random and of equal sizes."""
    order = np.random.default_rng(seed).permutation(n_rows)
    folds = np.empty(n_rows, dtype=np.intp)
    folds[order] = np.arange(n_rows) % n_folds
    return folds
