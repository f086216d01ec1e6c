"""Free text -> a few numbers: hashed n-grams of words, weighted, and their main directions."""

import warnings
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

from foldwise.arrays import FloatArray
from foldwise.auto.tables.values import text_of

BUCKETS = 2**14


class HashedText:
    """Numbers for one column of free text.

    Words and pairs of neighbouring words are hashed into 16,384 buckets (nothing is stored but
    weights), weighted by rarity, and projected to the directions of most variance. The length of
    the text is kept beside them. A missing text is an empty one.
    """

    def __init__(self, width: int, seed: int) -> None:
        self.width = width
        self.seed = seed

    def fit_transform(self, column: Any) -> FloatArray:
        """Learn the weights and directions, and return the numbers of the same cells."""
        counts = self._counts(column)
        self.weights = TfidfTransformer(sublinear_tf=True)
        width = max(1, min(self.width, counts.shape[0] - 1))
        self.directions = TruncatedSVD(width, random_state=self.seed)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            # The explained share of texts that are all empty is 0 / 0; it is not used.
            warnings.simplefilter("ignore", RuntimeWarning)
            found = self.directions.fit_transform(self.weights.fit_transform(counts))
        return np.column_stack([_length(column), found])

    def transform(self, column: Any) -> FloatArray:
        """Return the numbers of new cells."""
        found = self.directions.transform(self.weights.transform(self._counts(column)))
        return np.column_stack([_length(column), found])

    @property
    def names(self) -> list[str]:
        """What each column is."""
        return ["length", *(f"text {k}" for k in range(self.directions.n_components))]

    def _counts(self, column: Any) -> Any:
        hashed = HashingVectorizer(
            n_features=BUCKETS,
            ngram_range=(1, 2),
            token_pattern=r"(?u)\b\w+\b",
            alternate_sign=False,
            norm=None,
        )
        return hashed.transform(text_of(column).fillna(""))


def _length(column: Any) -> FloatArray:
    return np.log1p(text_of(column).fillna("").str.len().to_numpy(dtype=np.float64))
