"""The fold lattice: from the `cv` argument to splits, from splits to nodes."""

import copy
import itertools
import math
import numbers
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
)

from foldwise.arrays import ROW_NUMBER, Array, BoolArray, IntArray
from foldwise.errors import (
    FoldsWarning,
    InvalidParameterError,
    Plain,
    invalid_data,
    invalid_parameter,
    listing,
    warn,
)

Node = frozenset[int]
Kind = Literal["partition", "forward", "single"]

EVERYTHING: Node = frozenset()
DEFAULT_FOLDS = 5
MOST_NODES = 500
# Rows of a class for each fold from which on it need not be spread evenly; deals drawn at most.
ENOUGH, MOST_DRAWS = 2, 20

Splits = list[tuple[IntArray, IntArray]]
_KINDS = ((KFold, StratifiedKFold), (GroupKFold, StratifiedGroupKFold))


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
    >>> lattice.rows(frozenset({0, 2})).tolist()
    [2, 3]
    >>> lattice.fold_of.tolist()
    [0, 0, 1, 1, 2, 2]
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
        fold = np.full(self.n_rows, -1, dtype=ROW_NUMBER)
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
        if len(node) == 1:
            return self.trains[next(iter(node))]
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


def _row_numbers(part: Any, n_rows: int, owner: str, name: str = "cv") -> IntArray:
    try:
        with np.errstate(invalid="ignore"):
            given = np.asarray(part)
            rows = np.flatnonzero(given) if given.dtype == bool else given.astype(np.intp)
        known = given.ndim == 1 and (given.dtype == bool or bool((rows == given).all()))
    except (TypeError, ValueError):
        known = False
    if not known:
        must, fix = "give row numbers or masks of rows in every split", f"Use {name}=5."
        raise invalid_parameter(owner, name, must=must, got=part, fix=fix)
    if not (rows[1:] > rows[:-1]).all():
        rows = np.unique(rows)
    if len(rows) and (rows[0] < 0 or rows[-1] >= n_rows):
        wrong = int(rows[0] if rows[0] < 0 else rows[-1])
        must = f"give row numbers from 0 to {n_rows - 1}"
        fix = "Make the splits from the rows that are fitted."
        raise invalid_parameter(owner, name, must=must, got=wrong, fix=fix)
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


def deal(
    cv: Any,
    n_rows: int,
    *,
    classes: IntArray | None = None,
    groups: Array | None = None,
    given: tuple[Any, Any, Any] | None = None,
    seed: int = 0,
    repeat: int = 0,
    n_layers: int = 1,
    partners: Any = "all",
    owner: str = "deal",
) -> Lattice:
    """Return the lattice that `cv` describes.

    Parameters
    ----------
    cv : int, None, splitter or iterable of (train, test)
        None is 5. An int deals shuffled folds (:func:`own_splits`), whole groups together when
        groups are given.
    n_rows : int
        Number of rows.
    classes : ndarray of int or None
        Class codes, for classification.
    groups : ndarray or None
        Groups that must not be torn apart.
    given : tuple (X, y, groups) or None
        What to hand to a splitter of the user's; else row numbers, classes and groups.
    seed : int, default=0
        Seed of the deal.
    repeat : int, default=0
        Which deal this is; deals after the first need a splitter that shuffles.
    n_layers : int, default=1
        Layers of learners; they decide how many nodes there are.
    partners : int or "all", default="all"
        With how many others each fold is paired; so does that.
    owner : str
        Who complains.

    Returns
    -------
    Lattice
        The checked lattice.

    Examples
    --------
    >>> deal(3, 9).n_folds
    3
    """
    state = int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])
    if cv is None or isinstance(cv, numbers.Integral):
        splits = own_splits(cv, n_rows, classes, groups, seed, repeat, n_layers, owner, partners)
    elif hasattr(cv, "split") and not isinstance(cv, str | bytes):
        splitter = _reseeded(owner, cv, state, repeat)
        _refuse_leave_one_out(owner, splitter, n_rows, groups, n_layers, partners)
        splits = asked_splits(owner, splitter, *(given or (np.zeros(n_rows), classes, groups)))
    elif isinstance(cv, Iterable) and not isinstance(cv, str | bytes):
        splits = _given_splits(owner, cv)
        if repeat:
            raise _cannot_repeat(owner, cv)
    else:
        must = "be an int, a splitter, an iterable of (train, test) or 'prefit'"
        raise bad_cv(owner, must, cv, "Use cv=5.")
    lattice = Lattice.from_splits(splits, n_rows, owner)
    check_groups_are_whole(owner, "cv", zip(lattice.trains, lattice.tests, strict=True), groups)
    _check_node_count(owner, lattice.n_folds, n_layers, partners, lattice.kind == "forward")
    return lattice


