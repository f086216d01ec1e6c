"""Words -> the codes of levels, and codes -> columns of zeros and ones."""

from typing import Any

import numpy as np
import pandas as pd

from foldwise.arrays import FloatArray, IntArray
from foldwise.auto.tables.values import text_of

MISSING = "(missing)"


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
        text = text_of(column)
        codes = pd.Index(self.words, dtype=object).get_indexer(pd.Index(text, dtype=object))
        if self.has_missing:
            codes = np.where(text.isna(), len(self.words), codes)
        return codes.astype(np.intp)


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

    Examples
    --------
    >>> import numpy as np
    >>> indicators(np.array([0, 1, -1]), 2).ravel()
    array([0. , 1. , 0.5])
    """
    if n_levels == 2:
        return np.where(codes < 0, 0.5, codes == 1).reshape(-1, 1).astype(np.float64)
    return np.equal.outer(codes, np.arange(n_levels)).astype(np.float64)
