"""The fold lattice: splits in, nodes out."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal

import numpy as np

from foldwise.arrays import ROW_NUMBER, BoolArray, IntArray
from foldwise.errors import InvalidParameterError, Plain, invalid_parameter, listing

Node = frozenset[int]
Kind = Literal["partition", "forward", "single"]

EVERYTHING: Node = frozenset()


@dataclass(frozen=True)
class Lattice:
    """Rows dealt into folds; a node is a set of left-out folds.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    trains, tests : tuple of ndarray of int
        Sorted row numbers of each split.
    kind : {"partition", "forward", "single"}
        How the splits lie: any order, every training part before its test part and the
        tests in order, or one split only.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> lattice = Lattice.from_splits(KFold(3).split(range(6)), 6)
    >>> lattice.rows(frozenset({0, 2}))
    array([2, 3])
    >>> lattice.fold_of
    array([0, 0, 1, 1, 2, 2])
    """

    n_rows: int
    trains: tuple[IntArray, ...]
    tests: tuple[IntArray, ...]
    kind: Kind

    @classmethod
    def from_splits(
        cls, splits: Iterable[tuple[Any, Any]], n_rows: int, owner: str = "Lattice"
    ) -> "Lattice":
        """Build the lattice after checking that no split leaks and no row is tested twice.

        Parameters
        ----------
        splits : iterable of (train, test)
            Row numbers or boolean masks.
        n_rows : int
            Number of rows.
        owner : str, default="Lattice"
            Who complains if a split cannot be used.

        Returns
        -------
        Lattice
            The checked lattice.
        """
        pairs = [
            (_row_numbers(train, n_rows, owner), _row_numbers(test, n_rows, owner))
            for train, test in splits
        ]
        _check_splits(pairs, n_rows, owner)
        trains = tuple(train for train, _ in pairs)
        tests = tuple(test for _, test in pairs)
        return cls(n_rows, trains, tests, _kind(trains, tests))

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.tests)

    @cached_property
    def fold_of(self) -> IntArray:
        """The fold that tests each row, -1 where none does."""
        fold = np.full(self.n_rows, -1, dtype=np.intp)
        for i, test in enumerate(self.tests):
            fold[test] = i
        return fold

    @cached_property
    def _in_train(self) -> BoolArray:
        inside = np.zeros((self.n_folds, self.n_rows), dtype=bool)
        for i, train in enumerate(self.trains):
            inside[i, train] = True
        return inside

    def rows(self, node: Node) -> IntArray:
        """Return the training rows of a node: what all its splits train on.

        Parameters
        ----------
        node : frozenset of int
            The left-out folds; empty for all rows.

        Returns
        -------
        ndarray of int
            Sorted row numbers.
        """
        inside = self._in_train[sorted(node)].all(axis=0)
        return np.flatnonzero(inside).astype(ROW_NUMBER)

    @cached_property
    def _first_with_rows(self) -> dict[bytes, Node]:
        return {}

    @cached_property
    def _canonical(self) -> dict[Node, Node]:
        return {}

    def canonical(self, node: Node) -> Node:
        """Return the one node that stands for all nodes with the same rows.

        Parameters
        ----------
        node : frozenset of int
            The left-out folds.

        Returns
        -------
        frozenset of int
            The first node asked for that has the same rows.
        """
        if node not in self._canonical:
            print_of_rows = blake2b(self.rows(node).tobytes(), digest_size=16).digest()
            self._canonical[node] = self._first_with_rows.setdefault(print_of_rows, node)
        return self._canonical[node]


def bad_cv(owner: str, must: str, got: Any, fix: str) -> InvalidParameterError:
    """Return the error for a cv that cannot be used."""
    return invalid_parameter(owner, "cv", must=must, got=got, fix=fix)


def _row_numbers(part: Any, n_rows: int, owner: str) -> IntArray:
    rows = np.asarray(part)
    if rows.dtype == bool:
        rows = np.flatnonzero(rows)
    rows = rows.astype(np.intp, copy=False)
    if not (rows[1:] > rows[:-1]).all():
        rows = np.unique(rows)
    if len(rows) and (rows[0] < 0 or rows[-1] >= n_rows):
        wrong = int(rows[0] if rows[0] < 0 else rows[-1])
        fix = "Make the splits from the rows that are fitted."
        raise bad_cv(owner, f"give row numbers from 0 to {n_rows - 1}", wrong, fix)
    return rows.astype(ROW_NUMBER)


def _check_splits(pairs: Sequence[tuple[IntArray, IntArray]], n_rows: int, owner: str) -> None:
    if not pairs:
        raise bad_cv(owner, "give at least one split", Plain("none"), "Use cv=5.")
    times_tested = np.zeros(n_rows, dtype=np.intp)
    for i, (train, test) in enumerate(pairs):
        if not len(train) or not len(test):
            got = Plain(f"split {i} with {len(train)} training and {len(test)} test rows")
            must = "leave rows to train on and rows to test in every split"
            raise bad_cv(owner, must, got, "Use fewer splits.")
        both = np.intersect1d(train, test, assume_unique=True)
        if len(both):
            got = Plain(f"split {i} with rows {listing(both.tolist())} in both")
            must = "keep the training rows of a split apart from its test rows"
            raise bad_cv(owner, must, got, "Remove these rows from the training part.")
        times_tested[test] += 1
    if times_tested.max() > 1:
        got = Plain(f"row {int(times_tested.argmax())} tested {times_tested.max()} times")
        fix = "Use a splitter without repeats, and n_repeats for several deals."
        raise bad_cv(owner, "test each row at most once", got, fix)


def _kind(trains: Sequence[IntArray], tests: Sequence[IntArray]) -> Kind:
    if len(tests) == 1:
        return "single"
    past_only = all(train[-1] < test[0] for train, test in zip(trains, tests, strict=True))
    in_order = all(a[-1] < b[0] for a, b in itertools.pairwise(tests))
    return "forward" if past_only and in_order else "partition"