def _given_splits(owner: str, cv: Iterable[Any], name: str = "cv") -> list[Any]:
    splits = list(cv)
    for split in splits:
        if not hasattr(split, "__len__") or len(split) != 2:
            must, fix = "hold pairs of (train, test) if it is an iterable", f"Use {name}=5."
            raise invalid_parameter(owner, name, must=must, got=split, fix=fix)
    return splits


def asked_splits(owner: str, splitter: Any, X: Any, y: Any, groups: Any) -> list[Any]:
    """Return a splitter's splits of X, y and groups."""
    kind = type(splitter).__name__
    if groups is None and "Group" in kind and type(splitter).__module__.startswith("sklearn."):
        must, fix = f"be given for cv={kind}", "Use fit(X, y, groups=...)."
        raise invalid_data(owner, "groups", must=must, got=None, fix=fix)
    with warnings.catch_warnings():
        # A splitter that does not look at groups may still keep them whole: that is checked.
        warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
        return list(splitter.split(X, y, groups))


def users_splits(
    owner: str, cv: Any, given: tuple[Any, Any, Any], kept: BoolArray | None, groups: Array | None
) -> list[Any]:
    """Return how a splitter or an iterable of the user's splits X, y and groups.

    ``kept``: which of the rows that the splits number are left; None for all.
    """
    splits = without_rows(owner, cv, np.ones(len(given[1]), dtype=bool) if kept is None else kept)
    if hasattr(splits, "split") and not isinstance(splits, str | bytes):
        splits = asked_splits(owner, splits, *given)
    elif not isinstance(splits, list):
        raise bad_cv(owner, "be an int, a splitter or an iterable of (train, test)", cv, "Use 5.")
    check_groups_are_whole(owner, "cv", splits, groups)
    return splits


def without_rows(owner: str, cv: Any, kept: BoolArray, *, name: str = "cv") -> Any:
    """Return what deals the kept rows alone: given splits are renumbered, splitters stay.

    Parameters
    ----------
    owner : str
        Who complains of splits that are none of these rows.
    cv : int, None, splitter or iterable of (train, test)
        How all rows would be dealt.
    kept : ndarray of bool
        Which of all rows there still are.
    name : str, default="cv"
        The parameter to complain of.

    Returns
    -------
    int, None, splitter or list of (train, test)
        How the kept rows are dealt.

    Examples
    --------
    >>> import numpy as np
    >>> without_rows("Stack", [([0, 1], [2, 3])], np.array([True, False, True, True]))
    [(array([0]), array([1, 2]))]
    """
    splits = cv.split() if isinstance(cv, PredefinedSplit) else cv
    if hasattr(splits, "split") or isinstance(cv, str | bytes) or not isinstance(splits, Iterable):
        return cv

    place = np.cumsum(kept) - 1

    def renumbered(part: Any) -> IntArray:
        _row_numbers(part, len(kept), owner, name)
        rows = np.asarray(part)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.intp)
        return place[rows[kept[rows]]]

    pairs = _given_splits(owner, splits, name)
    return [(renumbered(train), renumbered(test)) for train, test in pairs]


def check_groups_are_whole(
    owner: str, name: str, splits: Iterable[tuple[Array, Array]], groups: Array | None
) -> None:
    """Raise if a split has rows of a group on both sides."""
    if groups is None:
        return
    for i, (train, test) in enumerate(splits):
        torn = np.intersect1d(groups[train], groups[test])
        if len(torn):
            got = Plain(f"split {i} with {len(torn)} of {len(np.unique(groups))} groups on both")
            must = "keep the rows of a group on one side of every split"
            fix = f"Use {name}=5 or GroupKFold(5), which keep groups whole, or leave groups out."
            raise invalid_parameter(owner, name, must=must, got=got, fix=fix)


def own_splits(
    cv: Any,
    n_rows: int,
    classes: IntArray | None,
    groups: Array | None,
    seed: int,
    repeat: int,
    n_layers: int,
    owner: str,
    partners: Any = "all",
) -> Splits:
    """Return what a number of folds means: shuffled, groups kept whole, no class missing.

    Folds are not stratified: a judged fold would inherit the class shares, and coin flips would
    be told right too often. Only a rare class is spread evenly over the folds.

    Parameters
    ----------
    cv : int or None
        Number of folds; None is 5.
    n_rows : int
        Number of rows.
    classes : ndarray of int or None
        Class of each row; none is to miss from the rows that a model is fitted to.
    groups : ndarray or None
        Group of each row, to be kept in one fold.
    seed, repeat : int
        What the deal is drawn from.
    n_layers : int
        Layers of learners, which need folds of their own.
    owner : str
        Who complains.
    partners : int or "all", default="all"
        With how many others each fold is paired, which decides how many nodes there are.

    Returns
    -------
    list of (train, test)
        The rows of every split.

    Examples
    --------
    >>> len(own_splits(3, 9, None, None, seed=0, repeat=0, n_layers=1, owner="Stack"))
    3
    """
    n_folds = _folds_that_fit(owner, cv, n_rows, classes, groups, n_layers, partners)
    states = np.random.SeedSequence([seed, repeat]).generate_state(MOST_DRAWS).tolist()

    def drawn(kind: Any, state: int) -> Splits:
        return list(kind(n_folds, shuffle=True, random_state=state).split(rows, classes, groups))

    rows, (plain, stratified) = np.zeros(n_rows), _KINDS[groups is not None]
    if classes is None:
        return drawn(plain, states[0])
    if _members(classes, groups).min() >= ENOUGH * n_folds:
        for state in states:
            splits = drawn(plain, state)
            held = [np.bincount(classes[test], minlength=classes.max() + 1) for _, test in splits]
            if np.count_nonzero(held, axis=0).min() >= min(folds_needed(n_layers), n_folds):
                return splits
    with warnings.catch_warnings():
        # Rare classes are said once, by us, when a node lacks one.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return drawn(stratified, states[0])


