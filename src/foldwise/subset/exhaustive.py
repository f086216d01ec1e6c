"""The test error of every subset of columns, without fitting any of them.

Columns are taken one after the other. To include a column, it is regressed out of all later
columns: a sweep of the training products, and the same column operations on the test products.
To leave it out, it is dropped. After the last column the test product of y with itself is the
squared test error of the subset. Each product is one vector over subsets and folds, so that
NumPy does the work.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.subset.coefficients import all_independent
from foldwise.subset.columns import Choice, count_subsets
from foldwise.subset.moments import ALIASED, PERFECT

Triangle = list[list[FloatArray]]

# Length of the vectors: long enough to hide NumPy's overhead, short enough for the cache.
LENGTH = 8192
# Sum of r² / 2^(r - 1) over the columns r that are left when one is decided.
SQUARES_A_SUBSET = 11.0
# Fold-models a second on one core of a 2023 server, to say beforehand how long it will take.
SPEED = 2e7


@dataclass(frozen=True)
class SubsetBlock:
    """Subsets that are carried through the columns together."""

    # subset numbers: unit ``j`` of ``q`` is the bit of value ``2 ** (q - 1 - j)``, so that of two
    # subsets of one size the larger number comes first in lexicographic order
    ids: Array
    sizes: IntArray  # number of columns of each, less ``more``; in ascending order
    more: int = 0  # columns that all have beyond ``sizes``
    more_id: int = 0  # units that all have beyond ``ids``


class Sink(Protocol):
    """Something that looks at the errors of all subsets as they come."""

    def take(self, errors: FloatArray, block: SubsetBlock) -> None:
        """Look at the errors (n_folds, n_subsets) of the subsets of a block."""


def sweep_all(train: FloatArray, test: FloatArray, choice: Choice, *sinks: Sink) -> Iterator[float]:
    """Give the test errors of all subsets to all ``sinks``, and yield the share done.

    A column that is linearly dependent on the included ones before it, in the training rows,
    gets a zero coefficient, as in R. Errors below 1e-13 of a fold's sum of squares are rounding
    and count as 1e-13 of it, so that perfect fits are ties. Memory is O(LENGTH * q ** 3),
    whatever the number of subsets; time about 24 flops a subset and fold.

    ``train, test``: Products (n_folds, q, q) of the columns over the training and the test rows of
    each fold; the last column is the target.
    """
    free = [column for unit in choice.units for column in unit]
    order = [*choice.forced, *free, train.shape[1] - 1]
    both = np.array([train, test])[:, :, order][..., order]
    # If all columns together are independent, so are all subsets: nothing to look out for.
    careful = not all_independent(both[0, :, :-1, :-1])
    both = both.transpose(2, 3, 0, 1)[..., None]
    floors = ALIASED * np.einsum("iikn->ikn", both[:, :, 0])
    walk = _Walk(choice.widths, choice.max_size, sinks, careful, PERFECT * both[-1, -1, 1])
    for v in range(len(choice.forced)):
        both = regress_out(both, floors[v] if careful else None)
    done, n_subsets = 0, choice.n_subsets
    for count in walk.descend(*walk.grow(both, floors[len(choice.forced) : -1])):
        done += count
        yield done / n_subsets


def regress_out(both: FloatArray, floor: FloatArray | None) -> FloatArray:
    """Regress the first column out of all later ones, in training and test products at once.

    Shapes: ``both`` (r, r, 2, n_folds, n_subsets), returns (r - 1, r - 1, 2, n_folds, n_subsets).
    """
    # With g the training row, t the test row and h = g / g_vv: train - g h', and
    # test - h t' - t h' + t_vv h h'. Both are the entry less h (row - row_v h)' less row h', since
    # g - g_vv h vanishes.
    row = both[0, 1:]
    slope = row[:, :1] * inverse_pivot(both[0, 0, :1], floor)
    half = row - both[0, 0] * slope
    left = both[1:, 1:] - slope[:, None] * half[None]
    left -= row[:, None] * slope[None]
    return left


def inverse_pivot(pivot: FloatArray, floor: FloatArray | None) -> FloatArray:
    """Return 1 / pivot, or 0 where the pivot does not exceed the floor."""
    if floor is None:
        return 1.0 / pivot
    alive = pivot > floor
    return np.asarray(alive / np.where(alive, pivot, 1.0))


def sweep_work(widths: Sequence[int], max_size: int) -> float:
    """Return the work of a sweep, in subsets of a sweep without a largest size."""
    left = np.cumsum([1, *widths[::-1]])[::-1]
    carried = [
        count_subsets(widths[:unit], max_size - width) if width <= max_size else 0
        for unit, width in enumerate(widths)
    ]
    squares = sum(n * float(r) ** 2 for n, r in zip(carried, left, strict=False))
    return squares / SQUARES_A_SUBSET


class State(NamedTuple):
    """Products of the columns not yet decided, each an array (n_folds, n_subsets)."""

    train: Triangle  # the upper one, without a row for the target, which is never regressed out
    test: Triangle  # the upper one
    floors: list[FloatArray]  # (n_folds, 1): at or below it a column is aliased

    def without(self, width: int) -> "State":
        """Return the state when the first columns are left out."""
        return State(self.train[width:], self.test[width:], self.floors[width:])

    def pick(self, subsets: slice | IntArray) -> "State":
        """Return the state of some of the subsets."""

        def part(entry: FloatArray) -> FloatArray:
            return entry[:, subsets]

        return State(_mapped(part, self.train), _mapped(part, self.test), self.floors)

    def beside(self, other: "State") -> "State":
        """Return the state of these subsets and those of another state."""

        def joined(*pair: FloatArray) -> FloatArray:
            return np.concatenate(pair, axis=1)

        train = _mapped(joined, self.train, other.train)
        return State(train, _mapped(joined, self.test, other.test), self.floors)


def _mapped(function: Callable[..., FloatArray], *triangles: Triangle) -> Triangle:
    """Return what a function makes of the entries that stand in one place of the triangles."""
    return [list(map(function, *rows)) for rows in zip(*triangles, strict=True)]


def include(state: State, careful: bool) -> State:
    """Regress the first column out of all later ones; with ``careful``, unless it is aliased.

    The same as :func:`regress_out` in half the flops: one triangle, entry by entry.
    """
    (g_vv, *g), (t_vv, *t) = state.train[0], state.test[0]
    inverse = inverse_pivot(g_vv, state.floors[0] if careful else None)
    slopes = [entry * inverse for entry in g]
    halves = [entry - t_vv * slope for entry, slope in zip(t, slopes, strict=True)]
    sums = [half + entry for half, entry in zip(halves, t, strict=True)]
    train = [
        [_less(entry, slopes[i] * g[i + j]) for j, entry in enumerate(row)]
        for i, row in enumerate(state.train[1:])
    ]
    test = []
    for i, (square, *row) in enumerate(state.test[1:]):
        products = [_less(square, slopes[i] * sums[i])]
        for k, entry in enumerate(row, start=i + 1):
            change = slopes[i] * halves[k]
            change += slopes[k] * t[i]
            products.append(_less(entry, change))
        test.append(products)
    return State(train, test, state.floors[1:])


def _less(entry: FloatArray, change: FloatArray) -> FloatArray:
    return np.subtract(entry, change, out=change)


@dataclass(frozen=True)
class _Walk:
    """A walk over the tree of subsets; ``widths`` are the columns of each unit."""

    widths: list[int]
    max_size: int
    sinks: tuple[Sink, ...]
    careful: bool  # whether aliased columns must be looked for
    least: FloatArray  # (n_folds, 1): errors below are rounding

    def _bit(self, depth: int) -> int:
        """Return the bit of a unit in the numbers of subsets; the first unit has the highest."""
        return 1 << (len(self.widths) - 1 - depth)

    def grow(self, both: FloatArray, floors: FloatArray) -> tuple[State, SubsetBlock, int]:
        """Decide the first units both ways, as long as all subsets make one short block."""
        # Numbers of more than 63 bits are Python's own: slower, but there are few of them.
        kind = np.int64 if len(self.widths) < 63 else object
        block, depth = SubsetBlock(np.zeros(1, dtype=kind), np.zeros(1, dtype=np.intp)), 0
        while depth < len(self.widths) and 2 * len(block.ids) * both.shape[3] <= LENGTH:
            width = self.widths[depth]
            fits = self._fits(block, width)
            with_it = both[..., :fits]
            for v in range(width):
                with_it = regress_out(with_it, floors[v] if self.careful else None)
            block, order = self._join(block, fits, depth)
            both = np.concatenate([both[width:, width:], with_it], axis=-1)[..., order]
            floors, depth = floors[width:], depth + 1
        test = [list(both[i, i:, 1]) for i in range(len(both))]
        train = [list(both[i, i:, 0]) for i in range(len(both) - 1)]
        return State(train, test, list(floors)), block, depth

    def descend(self, state: State, block: SubsetBlock, depth: int) -> Iterator[int]:
        """Decide the units from ``depth`` on for a block of subsets; yield how many are done."""
        if depth == len(self.widths):
            errors = np.maximum(state.test[0][0], self.least)
            for sink in self.sinks:
                sink.take(errors, block)
            yield len(block.ids)
            return
        width = self.widths[depth]
        without = state.without(width)
        fits = self._fits(block, width)
        if fits == 0:
            yield from self.descend(without, block, depth + 1)
            return
        with_it = state if fits == len(block.ids) else state.pick(slice(fits))
        for _ in range(width):
            with_it = include(with_it, self.careful)
        if (len(block.ids) + fits) * len(state.floors[0]) <= LENGTH:
            # Both ways in one block: long vectors hide NumPy's overhead.
            block, order = self._join(block, fits, depth)
            yield from self.descend(without.beside(with_it).pick(order), block, depth + 1)
            return
        yield from self.descend(without, block, depth + 1)
        # Too long to be joined: what all of the block now have in common is noted beside it.
        more, more_id = block.more + width, block.more_id | self._bit(depth)
        larger = SubsetBlock(block.ids[:fits], block.sizes[:fits], more, more_id)
        yield from self.descend(with_it, larger, depth + 1)

    def _fits(self, block: SubsetBlock, width: int) -> int:
        """Return how many subsets of a block, the first ones, have room for so many columns."""
        room = self.max_size - block.more - width
        return int(np.searchsorted(block.sizes, room, side="right"))

    def _join(self, block: SubsetBlock, fits: int, depth: int) -> tuple[SubsetBlock, IntArray]:
        """Return a block with and without a unit, and the order of its subsets by size."""
        sizes = np.concatenate([block.sizes, block.sizes[:fits] + self.widths[depth]])
        ids = np.concatenate([block.ids, block.ids[:fits] | self._bit(depth)])
        order = np.argsort(sizes, kind="stable")
        return replace(block, ids=ids[order], sizes=sizes[order]), order
