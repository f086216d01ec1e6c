"""What is read from which node: the table of DESIGN as data.

Nothing here fits or predicts. A :class:`Reading` says, for one lattice, on which rows and
through which nodes the stacker is trained, judged and deployed; the rest of the library
only looks things up.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np

from foldwise.arrays import ROW_NUMBER, IntArray
from foldwise.errors import Plain, invalid_parameter
from foldwise.folds.lattice import EVERYTHING, Lattice, Node, bad_cv

FEWEST_NESTED = 5


@dataclass(frozen=True)
class Ref:
    """A node to read from.

    Attributes
    ----------
    node : frozenset of int
        The left-out folds of the model.
    owner : int or None
        The fold whose tuned parameters the model has; None for those chosen over all folds.
        Learners that are not tuned do not look at it.

    Examples
    --------
    >>> Ref(frozenset({0, 1})).node == frozenset({1, 0})
    True
    """

    node: Node
    owner: int | None = None


@dataclass(frozen=True)
class Block:
    """Some rows, and the nodes whose mean prediction is their feature.

    Attributes
    ----------
    rows : ndarray of int
        Row numbers.
    refs : tuple of Ref
        Where the feature comes from.
    fold : int
        The fold the rows belong to.

    Examples
    --------
    >>> import numpy as np
    >>> block = Block(np.array([3, 4]), (Ref(frozenset({0})), Ref(frozenset({1}))))
    >>> len(block.refs)
    2
    """

    rows: IntArray
    refs: tuple[Ref, ...]
    fold: int = 0


@dataclass(frozen=True)
class Judgement:
    """How one fold is judged.

    Attributes
    ----------
    fold : int
        The judged fold.
    train : tuple of Block
        What the stacker is trained on; none of it saw the fold.
    test : Block
        The fold's rows and their hold-out features.
    fresh : tuple of Ref
        How the same stack reads rows that no fold holds.
    pairs : tuple of Ref
        The models without the fold and one more, which show how much a fold of rows is worth;
        empty forward in time, with a single split and where a fold cannot train for another.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> from foldwise.folds import deal, read_lattice
    >>> lattice = deal(KFold(3), 6)
    >>> judged = read_lattice(lattice).judgements[0]
    >>> judged.test.rows.tolist(), [block.rows.tolist() for block in judged.train]
    ([0, 1], [[2, 3], [4, 5]])
    """

    fold: int
    train: tuple[Block, ...]
    test: Block
    fresh: tuple[Ref, ...]
    pairs: tuple[Ref, ...] = ()

    @property
    def by_pairs(self) -> tuple[Block, ...]:
        """The fold's rows by each of the smaller models alone."""
        return tuple(Block(self.test.rows, (ref,), self.fold) for ref in self.pairs)


