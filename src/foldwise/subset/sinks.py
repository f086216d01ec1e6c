"""What is remembered while the errors of all subsets stream by."""

import numpy as np

from foldwise.arrays import Array, BoolArray, FloatArray, IntArray
from foldwise.subset.exhaustive import SubsetBlock

# Errors that differ by less than this share are tied: rounding must not choose a model.
TIE = 1e-10


class BestBySize:
    """The subset with the lowest error, summed over folds, of each size.

    Ties go to the subset that comes first in lexicographic order.
    """

    def __init__(self, max_size: int) -> None:
        self.errors = np.full(max_size + 1, np.inf)
        self.ids = np.full(max_size + 1, -1, dtype=object)
        self.fold_errors: dict[int, FloatArray] = {}
        self._sizes: IntArray | None = None

    def take(self, errors: FloatArray, block: SubsetBlock) -> None:
        """Look at a block of errors."""
        totals = errors.sum(axis=0)
        if block.sizes is not self._sizes:
            self._sizes = block.sizes
            self._starts = np.flatnonzero(np.diff(block.sizes, prepend=-1))
            self._at = block.sizes[self._starts]
        at = self._at + block.more
        lowest = np.minimum.reduceat(totals, self._starts)
        (hits,) = np.nonzero(lowest <= self.errors[at] * (1 + TIE))
        for hit in hits:
            size = at[hit]
            end = self._starts[hit + 1] if hit + 1 < len(at) else None
            group = slice(self._starts[hit], end)
            ids = block.ids[group] | block.more_id
            tied = np.flatnonzero(totals[group] <= lowest[hit] * (1 + TIE))
            first = tied[ids[tied].argmax()]
            beaten = lowest[hit] < self.errors[size] * (1 - TIE)
            if beaten or ids[first] > self.ids[size]:
                self.ids[size] = int(ids[first])
                self.fold_errors[int(size)] = errors[:, group][:, first].copy()
            self.errors[size] = min(lowest[hit], self.errors[size])


class BestByFold:
    """The subset with the lowest error on each fold.

    Ties go to the smaller subset, then to the one that comes first in lexicographic order.
    """

    def __init__(self, n_folds: int, *, empty_model: bool = True) -> None:
        self.empty_model = empty_model
        self.errors = np.full(n_folds, np.inf)
        self.ids = np.full(n_folds, -1, dtype=object)
        self.sizes = np.zeros(n_folds, dtype=np.intp)

    def take(self, errors: FloatArray, block: SubsetBlock) -> None:
        """Look at a block of errors."""
        if not self.empty_model and block.more == 0 and block.sizes[0] == 0:
            errors = errors.copy()
            errors[:, 0] = np.inf
        lowest = errors.min(axis=1)
        near = errors <= (lowest * (1 + TIE))[:, None]
        clear = (lowest < self.errors * (1 - TIE)) & (near.sum(axis=1) == 1)
        winners = errors[clear].argmin(axis=1)
        self.errors[clear] = lowest[clear]
        self.ids[clear] = block.ids[winners] | block.more_id
        self.sizes[clear] = block.sizes[winners] + block.more
        (hits,) = np.nonzero(~clear & (lowest <= self.errors * (1 + TIE)) & (lowest < np.inf))
        for fold in hits:
            tied = np.flatnonzero(near[fold])
            ids, sizes = block.ids[tied] | block.more_id, block.sizes[tied] + block.more
            first = _in_order(ids, sizes)[0]
            rivals = [(sizes[first], -int(ids[first]))]
            if not lowest[fold] < self.errors[fold] * (1 - TIE):
                rivals.append((self.sizes[fold], -self.ids[fold]))
            size, minus_id = min(rivals)
            self.sizes[fold], self.ids[fold] = size, -minus_id
            self.errors[fold] = min(lowest[fold], self.errors[fold])


class Everything:
    """The error, summed over folds, of every subset."""

    def __init__(self) -> None:
        self._ids: list[Array] = []
        self._errors: list[FloatArray] = []

    def take(self, errors: FloatArray, block: SubsetBlock) -> None:
        """Keep a block of errors."""
        self._ids.append(block.ids | block.more_id)
        self._errors.append(errors.sum(axis=0))

    def table(self, n_units: int) -> tuple[BoolArray, FloatArray]:
        """Return all subsets, by size and then lexicographically, and their errors."""
        ids = np.concatenate(self._ids)
        kept = members(ids, n_units)
        order = _in_order(ids, kept.sum(axis=1))
        return kept[order], np.concatenate(self._errors)[order]


def _in_order(ids: Array, sizes: IntArray) -> IntArray:
    """Return the order by size, and then lexicographically."""
    order = np.argsort(-ids, kind="stable")
    return order[np.argsort(sizes[order], kind="stable")]


def members(ids: Array, n_units: int) -> BoolArray:
    """Return which units are in the subsets of the given numbers."""
    bits = np.arange(n_units)[::-1]
    return (np.asarray(ids)[..., None] >> bits & 1).astype(bool)
