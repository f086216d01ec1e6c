"""Searches over all subsets: which way to go, and what comes back."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.errors import Plain, invalid_parameter
from foldwise.subset.branch_and_bound import Problem, search
from foldwise.subset.coefficients import residual_sum
from foldwise.subset.columns import Choice
from foldwise.subset.criteria import Sample, Score
from foldwise.subset.exhaustive import (
    SPEED,
    Sink,
    count_subsets,
    smallest_pivots,
    sweep_all,
    sweep_work,
)
from foldwise.subset.goals import BestOfEachSize, Goal, WithinWindow
from foldwise.subset.moments import ALIASED, PERFECT, Moments
from foldwise.subset.progress import as_shares, drive
from foldwise.subset.sinks import BestBySize, Everything, members
from foldwise.wording import rough_duration

FEW = 1 << 16
"""Up to this many subsets are simply all swept."""

FEW_DEPENDENT = 1 << 22
"""The same where columns are dependent: bounds cut little there."""


@dataclass(frozen=True)
class Run:
    """Who searches, and how long it may take."""

    owner: str  # name of the estimator, for messages
    verbose: int = 0  # whether to show progress
    time_limit: float | None = None  # seconds
    # what to do where a search of all subsets takes too long
    instead: str = "Set max_size or raise time_limit."


class Found(NamedTuple):
    """Subsets of units with their residual sums of squares, and whether all were looked at."""

    kept: BoolArray
    rss: FloatArray
    complete: bool


def sweep(
    train: FloatArray, test: FloatArray, choice: Choice, max_size: int, sink: Sink, run: Run
) -> bool:
    """Show ``sink`` the errors of all subsets, after a look at the clock."""
    n_subsets = count_subsets(choice.widths, max_size)
    if n_subsets > FEW:
        seconds = sweep_work(choice.widths, max_size) * len(train) / SPEED
        look_at_the_clock(choice, n_subsets, len(train), seconds, run)
    steps = sweep_all(train, test, choice.units, choice.forced, max_size, sink)
    return drive(
        as_shares(steps, n_subsets), run.owner, verbose=run.verbose, time_limit=run.time_limit
    )


def look_at_the_clock(
    choice: Choice, n_subsets: int, n_folds: int, seconds: float, run: Run
) -> None:
    """Refuse a search of all subsets that would take longer than the time limit."""
    too_long = run.time_limit is not None and seconds > run.time_limit
    if too_long:
        raise invalid_parameter(
            run.owner,
            "X",
            must="have few enough columns to try all subsets",
            got=Plain(
                f"{len(choice.units)} to choose from: {n_subsets:.2g} subsets on "
                f"{n_folds} folds would take about {rough_duration(seconds)}"
                if n_folds > 1
                else f"{len(choice.units)} to choose from: {n_subsets:.2g} subsets would take "
                f"about {rough_duration(seconds)}"
            ),
            fix=run.instead,
        )


def all_subsets(moments: Moments, choice: Choice, max_size: int, run: Run) -> Found:
    """Return every subset with its residual sum of squares."""
    sink = Everything()
    gram = moments.gram[None]
    complete = sweep(gram, gram, choice, max_size, sink, run)
    kept, errors = sink.table(len(choice.units))
    return Found(kept, np.maximum(errors, 0.0) * moments.scale[-1] ** 2, complete)


def best_of_each_size(moments: Moments, choice: Choice, max_size: int, run: Run) -> Found:
    """Return, for each number of columns, the subset with the least residual sum of squares."""
    if not _bounds_pay(moments, choice, max_size):
        gram = moments.gram[None]
        sink = BestBySize(max_size)
        complete = sweep(gram, gram, choice, max_size, sink, run)
        kept = members(sink.ids[sink.ids >= 0], len(choice.units))
    else:
        problem = reduced_problem(moments, choice)
        goal = BestOfEachSize(len(choice.units), max_size, problem.total)
        complete = _bounded(problem, goal, moments, choice, run)
        kept = goal.kept[np.isfinite(goal.rss)][: max_size + 1]
    return Found(kept, exact_rss(moments, choice, kept), complete)


def best_within(
    moments: Moments,
    choice: Choice,
    max_size: int,
    score: Score,
    run: Run,
    *,
    slack: float = 0.0,
    at_most: int = 1,
) -> Found:
    """Return the subsets that score within ``slack`` of the best, best first.

    ``score`` takes the residual sum of squares and the number of columns, forced ones included.
    """
    n_always, scale = choice.n_always, moments.scale[-1] ** 2

    def scaled(rss: FloatArray, size: IntArray) -> FloatArray:
        return score(rss * scale, size + n_always)

    if not _bounds_pay(moments, choice, max_size):
        found = all_subsets(moments, choice, max_size, run)
        widths = np.array(choice.widths, dtype=np.intp)
        scores = score(found.rss, found.kept @ widths + n_always)
        order = np.argsort(np.round(scores, 8), kind="stable")
        inside = order[scores[order] <= np.nanmin(scores) + slack + 1e-8][:at_most]
        return Found(found.kept[inside], found.rss[inside], found.complete)
    problem = reduced_problem(moments, choice)
    goal = WithinWindow(scaled, len(choice.units), max_size, problem.total, slack, at_most)
    complete = _bounded(problem, goal, moments, choice, run)
    return Found(goal.kept, exact_rss(moments, choice, goal.kept), complete)


def exact_rss(moments: Moments, choice: Choice, kept: BoolArray) -> FloatArray:
    """Return the residual sums of squares of some subsets, each solved by itself."""
    return np.array([residual_sum(moments, choice.columns(row)) for row in kept])


def describe(moments: Moments, choice: Choice) -> Sample:
    """Return what the criteria need to know about the data."""
    n_rows = float(moments.gram[0, 0])
    intercept = int(0 in choice.forced)
    everything = choice.columns(np.ones(len(choice.units), dtype=bool))
    spare = n_rows - len(everything)
    # A constant target has nothing to explain: any unit will do.
    total = residual_sum(moments, np.zeros(intercept, dtype=np.intp)) or 1.0
    left = residual_sum(moments, everything)
    noise = left / spare if spare > 0 and left > PERFECT * total else float("nan")
    return Sample(n_rows, total, intercept, noise)


def largest_size(moments: Moments, choice: Choice, at_most: int) -> int:
    """Return the largest size worth searching when none is given.

    All columns where the rows can tell them apart. Otherwise the largest size with at most
    about ``at_most`` subsets and rows to spare: beyond, countless subsets fit perfectly.
    """
    n_free = sum(choice.widths)
    spare = int(moments.gram[0, 0]) - 2 - choice.n_always
    everything = choice.columns(np.ones(len(choice.units), dtype=bool))
    if spare >= n_free and (_share_left(moments, everything) > ALIASED).sum() > len(everything) - 3:
        return n_free
    # Wide problems carry many products along with every subset.
    at_most = int(at_most * min(1.0, (30 / n_free) ** 2))
    sizes = [s for s in range(n_free + 1) if count_subsets(choice.widths, s) <= at_most]
    return max(0, min(max(sizes), spare))


def _share_left(moments: Moments, columns: IntArray) -> FloatArray:
    """Return what share of each column's sum of squares the columns before it leave."""
    order = [*columns, len(moments.gram) - 1]
    gram = moments.gram[np.ix_(order, order)][:, :, None]
    diagonal = np.einsum("iik->ik", gram)
    pivots = smallest_pivots(gram, ALIASED * diagonal)
    return (pivots / np.maximum(diagonal[:-1], 1e-300))[:, 0]


