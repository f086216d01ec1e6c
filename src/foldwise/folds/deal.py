"""From the `cv` argument to a lattice."""

import copy
import math
import numbers
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from foldwise.arrays import Array, IntArray
from foldwise.errors import FoldsWarning, Plain, invalid_parameter, warn
from foldwise.folds.lattice import Lattice, bad_cv

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
    state = int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])
    if cv is None or isinstance(cv, numbers.Integral):
        splitter = own_splitter(cv, n_rows, classes, groups, seed, repeat, n_layers, owner)
        with warnings.catch_warnings():
            # Rare classes are said once, by us, when a node lacks one.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            splits = list(splitter.split(np.zeros(n_rows), classes, groups))
    elif hasattr(cv, "split") and not isinstance(cv, str):
        splitter = _reseeded(owner, cv, state, repeat)
        _refuse_leave_one_out(owner, splitter, n_rows, groups, n_layers)
        splits = splitter.split(*(given or (np.zeros(n_rows), classes, groups)))
    elif isinstance(cv, Iterable) and not isinstance(cv, str):
        splits = list(cv)
        if repeat:
            raise _cannot_repeat(owner, cv)
    else:
        must = "be an int, a splitter, an iterable of (train, test) or 'prefit'"
        raise bad_cv(owner, must, cv, "Use cv=5.")
    lattice = Lattice.from_splits(splits, n_rows, owner)
    _check_node_count(owner, lattice.n_folds, n_layers, lattice.kind == "forward")
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
    n_folds = _folds_that_fit(owner, cv, n_rows, classes, groups, n_layers)
    state = int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])
    return _own_kind(classes, groups)(n_folds, shuffle=True, random_state=state)


def _own_kind(classes: IntArray | None, groups: Array | None) -> Any:
    if groups is not None:
        return GroupKFold if classes is None else StratifiedGroupKFold
    return KFold if classes is None else StratifiedKFold


def _folds_that_fit(
    owner: str, cv: Any, n_rows: int, classes: IntArray | None, groups: Array | None, n_layers: int
) -> int:
    """Lower the number of folds to what rows, groups and rare classes allow, with one warning."""
    n_folds = DEFAULT_FOLDS if cv is None else int(cv)
    if n_folds < 2:
        raise bad_cv(owner, "be at least 2", cv, f"Use {DEFAULT_FOLDS}, the default.")
    _check_node_count(owner, min(n_folds, n_rows), n_layers)
    limits = {"rows": n_rows}
    if groups is not None:
        limits = {"groups": len(np.unique(groups))}
    if classes is not None:
        # A very rare class must not take the honest score away: it may miss from a node.
        rarest = int(np.bincount(classes).min())
        limits["members of the rarest class"] = max(rarest, n_layers + 2)
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
    return invalid_parameter(
        owner,
        "n_repeats",
        must="be 1 when cv deals the same folds each time",
        got=cv,
        fix="Use cv=5 or a splitter with shuffle=True.",
    )


def _refuse_leave_one_out(
    owner: str, splitter: Any, n_rows: int, groups: Array | None, n_layers: int
) -> None:
    """Count the nodes before the splits are made, where the splitter tells their number."""
    try:
        n_folds = splitter.get_n_splits(np.zeros(n_rows), None, groups)
    except (TypeError, ValueError, AttributeError):
        return
    if n_folds is not None:
        _check_node_count(owner, n_folds, n_layers, "TimeSeries" in type(splitter).__name__)


def _check_node_count(owner: str, n_folds: int, n_layers: int, forward: bool = False) -> None:
    sizes = range(1, 2 if forward else n_layers + 2)
    n_nodes = sum(math.comb(n_folds, size) for size in sizes)
    if n_nodes > MOST_NODES:
        must = f"need at most {MOST_NODES} nodes, that is fits a learner"
        raise bad_cv(owner, must, Plain(f"{n_folds} folds, which need {n_nodes}"), "Use cv=10.")