def folds_needed(n_layers: int) -> int:
    """Return how many folds an honest score needs: it leaves out one a layer, and one to judge."""
    return max(n_layers, 1) + 2


def _members(classes: IntArray, groups: Array | None) -> IntArray:
    """Return in how many rows, or groups, each class is found."""
    if groups is None:
        return np.bincount(classes)
    codes = np.unique(groups, return_inverse=True)[1]
    return np.bincount(np.unique(np.column_stack([codes, classes]), axis=0)[:, 1])


def _folds_that_fit(
    owner: str,
    cv: Any,
    n_rows: int,
    classes: IntArray | None,
    groups: Array | None,
    n_layers: int,
    partners: Any,
) -> int:
    """Lower the number of folds to what rows, groups and rare classes allow, with one warning."""
    n_folds = DEFAULT_FOLDS if cv is None else int(cv)
    if n_folds < 2:
        raise bad_cv(owner, "be at least 2", cv, f"Use {DEFAULT_FOLDS}.")
    _check_node_count(owner, min(n_folds, n_rows), n_layers, partners)
    limits = {"rows": n_rows}
    if groups is not None:
        limits = {"groups": len(np.unique(groups))}
    if classes is not None:
        # A very rare class must not take the honest score away: it may miss from a node.
        rarest = int(np.bincount(classes).min())
        limits["members of the rarest class"] = max(rarest, folds_needed(n_layers))
    what, most = min(limits.items(), key=lambda item: item[1])
    if most < 2:
        must = f"leave at least two {what} to deal"
        raise bad_cv(owner, must, Plain(f"{most}"), "Give more data.")
    if most >= n_folds:
        return n_folds
    warn(
        f"{owner}: cv={n_folds} needs at least {n_folds} {what}; "
        f"using {most} folds. Set cv={most} to silence this.",
        FoldsWarning,
    )
    return most


def _reseeded(owner: str, splitter: Any, state: int, repeat: int) -> Any:
    """Copy a splitter; a free random state is filled, and changed for later repeats."""
    own = copy.deepcopy(splitter)
    shuffles = hasattr(own, "random_state") and getattr(own, "shuffle", True)
    if repeat and not shuffles:
        raise _cannot_repeat(owner, splitter)
    if shuffles and (repeat or own.random_state is None):
        own.random_state = state
    return own


def _cannot_repeat(owner: str, cv: Any) -> Exception:
    must = "be 1 when cv deals the same folds each time"
    fix = "Use cv=5 or a splitter with shuffle=True."
    return invalid_parameter(owner, "n_repeats", must=must, got=cv, fix=fix)


def _refuse_leave_one_out(
    owner: str, splitter: Any, n_rows: int, groups: Array | None, n_layers: int, partners: Any
) -> None:
    """Count the nodes before the splits are made, where the splitter tells their number."""
    try:
        n_folds = splitter.get_n_splits(np.zeros(n_rows), None, groups)
    except (TypeError, ValueError, AttributeError):
        return
    if n_folds is not None:
        forward = "TimeSeries" in type(splitter).__name__
        _check_node_count(owner, n_folds, n_layers, partners, forward)


def _check_node_count(
    owner: str, n_folds: int, n_layers: int, partners: Any, forward: bool = False
) -> None:
    sizes = range(1, 2 if forward else n_layers + 2)
    n_nodes = sum(math.comb(n_folds, size) for size in sizes)
    if isinstance(partners, numbers.Integral) and n_layers == 1 and not forward:
        n_nodes = min(n_nodes, n_folds + n_folds * max(int(partners), 1) // 2)
    if n_nodes > MOST_NODES:
        must = f"need at most {MOST_NODES} nodes, that is fits a learner"
        raise bad_cv(owner, must, Plain(f"{n_folds} folds, which need {n_nodes}"), "Use cv=10.")
