"""Exact search for subsets with small residual sums of squares, most of them never looked at.

A node is a set of columns of which some are kept for good; its descendants drop more of the
others. Dropping columns never lowers the residual sum of squares, so a node whose own is above
the limits of all sizes it can still reach is cut, with everything below it.
"""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.subset.criteria import Score, largest_rss
from foldwise.subset.moments import PERFECT
from foldwise.subset.sinks import TIE

# Numbers in the inverses of the nodes that are expanded together.
BATCH = 400_000
# Numbers in all waiting nodes, beyond which the search goes deep before it goes wide.
CROWDED = 50_000_000


class Goal(Protocol):
    """A subset of size s is wanted when its residual sum of squares is below ``limits[s]``."""

    limits: FloatArray

    def offer(self, rss: FloatArray, kept: BoolArray) -> None:
        """Look at subsets (n_subsets, n_columns) and their residual sums of squares."""


class Nodes(NamedTuple):
    """Nodes with equally many undecided columns."""

    # (n_nodes, r, r): inverse of the products of the node's columns, at the undecided ones
    inverse: FloatArray
    beta: FloatArray  # (n_nodes, r): their coefficients in the node's model
    columns: IntArray  # (n_nodes, r): which columns they are
    rss: FloatArray  # residual sum of squares of the node's model
    kept: BoolArray  # (n_nodes, n_columns): the node's columns, decided or not

    def part(self, rows: slice) -> "Nodes":
        """Return some of the nodes."""
        return Nodes._make(field[rows] for field in self)


class LeastSquares(NamedTuple):
    """A least-squares problem in products; forced columns are already regressed out."""

    gram: FloatArray  # (p, p): products of the columns, positive definite
    cross: FloatArray  # products with the target
    total: float  # sum of squares of the target

    def root(self) -> Nodes:
        """Return the node with all columns, none of them decided."""
        p = len(self.cross)
        inverse = np.asarray(np.linalg.inv(self.gram), dtype=np.float64)
        beta = inverse @ self.cross
        rss = max(self.total - float(self.cross @ beta), 0.0)
        kept = np.ones((1, p), dtype=bool)
        return Nodes(inverse[None], beta[None], np.arange(p)[None], np.array([rss]), kept)

    def additive_weights(self) -> FloatArray:
        """Return w with: dropping a set D raises the residual sum by at least Σ_D w_j β_j².

        The rise is β_D' (inverse_DD)⁻¹ β_D. The largest eigenvalue of the scaled inverse bounds
        those of all its parts and of all inverses further down, by interlacing.
        """
        inverse = np.linalg.inv(self.gram)
        scale = 1 / np.sqrt(np.diagonal(inverse))
        largest = np.linalg.eigvalsh(inverse * np.outer(scale, scale))[-1]
        return scale**2 / largest