@dataclass(frozen=True)
class Reading:
    """All that stacking reads from a lattice.

    Attributes
    ----------
    judgements : tuple of Judgement
        One a judged fold; empty when there can be no honest score.
    final : tuple of Block
        What the deployed stacker is trained on.
    deployed : tuple of Ref
        How new rows are read.
    unjudged : tuple of int
        Folds that cannot be judged.
    trainable : tuple of ndarray of int
        For each fold, the rows that a stacker tested on it may be trained on.
    in_order : bool
        Whether choices must be made forward in time.
    predict_with, hold_out : str
        The modes after "auto" is resolved.
    hold_out_given : bool
        Whether hold_out was not "auto".
    partners : int or None
        With how many others each fold is paired to be judged; None for all of them.
    nested : tuple of tuple of Judgement
        For each judged fold, how each other one is judged without it; empty unless asked for.
    """

    judgements: tuple[Judgement, ...]
    final: tuple[Block, ...]
    deployed: tuple[Ref, ...]
    unjudged: tuple[int, ...] = ()
    trainable: tuple[IntArray, ...] = ()
    in_order: bool = False
    predict_with: str = "folds"
    hold_out: str = "node"
    hold_out_given: bool = False
    partners: int | None = None
    nested: tuple[tuple[Judgement, ...], ...] = ()

    @property
    def kept(self) -> frozenset[Node]:
        """Nodes whose models are needed after the fit."""
        refs = [*self.deployed, *(ref for j in self.judgements for ref in j.fresh)]
        return frozenset(ref.node for ref in refs)

    def reads(self, nodes: Iterable[Node]) -> bool:
        """Tell whether any of the nodes is read."""
        refs = [*self.deployed, *(ref for block in self.blocks for ref in block.refs)]
        return bool({ref.node for ref in refs} & set(nodes))

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Every block that is read, judged rows by their fresh nodes included."""
        judged = [
            block
            for j in self.judgements
            for block in (*j.train, j.test, Block(j.test.rows, j.fresh), *j.by_pairs)
        ]
        nested = [block for each in self.nested for j in each for block in (*j.train, j.test)]
        return (*judged, *nested, *self.final)


def read_lattice(
    lattice: Lattice,
    *,
    predict_with: str = "auto",
    hold_out: str = "auto",
    n_layers: int = 1,
    inner: Lattice | None = None,
    nested: bool = False,
    partners: Any = "all",
    owner: str = "read_lattice",
) -> Reading:
    """Say what is read from which node.

    Parameters
    ----------
    lattice : Lattice
        The deal.
    predict_with : {"auto", "folds", "refit", "pairs"}
        How new rows are predicted; "auto" is "refit" forward in time, else "folds".
    hold_out : {"auto", "node", "mean"}
        How a judged fold is predicted; "auto" repeats what is deployed.
    n_layers : int, default=1
        Layers of learners below the stacker.
    inner : Lattice or None
        For a single split: the deal of its test rows (numbered from 0).
    nested : bool, default=False
        Whether every fold is judged without each other one too, for the standard error.
    partners : int or "all"
        With how many of its neighbours in a ring each fold is paired to be judged, an even number.
    owner : str
        Who complains.

    Returns
    -------
    Reading
        The plan.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> lattice = Lattice.from_splits(KFold(3).split(range(6)), 6)
    >>> reading = read_lattice(lattice)
    >>> [sorted(ref.node) for ref in reading.judgements[0].test.refs]
    [[0, 1], [0, 2]]
    >>> [sorted(ref.node) for ref in reading.deployed]
    [[0], [1], [2]]
    """
    given = hold_out != "auto"
    some = _checked_partners(lattice, partners, predict_with, n_layers, nested, owner)
    if nested:
        _check_nested(lattice, n_layers, owner)
    predict_with, hold_out = _resolve(lattice, predict_with, hold_out, owner)
    if lattice.kind == "single":
        return _read_single(lattice, inner, predict_with, n_layers, owner)
    if lattice.kind == "forward":
        return _read_forward(lattice, predict_with, n_layers, owner)
    reading = _read_partition(lattice, predict_with, hold_out, n_layers, some, owner)
    if nested:
        folds = range(lattice.n_folds)
        each = [[_judgement(lattice, j, reading, {i}) for j in folds if j != i] for i in folds]
        reading = replace(reading, nested=tuple(map(tuple, each)))
    return replace(reading, hold_out_given=given)


def _check_nested(lattice: Lattice, n_layers: int, owner: str) -> None:
    enough = lattice.n_folds >= FEWEST_NESTED and _leave_rows(lattice, 3)
    if lattice.kind == "partition" and n_layers == 1 and enough:
        return
    got = {"forward": "folds forward in time", "single": "a single split"}.get(lattice.kind)
    got = got or (f"{n_layers} layers" if n_layers > 1 else f"{lattice.n_folds} folds")
    raise invalid_parameter(
        owner,
        "score_se",
        must=f"be 'learners' unless cv deals {FEWEST_NESTED} folds or more, in no order, for one "
        "layer",
        got=Plain(f"'nested' with {got}"),
        fix="Use 'learners'.",
    )


def _checked_partners(
    lattice: Lattice, partners: Any, predict_with: str, n_layers: int, nested: bool, owner: str
) -> int | None:
    """Return with how many others a fold is paired, None for all of them."""
    if isinstance(partners, str) and partners == "all":
        return None
    whole = isinstance(partners, Integral) and not isinstance(partners, bool)
    if not whole or partners < 2 or partners % 2:
        must = "be 'all' or an even number, at least 2"
        raise invalid_parameter(owner, "partners", must=must, got=partners, fix="Use 2.")
    wrong = {
        "a single split": lattice.kind == "single",
        "folds forward in time": lattice.kind == "forward",
        "several layers": n_layers > 1,
        "predict_with='pairs'": predict_with == "pairs",
        "score_se='nested'": nested,
    }
    for got, is_so in wrong.items():
        if is_so:
            must = "be 'all' unless one layer is judged on folds in no order"
            told = Plain(f"{partners} with {got}")
            raise invalid_parameter(owner, "partners", must=must, got=told, fix="Use 'all'.")
    return None if partners >= lattice.n_folds - 1 else int(partners)


def partners_of(fold: int, n_folds: int, partners: int | None) -> list[int]:
    """Return the folds that a fold is paired with: all others, or its neighbours in a ring.

    Folds that follow each other may hold rows that do, which are alike or kept apart by a gap. A
    stacker of such rows would know what the judged ones are like, or have none. So those lie next
    to each other in the ring that are dealt farthest from each other.

    Parameters
    ----------
    fold : int
        The fold.
    n_folds : int
        How many there are.
    partners : int or None
        How many of them, half on each side; None for all.

    Returns
    -------
    list of int
        The others, in order.

    Examples
    --------
    >>> partners_of(0, 7, None), partners_of(0, 7, 2), partners_of(0, 7, 4)
    ([1, 2, 3, 4, 5, 6], [3, 4], [2, 3, 4, 5])
    """
    if partners is None:
        return [other for other in range(n_folds) if other != fold]
    most = (n_folds - 1) // 2
    steps = range(most - partners // 2 + 1, most + 1)
    return sorted((fold + sign * step) % n_folds for step in steps for sign in (1, -1))


def _resolve(lattice: Lattice, predict_with: str, hold_out: str, owner: str) -> tuple[str, str]:
    if predict_with == "auto":
        predict_with = "refit" if lattice.kind == "forward" else "folds"
    if predict_with == "pairs" and lattice.kind != "partition":
        must = "not be 'pairs' forward in time or with a single split, which have no pairs"
        fix = "Use 'refit' or 'folds'."
        raise invalid_parameter(owner, "predict_with", must=must, got=predict_with, fix=fix)
    if hold_out == "mean" and lattice.kind != "partition":
        must = "be 'node' forward in time or with a single split"
        raise invalid_parameter(owner, "hold_out", must=must, got=hold_out, fix="Use 'auto'.")
    if hold_out == "auto":
        deployed_as_mean = lattice.kind == "partition" and predict_with != "refit"
        hold_out = "mean" if deployed_as_mean else "node"
    return predict_with, hold_out


def _read_partition(
    lattice: Lattice,
    predict_with: str,
    hold_out: str,
    n_layers: int,
    partners: int | None,
    owner: str,
) -> Reading:
    folds = range(lattice.n_folds)
    fewest = n_layers + (2 if predict_with == "pairs" else 1)
    if lattice.n_folds < fewest or not _leave_rows(lattice, fewest - 1):
        raise _too_few_folds(lattice.n_folds, fewest, n_layers, predict_with, owner)
    one = lattice.canonical
    modes = Reading((), (), (), predict_with=predict_with, hold_out=hold_out, partners=partners)
    judgements, unjudged = _judged_folds(lattice, modes, n_layers)
    if predict_with == "pairs":
        # Each row once, as judged: stackers that count or split rows would overfit copies of it.
        own = [tuple(Ref(one(frozenset({i, j})), i) for i in folds if i != j) for j in folds]
        final = tuple(Block(lattice.tests[j], own[j], j) for j in folds)
        deployed = tuple(ref for refs in own for ref in refs)
    else:
        singles = tuple(Ref(one(frozenset({j})), j) for j in folds)
        final = tuple(Block(lattice.tests[j], (singles[j],), j) for j in folds)
        deployed = (Ref(EVERYTHING),) if predict_with == "refit" else singles
    return replace(
        modes,
        judgements=judgements,
        final=final,
        deployed=deployed,
        unjudged=unjudged,
        trainable=lattice.trains,
    )


def _judged_folds(
    lattice: Lattice, modes: Reading, n_layers: int
) -> tuple[tuple[Judgement, ...], tuple[int, ...]]:
    """Return how folds are judged, and those for which no other may train a stacker."""
    if not _leave_rows(lattice, n_layers + 1, modes.partners):
        return (), ()
    each = [_judgement(lattice, i, modes) for i in range(lattice.n_folds)]
    unjudged = tuple(j.fold for j in each if not j.train)
    if unjudged:
        # A learning curve is read from all folds or from none.
        each = [replace(j, pairs=()) for j in each if j.train]
    return tuple(each), unjudged


def _judgement(
    lattice: Lattice, i: int, modes: Reading, away: Iterable[int] = EVERYTHING
) -> Judgement:
    """Return how fold i is judged, over the lattice or what is left of it without some folds."""
    without = frozenset({i, *away})
    seen = lattice.rows(without)
    others = [j for j in partners_of(i, lattice.n_folds, modes.partners) if j not in without]
    inside = [rows_inside(lattice.tests[j], seen) for j in others]
    refs = [Ref(lattice.canonical(without | {j}), i) for j in others]
    train = tuple(
        Block(rows, (ref,), j)
        for j, ref, rows in zip(others, refs, inside, strict=True)
        if len(rows)
    )
    alone, mean = (Ref(lattice.canonical(without), i),), tuple(refs)
    rows = rows_inside(lattice.tests[i], lattice.rows(frozenset(away)))
    test = Block(rows, mean if modes.hold_out == "mean" else alone, i)
    fresh = mean if modes.predict_with == "pairs" else alone
    return Judgement(i, train, test, fresh, mean if len(train) == len(others) else ())


def _leave_rows(lattice: Lattice, size: int, partners: int | None = None) -> bool:
    """Tell whether every node of that many folds, or every pair of partners, leaves rows."""
    n_folds = lattice.n_folds
    sets: Iterable[tuple[int, ...]] = itertools.combinations(range(n_folds), size)
    if partners is not None:
        sets = ((i, j) for i in range(n_folds) for j in partners_of(i, n_folds, partners))
    return n_folds > size and all(len(lattice.rows(frozenset(folds))) for folds in sets)


def first_folds(lattice: Lattice, n_layers: int) -> list[int]:
    """Return the first fold each layer predicts: forward in time, upper layers start later.

    Parameters
    ----------
    lattice : Lattice
        The deal.
    n_layers : int
        Layers of learners below the stacker.

    Returns
    -------
    list of int
        One a layer; the number of folds where there is none to predict.

    Examples
    --------
    >>> from sklearn.model_selection import TimeSeriesSplit
    >>> from foldwise.folds import deal
    >>> lattice = deal(TimeSeriesSplit(3), 8)
    >>> first_folds(lattice, 2)
    [0, 1]
    """
    firsts = [0]
    for _ in range(n_layers - 1):
        before = firsts[-1]
        start = before if lattice.kind != "forward" else _first_after(lattice, before)
        firsts.append(start)
    return firsts


def _first_after(lattice: Lattice, before: int) -> int:
    for i in range(before + 1, lattice.n_folds):
        if any(len(rows_before(lattice.tests[j], lattice.trains[i])) for j in range(before, i)):
            return i
    return lattice.n_folds


def _read_forward(lattice: Lattice, predict_with: str, n_layers: int, owner: str) -> Reading:
    first = first_folds(lattice, n_layers)[-1]
    if first == lattice.n_folds:
        raise _too_few_folds(lattice.n_folds, lattice.n_folds + 1, n_layers, predict_with, owner)
    refs = [Ref(lattice.canonical(frozenset({i})), i) for i in range(lattice.n_folds)]
    blocks = [Block(lattice.tests[j], (refs[j],), j) for j in range(lattice.n_folds)]
    judgements, unjudged = _judged_by_own(blocks, blocks[first:], lattice.trains, rows_before)
    return Reading(
        judgements,
        tuple(blocks[first:]),
        (Ref(EVERYTHING),) if predict_with == "refit" else tuple(refs[first:]),
        unjudged,
        tuple(np.arange(train[-1] + 1) for train in lattice.trains),
        in_order=True,
        predict_with=predict_with,
    )


def _read_single(
    lattice: Lattice, inner: Lattice | None, predict_with: str, n_layers: int, owner: str
) -> Reading:
    if n_layers > 1:
        raise _too_few_folds(1, n_layers + 1, n_layers, predict_with, owner)
    ref = Ref(lattice.canonical(frozenset({0})), 0)
    test = lattice.tests[0]
    deployed = (Ref(EVERYTHING),) if predict_with == "refit" else (ref,)
    if inner is None:
        return Reading((), (Block(test, (ref,)),), deployed, predict_with=predict_with)
    blocks = [Block(test[rows], (ref,), i) for i, rows in enumerate(inner.tests)]
    untested = Block(test[inner.fold_of < 0], (ref,), -1)
    trains = tuple(test[train] for train in inner.trains)
    judgements, unjudged = _judged_by_own(blocks, [untested, *blocks], trains, rows_inside)
    return Reading(
        judgements,
        (Block(test, (ref,)),),
        deployed,
        unjudged,
        trains,
        in_order=inner.kind == "forward",
        predict_with=predict_with,
    )


def _judged_by_own(
    blocks: Sequence[Block],
    others: Sequence[Block],
    trains: Sequence[IntArray],
    inside: Callable[[IntArray, IntArray], IntArray],
) -> tuple[tuple[Judgement, ...], tuple[int, ...]]:
    """Return how folds are judged by their own node, and those for which no other may train."""
    judgements, unjudged = [], []
    for block, train in zip(blocks, trains, strict=True):
        # No row of a fold, and none after it, lies in its own training part.
        parts = [replace(other, rows=inside(other.rows, train)) for other in others]
        usable = tuple(part for part in parts if len(part.rows))
        if usable:
            judgements.append(Judgement(block.fold, usable, block, block.refs))
        else:
            unjudged.append(block.fold)
    return tuple(judgements), tuple(unjudged)


def rows_inside(rows: IntArray, train: IntArray) -> IntArray:
    """Return the rows that lie in the training part.

    Parameters
    ----------
    rows, train : ndarray of int
        Sorted row numbers.

    Returns
    -------
    ndarray of int
        Sorted row numbers.

    Examples
    --------
    >>> import numpy as np
    >>> rows_inside(np.array([1, 2, 3]), np.array([0, 2, 3]))
    array([2, 3])
    """
    place = np.minimum(np.searchsorted(train, rows), len(train) - 1)
    inside = train[place] == rows
    return rows if inside.all() else rows[inside]


def rows_before(rows: IntArray, train: IntArray) -> IntArray:
    """Return the rows no later than the training part, so that a gap stays a gap."""
    return rows[rows <= train[-1]]


def _too_few_folds(
    n_folds: int, fewest: int, n_layers: int, predict_with: str, owner: str
) -> Exception:
    must = (
        f"give at least {fewest} folds for {n_layers} layer(s) with predict_with={predict_with!r}"
    )
    return bad_cv(owner, must, Plain(f"{n_folds}"), f"Use cv={max(fewest + 1, 5)}.")


@dataclass
class Needs:
    """What a layer of learners must be fitted at, and which rows each node predicts.

    Attributes
    ----------
    rows : dict from Node to list of ndarray of int
        The rows asked of each node, as they were asked for.
    """

    rows: dict[Node, list[IntArray]] = field(default_factory=dict)

    def add(self, node: Node, rows: IntArray) -> None:
        """Ask a node for some rows."""
        self.rows.setdefault(node, []).append(rows)

    def of(self, node: Node) -> IntArray:
        """Return all rows asked of a node, sorted."""
        asked = [rows for rows in self.rows[node] if len(rows)]
        if len(asked) == 1 and (asked[0][1:] > asked[0][:-1]).all():
            return asked[0]
        held = np.zeros(max((rows.max() + 1 for rows in asked), default=0), dtype=bool)
        for rows in asked:
            held[rows] = True
        return np.flatnonzero(held).astype(ROW_NUMBER)


def upper_blocks(lattice: Lattice, node: Node, first: int = 0) -> tuple[Block, ...]:
    """Return what an upper learner is trained on at a node: rows, and the lower nodes to read.

    For each fold outside the node its rows inside the node's training rows, read from the lower
    learners that saw neither the node's folds nor this one.

    Parameters
    ----------
    lattice : Lattice
        The deal.
    node : frozenset of int
        The left-out folds.
    first : int, default=0
        Forward in time: the first fold the layer below predicts.

    Returns
    -------
    tuple of Block
        One for each fold that has such rows.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> from foldwise.folds import deal
    >>> lattice = deal(KFold(3), 6)
    >>> [(block.fold, block.rows.tolist()) for block in upper_blocks(lattice, frozenset({0}))]
    [(0, [2, 3]), (0, [4, 5])]
    """
    train = lattice.rows(node)
    if lattice.kind == "forward":
        last = min(node) if node else lattice.n_folds
        pairs = [(rows_before(lattice.tests[j], train), frozenset({j})) for j in range(first, last)]
    else:
        pairs = [
            (rows_inside(lattice.tests[j], train), node | {j})
            for j in range(lattice.n_folds)
            if j not in node
        ]
    return tuple(
        Block(rows, (Ref(lattice.canonical(lower)),)) for rows, lower in pairs if len(rows)
    )


def needs_of(reading: Reading, lattice: Lattice, n_layers: int = 1) -> list[Needs]:
    """Return, layer by layer from the lowest, the nodes to fit and the rows each predicts.

    Parameters
    ----------
    reading : Reading
        What is read from which node.
    lattice : Lattice
        The deal.
    n_layers : int, default=1
        Layers of learners below the stacker.

    Returns
    -------
    list of Needs
        One a layer.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> from foldwise.folds.reading import read_lattice
    >>> lattice = Lattice.from_splits(KFold(5).split(range(10)), 10)
    >>> (needs,) = needs_of(read_lattice(lattice), lattice)
    >>> len(needs.rows)
    15
    """
    top = Needs()
    for block in reading.blocks:
        for ref in block.refs:
            top.add(ref.node, block.rows)
    for node in sorted(reading.kept, key=lambda node: (len(node), sorted(node))):
        top.add(node, np.empty(0, dtype=np.intp))
    layers = [top]
    for first in first_folds(lattice, n_layers)[-2::-1]:
        upper, lower = layers[0], Needs()
        for node in list(upper.rows):
            lower.add(node, upper.of(node))
            for block in upper_blocks(lattice, node, first):
                lower.add(block.refs[0].node, block.rows)
        layers.insert(0, lower)
    return layers
