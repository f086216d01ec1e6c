"""Searches over all subsets: which way to go, and what comes back."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.engine import progress
from foldwise.errors import Plain, invalid_parameter, warn
from foldwise.subset.branch_and_bound import (
    BestOfEachSize,
    Goal,
    LeastSquares,
    WithinWindow,
    search,
)
from foldwise.subset.coefficients import pivots, residual_sum
from foldwise.subset.columns import Choice, count_subsets
from foldwise.subset.criteria import Score, TargetSummary
from foldwise.subset.exhaustive import SPEED, Sink, sweep_all, sweep_work
from foldwise.subset.mc3 import walk
from foldwise.subset.moments import ALIASED, PERFECT, ScaledGram
from foldwise.subset.sinks import BestBySize, Everything, members
from foldwise.wording import rough_duration

# Up to this many subsets are simply all swept.
FEW = 1 << 16
# The same where columns are dependent: bounds cut little there.
FEW_DEPENDENT = 1 << 22
# With less of a column left by the others, its inverse has too few digits to be trusted.
RISKY = 1e-6
# Share of the sums of squares that is added to make dependent columns invertible.
RIDGE = 1e-8


@dataclass(frozen=True)
class Searcher:
    """Who searches, and how long it may take."""

    owner: str  # name of the estimator, for messages
    verbose: int = 0  # whether to show progress
    time_limit: float | None = None  # seconds
    # what to do where a search of all subsets takes too long
    instead: str = "Set max_size or raise time_limit."

    def look_at_the_clock(self, choice: Choice, n_folds: int, seconds: float) -> None:
        """Refuse a search of all subsets that would take longer than the time limit."""
        if self.time_limit is None or seconds <= self.time_limit:
            return
        folds = f" on {n_folds} folds" if n_folds > 1 else ""
        must = "have few enough columns to try all subsets"
        tried = f"{len(choice.units)} to choose from: {choice.n_subsets:.2g} subsets{folds}"
        got = Plain(f"{tried} would take about {rough_duration(seconds)}")
        raise invalid_parameter(self.owner, "X", must=must, got=got, fix=self.instead)

    def drive(self, shares: Iterable[float]) -> bool:
        """Run a search; tell whether it came to its end before time or patience ran out."""
        start = time.monotonic()
        try:
            with progress(self.owner, 1.0, self.verbose, "subsets") as told:
                for share in shares:
                    told.reach(share)
                    if self.time_limit is not None and time.monotonic() - start > self.time_limit:
                        break
                else:
                    return True
        except KeyboardInterrupt:
            said = "interrupted; the best models so far are kept. Fit again to search on."
            warn(f"{self.owner}: {said}")
            return False
        said = f"stopped after {self.time_limit:g} seconds with the best models so far."
        warn(f"{self.owner}: {said} Raise time_limit to search on.")
        return False


class Found(NamedTuple):
    """Subsets of units with their residual sums of squares, and whether all were looked at."""

    kept: BoolArray
    rss: FloatArray
    complete: bool


def sweep(
    train: FloatArray, test: FloatArray, choice: Choice, searcher: Searcher, *sinks: Sink
) -> bool:
    """Show ``sinks`` the errors of all subsets, after a look at the clock."""
    if choice.n_subsets > FEW:
        seconds = sweep_work(choice.widths, choice.max_size) * len(train) / SPEED
        searcher.look_at_the_clock(choice, len(train), seconds)
    return searcher.drive(sweep_all(train, test, choice, *sinks))


def all_subsets(moments: ScaledGram, choice: Choice, searcher: Searcher) -> Found:
    """Return every subset with its residual sum of squares."""
    sink = Everything()
    gram = moments.gram[None]
    # Tested on its own training rows, a subset's error is its residual sum of squares.
    complete = sweep(gram, gram, choice, searcher, sink)
    kept, errors = sink.table(len(choice.units))
    return Found(kept, np.maximum(errors, 0.0) * moments.scale[-1] ** 2, complete)


def best_of_each_size(moments: ScaledGram, choice: Choice, searcher: Searcher) -> Found:
    """Return, for each number of columns, the subset with the least residual sum of squares."""
    if not _bounds_pay(moments, choice):
        gram = moments.gram[None]
        sink = BestBySize(choice.max_size)
        complete = sweep(gram, gram, choice, searcher, sink)
        kept = members(sink.ids[sink.ids >= 0], len(choice.units))
    else:
        problem = reduced_problem(moments, choice)
        goal = BestOfEachSize(problem, choice.max_size)
        complete = _bounded(problem, goal, moments, choice, searcher)
        kept = goal.kept[np.isfinite(goal.rss)][: choice.max_size + 1]
    return Found(kept, exact_rss(moments, choice, kept), complete)


def best_within(
    moments: ScaledGram,
    choice: Choice,
    score: Score,
    searcher: Searcher,
    *,
    slack: float = 0.0,
    at_most: int = 1,
    n_steps: int | None = None,
    random_state: Any = None,
) -> Found:
    """Return the subsets that score within ``slack`` of the best, best first.

    ``score`` takes the residual sum of squares and the number of columns, forced ones included.
    With ``n_steps``, what a random walk of that many steps finds of them.
    """
    if n_steps is None and not _bounds_pay(moments, choice):
        found = all_subsets(moments, choice, searcher)
        scores = score(found.rss, choice.sizes(found.kept))
        order = np.argsort(np.round(scores, 8), kind="stable")
        inside = order[scores[order] <= np.nanmin(scores) + slack + 1e-8][:at_most]
        return Found(found.kept[inside], found.rss[inside], found.complete)
    problem, scale = reduced_problem(moments, choice), moments.scale[-1] ** 2

    def scaled(rss: FloatArray, size: IntArray) -> FloatArray:
        return score(rss * scale, size + choice.n_always)

    n_units = len(choice.units)
    goal = WithinWindow(n_units, problem.total, scaled, choice.max_size, slack, at_most)
    if n_steps is None:
        complete = _bounded(problem, goal, moments, choice, searcher)
    else:
        goal.offer(np.array([problem.total]), np.zeros((1, n_units), dtype=bool))
        # Drawn only here: searches without chance leave NumPy's global generator alone.
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        rng = np.random.default_rng(seed)
        complete = searcher.drive(walk(problem, goal, n_steps, rng))
    return Found(goal.kept, exact_rss(moments, choice, goal.kept), complete)


def exact_rss(moments: ScaledGram, choice: Choice, kept: BoolArray) -> FloatArray:
    """Return the residual sums of squares of some subsets, each solved by itself."""
    return np.array([residual_sum(moments, choice.columns(row)) for row in kept])


def describe(moments: ScaledGram, choice: Choice) -> TargetSummary:
    """Return what the criteria need to know about the data."""
    n_rows = moments.n_rows
    intercept = int(0 in choice.forced)
    everything = choice.everything
    spare = n_rows - len(everything)
    # A constant target has nothing to explain: any unit will do.
    total = residual_sum(moments, np.zeros(intercept, dtype=np.intp)) or 1.0
    left = residual_sum(moments, everything)
    noise = left / spare if spare > 0 and left > PERFECT * total else float("nan")
    return TargetSummary(n_rows, total, intercept, noise)


def largest_size(moments: ScaledGram, choice: Choice, at_most: int) -> int:
    """Return the largest size worth searching when none is given.

    All columns where the rows can tell them apart. Otherwise the largest size with at most
    about ``at_most`` subsets and rows to spare: beyond, countless subsets fit perfectly.
    """
    n_free = sum(choice.widths)
    spare = moments.n_rows - 2 - choice.n_always
    left = _shares_left(moments, choice)
    if n_free == 0 or (spare >= n_free and (left > ALIASED).sum() > len(left) - 3):
        return n_free
    # Wide problems carry many products along with every subset.
    at_most = int(at_most * min(1.0, (30 / n_free) ** 2))
    sizes = [s for s in range(n_free + 1) if count_subsets(choice.widths, s) <= at_most]
    return max(0, min(max(sizes), spare))


def _shares_left(moments: ScaledGram, choice: Choice) -> FloatArray:
    """Return what share of each column's sum of squares the columns before it leave."""
    columns = choice.everything
    squares = np.diagonal(moments.gram)[columns]
    return pivots(moments.gram, columns) / np.maximum(squares, 1e-300)