def search(problem: LeastSquares, goal: Goal) -> Iterator[float]:
    """Show ``goal`` every subset that may lie within its limits.

    Nodes of equal size are expanded together, so that NumPy works on long arrays. Within a node
    the columns are sorted, dearest first: the child that drops the dearest has the most
    descendants, and is cut first.

    References
    ----------
    .. [1] Furnival and Wilson (1974). Regressions by leaps and bounds.
    .. [2] Gatu and Kontoghiorghes (2006). Branch-and-bound algorithms for computing the
       best-subset regression models.
    """
    p = len(problem.cross)
    root = problem.root()
    goal.offer(np.array([problem.total]), np.zeros((1, p), dtype=bool))
    goal.offer(root.rss, root.kept)
    for path in (backward(root), forward(problem)):
        goal.offer(*path)
    weights = problem.additive_weights()
    waiting: dict[int, list[Nodes]] = {p: [root]} if p else {}
    while waiting:
        stored = sum(nodes.inverse.size for pool in waiting.values() for nodes in pool)
        r = min(waiting) if stored > CROWDED else max(waiting)
        nodes = _first(waiting[r], max(1, BATCH // (r * r)))
        if not waiting[r]:
            del waiting[r]
        for children in expand(nodes, weights, goal):
            waiting.setdefault(children.beta.shape[1], []).append(children)
        open_subsets = sum(2.0 ** (k - p) * len(n.rss) for k, ns in waiting.items() for n in ns)
        yield 1 - open_subsets


def _first(pool: list[Nodes], at_most: int) -> Nodes:
    """Take the first nodes out of a pool; those that stay are not copied."""
    taken: list[Nodes] = []
    while pool and at_most > 0:
        nodes = pool.pop(0)
        taken.append(nodes.part(slice(at_most)))
        if len(nodes.rss) > at_most:
            pool.insert(0, nodes.part(slice(at_most, None)))
        at_most -= len(taken[-1].rss)
    return Nodes._make(map(np.concatenate, zip(*taken, strict=True)))


def expand(nodes: Nodes, weights: FloatArray, goal: Goal) -> Iterator[Nodes]:
    """Offer the children of some nodes, and return those whose descendants may be wanted.

    Child j drops the j-th dearest undecided column, keeps the dearer ones for good and leaves
    the cheaper ones undecided.
    """
    r = nodes.beta.shape[1]
    diagonal = np.einsum("bii->bi", nodes.inverse)
    order = np.argsort(-(nodes.beta**2) / diagonal, axis=1, kind="stable")
    rises = np.take_along_axis(nodes.beta**2 / diagonal, order, axis=1)
    rss = nodes.rss[:, None] + rises
    _offer_children(nodes, order, rss, goal)
    k, j = _worth_it(nodes, order, rss, weights, goal)
    for place in range(r - 1):
        chosen = k[j == place]
        if len(chosen):
            yield _drop(nodes, chosen, order[chosen], place, rss[chosen, place])


def _offer_children(nodes: Nodes, order: IntArray, rss: FloatArray, goal: Goal) -> None:
    size = nodes.kept.sum(axis=1) - 1
    k, j = np.nonzero(rss < goal.limits[size][:, None])
    if not len(k):
        return
    kept = nodes.kept[k]
    kept[np.arange(len(k)), nodes.columns[k, order[k, j]]] = False
    goal.offer(rss[k, j], kept)


def _worth_it(
    nodes: Nodes, order: IntArray, rss: FloatArray, weights: FloatArray, goal: Goal
) -> tuple[IntArray, IntArray]:
    """Return the nodes and places of the children that may have wanted descendants."""
    r = order.shape[1]
    size = nodes.kept.sum(axis=1)
    # The loosest limit of a size or any larger one: children reach all sizes in a range.
    limits = np.maximum.accumulate(goal.limits[::-1])[::-1]
    smallest = size[:, None] - r + np.arange(r - 1)
    k, j = np.nonzero(rss[:, :-1] < limits[smallest])
    if not len(k):
        return k, j
    shares = nodes.beta**2 * weights[nodes.columns]
    cheapest = np.cumsum(np.sort(shares, axis=1), axis=1)[:, : r - 1]
    more = np.arange(1, r)
    additive = nodes.rss[k, None] + shares[k, order[k, j]][:, None] + cheapest[k]
    bound = np.maximum(additive, rss[k, j][:, None])
    reached = size[k, None] - 1 - more
    hopeful = (bound < goal.limits[np.maximum(reached, 0)]) & (more < (r - j)[:, None])
    keep = hopeful.any(axis=1)
    return k[keep], j[keep]


def _drop(nodes: Nodes, chosen: IntArray, order: IntArray, place: int, rss: FloatArray) -> Nodes:
    rows, out, rest = chosen[:, None], order[:, place], order[:, place + 1 :]
    across = nodes.inverse[rows, out[:, None], rest]
    slope = across / nodes.inverse[chosen, out, out][:, None]
    inverse = nodes.inverse[rows[:, :, None], rest[:, :, None], rest[:, None, :]]
    inverse -= slope[:, :, None] * across[:, None, :]
    beta = nodes.beta[rows, rest] - slope * nodes.beta[chosen, out][:, None]
    kept = nodes.kept[chosen]
    kept[np.arange(len(chosen)), nodes.columns[chosen, out]] = False
    return Nodes(inverse, beta, nodes.columns[rows, rest], rss, kept)


def backward(root: Nodes) -> tuple[FloatArray, BoolArray]:
    """Return the subsets of backward elimination, one of each size, to start with good limits."""
    nodes, rss, kept = root, [], []
    while nodes.beta.shape[1] > 1:
        diagonal = np.einsum("bii->bi", nodes.inverse)
        order = np.argsort(nodes.beta**2 / diagonal, axis=1)
        least = nodes.rss + nodes.beta[:, order[0, 0]] ** 2 / diagonal[:, order[0, 0]]
        nodes = _drop(nodes, np.zeros(1, dtype=np.intp), order, 0, least)
        rss.append(nodes.rss[0])
        kept.append(nodes.kept[0])
    return np.array(rss), np.array(kept, dtype=bool).reshape(len(rss), root.kept.shape[1])


def forward(problem: LeastSquares) -> tuple[FloatArray, BoolArray]:
    """Return the subsets of forward selection, one of each size."""
    p = len(problem.cross)
    gram, cross, total = problem.gram.copy(), problem.cross.copy(), problem.total
    floors = 1e-10 * np.diagonal(gram)
    chosen, rss, kept = np.zeros(p, dtype=bool), [], []
    for _ in range(p - 1):
        free = ~chosen & (np.diagonal(gram) > floors)
        if not free.any():
            break
        gains = np.where(free, cross**2 / np.where(free, np.diagonal(gram), 1.0), -1.0)
        v = int(gains.argmax())
        slope = gram[v] / gram[v, v]
        total -= gains[v]
        cross = cross - slope * cross[v]
        gram = gram - np.outer(slope, gram[v])
        chosen[v] = True
        rss.append(max(total, 0.0))
        kept.append(chosen.copy())
    return np.array(rss), np.array(kept, dtype=bool).reshape(len(rss), p)


def earlier(kept: BoolArray, other: BoolArray) -> bool:
    """Tell whether a subset comes before another of its size in lexicographic order."""
    return bytes(kept) > bytes(other)


class BestOfEachSize:
    """The subset with the least residual sum of squares of every size up to ``max_size``."""

    def __init__(self, problem: LeastSquares, max_size: int) -> None:
        n_columns = len(problem.cross)
        self.rss = np.full(n_columns + 1, np.inf)
        self.kept = np.zeros((n_columns + 1, n_columns), dtype=bool)
        self.limits = np.where(np.arange(n_columns + 1) <= max_size, np.inf, 0.0)
        self._perfect = PERFECT * problem.total

    def offer(self, rss: FloatArray, kept: BoolArray) -> None:
        """Keep the best of each size."""
        sizes = kept.sum(axis=1)
        for size in np.unique(sizes):
            of_size = np.flatnonzero(sizes == size)
            lowest = rss[of_size].min()
            for i in of_size[rss[of_size] <= lowest * (1 + TIE)]:
                self._consider(int(size), float(rss[i]), kept[i])

    def _consider(self, size: int, rss: float, kept: BoolArray) -> None:
        tied = rss < self.rss[size] * (1 + TIE) and earlier(kept, self.kept[size])
        if rss < self.rss[size] * (1 - TIE) or tied:
            self.kept[size] = kept
        self.rss[size] = min(rss, self.rss[size])
        if self.limits[size]:
            # Nothing beats a perfect fit, and rounding must not be searched.
            hopeless = self.rss[size] <= self._perfect
            self.limits[size] = 0.0 if hopeless else self.rss[size] * (1 + TIE)


class WithinWindow:
    """All subsets that score within ``slack`` of the best, at most ``at_most`` of them.

    ``score``: Score of a residual sum of squares and a size; lower is better.
    """

    def __init__(
        self, n_columns: int, total: float, score: Score, max_size: int, slack: float, at_most: int
    ) -> None:
        self.score, self.max_size = score, max_size
        self.slack, self.at_most = slack, at_most
        self._seen: set[bytes] = set()
        self._sizes = np.arange(n_columns + 1)
        self._total = total  # the residual sum of squares of no column
        self.scores, self.rss = np.empty(0), np.empty(0)
        self.kept = np.empty((0, n_columns), dtype=bool)
        self.limits = np.where(self._sizes <= max_size, np.inf, 0.0)

    def offer(self, rss: FloatArray, kept: BoolArray) -> None:
        """Keep what falls into the window, and narrow it."""
        # Searches start from models of all sizes, to know their residual sums of squares.
        wanted = kept.sum(axis=1) <= self.max_size
        rss, kept = rss[wanted], kept[wanted]
        new = self._unseen(kept)
        if not len(new):
            return
        rss, kept = rss[new], kept[new]
        scores = self.score(rss, kept.sum(axis=1))
        scores = np.concatenate([self.scores, np.where(scores < np.inf, scores, np.nan)])
        rss, kept = np.concatenate([self.rss, rss]), np.concatenate([self.kept, kept])
        if np.isnan(scores).all():
            return
        inside = np.flatnonzero(scores <= np.nanmin(scores) + self.slack + self._rounding(scores))
        order = inside[self._rank(scores[inside], kept[inside])]
        order = order[: self.at_most]
        self.scores, self.rss, self.kept = scores[order], rss[order], kept[order]
        bound = self.scores[0] + self.slack
        if len(order) == self.at_most:
            bound = min(bound, self.scores[-1])
        limits = largest_rss(self.score, self._sizes, bound + self._rounding(scores), self._total)
        self.limits = np.where(self._sizes <= self.max_size, limits, 0.0)

    def _unseen(self, kept: BoolArray) -> IntArray:
        """Return the rows that were never offered before."""
        new = []
        for i, row in enumerate(np.packbits(kept, axis=1)):
            key = row.tobytes()
            if key not in self._seen:
                self._seen.add(key)
                new.append(i)
        return np.array(new, dtype=np.intp)

    def _rounding(self, scores: FloatArray) -> float:
        return TIE * max(1.0, abs(float(np.nanmin(scores))))

    def _rank(self, scores: FloatArray, kept: BoolArray) -> IntArray:
        """Order by score; ties by size, then lexicographically."""
        steps = np.round(scores / self._rounding(scores) / 2)
        by_columns = tuple(~column for column in kept.T[::-1])
        return np.lexsort((*by_columns, kept.sum(axis=1), steps))
