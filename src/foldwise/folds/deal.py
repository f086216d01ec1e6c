"""From the `cv` argument to a lattice."""

import copy
import numbers
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
)

from foldwise.arrays import Array, IntArray
from foldwise.errors import FoldsWarning, Plain, invalid_parameter, warn
from foldwise.folds.lattice import Lattice

DEFAULT_FOLDS = 5
MOST_NODES = 500


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
    owner: str = "deal",
) -> Lattice:
    """Return the lattice that `cv` describes.

    Parameters
    ----------
    cv : int, None, splitter or iterable of (train, test)
        None is 5. An int deals shuffled folds: stratified for classes, whole groups
        together when groups are given.
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
    if cv is None or isinstance(cv, numbers.Integral):
        splitter = own_splitter(cv, n_rows, classes, groups, seed, repeat, n_layers, owner)
        with warnings.catch_warnings():
            # Rare classes are said once, by us, when a node lacks one.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            splits = list(splitter.split(np.zeros(n_rows), classes, groups))
    elif hasattr(cv, "split") and not isinstance(cv, str):
        splitter = _reseeded(cv, seed, repeat, owner)
        _check_number_of_nodes(splitter, n_rows, groups, n_layers, owner)
        splits = splitter.split(*(given or (np.zeros(n_rows), classes, groups)))
    elif isinstance(cv, Iterable) and not isinstance(cv, str):
        splits = list(cv)
        if repeat:
            raise _cannot_repeat(cv, owner)
    else:
        raise invalid_parameter(
            owner,
            "cv",
            must="be an int, a splitter, an iterable of (train, test) or 'prefit'",
            got=cv,
            fix="Use cv=5.",
        )
    lattice = Lattice.from_splits(splits, n_rows, owner)
    _check_node_count(lattice.n_folds, lattice.kind == "forward", n_layers, owner)
    return lattice


def own_splitter(
    cv: Any,
    n_rows: int,
    classes: IntArray | None,
    groups: Array | None,
    seed: int,
    repeat: int,
    n_layers: int,
    owner: str,
) -> Any:
    """Return what a number of folds means: shuffled, stratified for classes, groups kept whole."""
    n_folds = DEFAULT_FOLDS if cv is None else int(cv)
    if n_folds < 2:
        raise invalid_parameter(
            owner, "cv", must="be at least 2", got=cv, fix=f"Use {DEFAULT_FOLDS}, the default."
        )
    _check_node_count(min(n_folds, n_rows), False, n_layers, owner)
    n_folds = _folds_that_fit(n_folds, n_rows, classes, groups, n_layers, owner)
    state = int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])
    if groups is not None:
        kind = GroupKFold if classes is None else StratifiedGroupKFold
    else:
        kind = KFold if classes is None else StratifiedKFold
    return kind(n_folds, shuffle=True, random_state=state)


def _folds_that_fit(
    n_folds: int,
    n_rows: int,
    classes: IntArray | None,
    groups: Array | None,
    n_layers: int,
    owner: str,
) -> int:
    """Lower the number of folds to what rows, groups and rare classes allow, with one warning."""
    limits = {"rows": n_rows}
    if groups is not None:
        limits = {"groups": len(np.unique(groups))}
    if classes is not None:
        # A very rare class must not take the honest score away: it may miss from a node.
        rarest = int(np.bincount(classes).min())
        limits["members of the rarest class"] = max(rarest, n_layers + 2)
    what, most = min(limits.items(), key=lambda item: item[1])
    if most < 2:
        raise invalid_parameter(
            owner,
            "cv",
            must=f"leave at least two {what} to deal",
            got=Plain(f"{most}"),
            fix="Give more data.",
        )
    if most >= n_folds:
        return n_folds
    warn(
        f"{owner}: cv={n_folds} needs at least {n_folds} {what}; "
        f"using {most} folds. Set cv={most} to silence this.",
        FoldsWarning,
    )
    return most


def _reseeded(splitter: Any, seed: int, repeat: int, owner: str) -> Any:
    """Copy a splitter; a free random state is filled, and changed for later repeats."""
    own = copy.deepcopy(splitter)
    shuffles = hasattr(own, "random_state") and getattr(own, "shuffle", True)
    if repeat and not shuffles:
        raise _cannot_repeat(splitter, owner)
    if shuffles and (repeat or own.random_state is None):
        own.random_state = int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])
    return own


def _cannot_repeat(cv: Any, owner: str) -> Exception:
    return invalid_parameter(
        owner,
        "n_repeats",
        must="be 1 when cv deals the same folds each time",
        got=cv,
        fix="Use cv=5 or a splitter with shuffle=True.",
    )


def _check_number_of_nodes(
    splitter: Any, n_rows: int, groups: Array | None, n_layers: int, owner: str
) -> None:
    """Refuse leave-one-out before its splits are made."""
    try:
        n_folds = splitter.get_n_splits(np.zeros(n_rows), None, groups)
    except (TypeError, ValueError, AttributeError):
        return
    if n_folds is not None:
        forward = "TimeSeries" in type(splitter).__name__
        _check_node_count(n_folds, forward, n_layers, owner)


def _check_node_count(n_folds: int, forward: bool, n_layers: int, owner: str) -> None:
    n_nodes, term = n_folds, n_folds
    if not forward:
        for size in range(2, n_layers + 2):
            term = term * (n_folds - size + 1) // size
            n_nodes += max(term, 0)
    if n_nodes > MOST_NODES:
        raise invalid_parameter(
            owner,
            "cv",
            must=f"need at most {MOST_NODES} nodes, that is fits a learner",
            got=Plain(f"{n_folds} folds, which need {n_nodes}"),
            fix="Use cv=10.",
        )