def _bounds_pay(moments: ScaledGram, choice: Choice) -> bool:
    if set(choice.widths) != {1} or choice.n_subsets <= FEW:
        return False
    return choice.n_subsets > FEW_DEPENDENT or not _dependent(moments, choice)


def _dependent(moments: ScaledGram, choice: Choice) -> bool:
    return bool((_shares_left(moments, choice) < RISKY).any())


def reduced_problem(moments: ScaledGram, choice: Choice) -> LeastSquares:
    """Return the problem with the forced columns regressed out."""
    free = [unit[0] for unit in choice.units]
    left = moments.gram.copy()
    for v in choice.forced:
        if left[v, v] > ALIASED * moments.gram[v, v]:
            left = left - np.outer(left[:, v] / left[v, v], left[v])
    return LeastSquares(left[np.ix_(free, free)], left[free, -1], float(left[-1, -1]))


def _bounded(
    problem: LeastSquares, goal: Goal, moments: ScaledGram, choice: Choice, searcher: Searcher
) -> bool:
    """Search by branch and bound; dependent columns with a ridge that makes them invertible."""
    if _dependent(moments, choice):
        goal = Checked(goal, moments, choice)
        ridge = RIDGE * moments.gram[0, 0] * np.eye(len(choice.units))
        problem = problem._replace(gram=problem.gram + ridge)
    return searcher.drive(search(problem, goal))


class Checked:
    """A goal whose offers are solved again, one by one, since the ridge blurs them."""

    def __init__(self, goal: Goal, moments: ScaledGram, choice: Choice) -> None:
        self.goal = goal
        self.moments = moments
        self.choice = choice
        self._blur = 100 * RIDGE * float(moments.gram[-1, -1])
        self.limits = goal.limits

    def offer(self, rss: FloatArray, kept: BoolArray) -> None:
        """Pass subsets on with their exact residual sums of squares."""
        exact = exact_rss(self.moments, self.choice, kept) / self.moments.scale[-1] ** 2
        self.goal.offer(exact, kept)
        self.limits = np.where(self.goal.limits > 0, self.goal.limits + self._blur, 0.0)