def _bounds_pay(moments: Moments, choice: Choice, max_size: int) -> bool:
    n_subsets = count_subsets(choice.widths, max_size)
    if set(choice.widths) != {1} or n_subsets <= FEW:
        return False
    return n_subsets > FEW_DEPENDENT or not _dependent(moments, choice)


def _dependent(moments: Moments, choice: Choice) -> bool:
    everything = choice.columns(np.ones(len(choice.units), dtype=bool))
    return bool((_share_left(moments, everything) < RISKY).any())


def reduced_problem(moments: Moments, choice: Choice) -> Problem:
    """Return the problem with the forced columns regressed out."""
    free = [unit[0] for unit in choice.units]
    left = moments.gram.copy()
    for v in choice.forced:
        if left[v, v] > ALIASED * moments.gram[v, v]:
            left = left - np.outer(left[:, v] / left[v, v], left[v])
    return Problem(left[np.ix_(free, free)], left[free, -1], float(left[-1, -1]))


def _bounded(problem: Problem, goal: Goal, moments: Moments, choice: Choice, run: Run) -> bool:
    if _dependent(moments, choice):
        goal = Checked(goal, moments, choice)
        ridge = RIDGE * moments.gram[0, 0] * np.eye(len(choice.units))
        problem = problem._replace(gram=problem.gram + ridge)
    return drive(search(problem, goal), run.owner, verbose=run.verbose, time_limit=run.time_limit)


RISKY = 1e-6
"""With less of a column left by the others, its inverse has too few digits to be trusted."""

RIDGE = 1e-8
"""Share of the sums of squares that is added to make dependent columns invertible."""


class Checked:
    """A goal whose offers are solved again, one by one, since the ridge blurs them."""

    def __init__(self, goal: Goal, moments: Moments, choice: Choice) -> None:
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
