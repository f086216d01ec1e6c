"""Judging before time is up: convex weights first, then the first stacker, two, then all of them.

And how much of the time the fits must leave for it.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sklearn import metrics

from foldwise.stack.judge.further import further_verdict
from foldwise.stack.judge.judge import Contest, OutOfTimeError
from foldwise.stack.problem import StackProblem
from foldwise.stack.stackers.candidates import Candidate, response_kind
from foldwise.stack.stackers.means import WeightedMean, WeightsStacker
from foldwise.stack.table.layers import Dealt

# Half of what a budget may be exceeded by: what fits took too long must not cost the stacker.
GRACE_SHARE, GRACE_SECONDS = 0.05, 1.0
# Seconds for each row, learner and logit that one stacker takes with five folds, measured with up
# to 20,000 rows, 20 classes and 10 learners; and how many times that all that AutoStack puts on top
# takes of numbers, of two classes, of more.
COMBINING_RATE = 8e-6
ALL_TIMES = (1.0, 3.5, 20.0)
# The same for each row, tree of a round and root of the columns, of boosting that goes on from it,
# and the most of the time that is left for it.
FURTHER_RATE, FURTHER_SHARE = 3e-5, 0.1
# All of it is waited for if it takes no more of the time than this.
ALL_SHARE = 0.25
# Most that fits leave of a long time: not all learners will be there, and judging ends in time.
MOST_SHARE, MOST_SECONDS = 0.125, 2.0
# How the test rows of a single split are dealt.
INNER_FOLDS = 5


def judged_in_time(
    judged: Callable[[Contest, float], list[Any]],
    contest: Contest,
    problem: StackProblem,
    until: float,
) -> tuple[list[Any], bool]:
    """Return stacks judged by as much of a contest as time allows, and whether that is all of it.

    ``judged``: Called with a contest and the time by which it raises :class:`OutOfTimeError`.
    """
    threads, contest = contest.further, replace(contest, further=0)
    first, *longer = _steps(contest, problem)
    found, whole = judged(first, float("inf")), first is contest
    took = 0.0
    for step in longer:
        start = time.monotonic()
        if start + took * step.n_points > until:
            break
        try:
            found, whole = judged(step, until), step is contest
        except OutOfTimeError:
            break
        # Each point of a grid takes about as long as one of the first stacker.
        took = (time.monotonic() - start) / step.n_points
    if threads:
        found = [_further_in_time(stack, threads, until) for stack in found]
    return found, whole


def _steps(contest: Contest, problem: StackProblem) -> list[Contest]:
    """Return contests to be judged one after the other, from the shortest to the one asked for."""
    first, several = contest.candidates[0], len(contest.candidates) > 1 or bool(contest.methods)
    alone = replace(contest, candidates=(first,), methods=())
    plain = isinstance(first.estimator, WeightsStacker) and len(first.grid) == 1
    # A first answer is to be there at once, unless it must be a cheap one.
    thrift = contest.thrift if contest.thrift and contest.thrift.seconds < float("inf") else None
    quick = replace(alone, candidates=(_quickest(contest, problem),), thrift=thrift)
    steps = [] if plain else [quick]
    # Decision values cannot be scored as probabilities before they are calibrated.
    if several and not (contest.methods and response_kind(first.estimator) == "decision"):
        steps.append(alone)
        if len(contest.candidates) > 2:
            steps.append(replace(alone, candidates=contest.candidates[:2]))
    return [*steps, contest]


def _quickest(contest: Contest, problem: StackProblem) -> Candidate:
    """Return convex weights by squared errors, whatever the metric: one small quadratic problem.

    A plain mean would hardly be quicker, and as bad as the worst of the learners make it.
    """
    scorer = metrics.get_scorer("neg_brier_score")
    brier = replace(contest.metric, function=metrics.brier_score_loss, scorer=scorer)
    metric = None if problem.labels is None else brier
    return Candidate("simplex", WeightedMean("simplex", metric, problem.labels))


def _further_in_time(stack: Any, threads: int, until: float) -> Any:
    """Return a fitted stack that boosting goes on from, or as it is where time is up before."""
    judge = stack.judge
    seconds = further_seconds(judge.layer.problem, len(judge.layer.entries), threads)
    if time.monotonic() + seconds > until:
        return stack
    contest = replace(judge.contest, further=threads)
    try:
        verdict = further_verdict(replace(judge, contest=contest, until=until), stack.verdict)
    except OutOfTimeError:
        return stack
    return replace(stack, judge=replace(judge, contest=contest), verdict=verdict)


def further_seconds(problem: StackProblem, n_learners: int, threads: int) -> float:
    """Return what boosting that goes on from the stacker takes, chosen and judged, about."""
    if problem.numbers is None or not threads:
        return 0.0
    classes = max((problem.data.n_classes or 2) - 1, 1)
    trees = 1 if classes == 1 else classes + 1
    width = problem.numbers.shape[1] + n_learners * trees
    return FURTHER_RATE * problem.n_rows * trees * width**0.5 / threads


def combining_seconds(
    n_rows: float,
    n_classes: int | None,
    n_learners: int,
    n_folds: int,
    partners: int | None = None,
) -> tuple[float, float]:
    """Return what choosing and judging takes, of one stacker and of all that AutoStack has on top.

    In proportion to rows, learners and logits, and to the square of the folds, or to the folds and
    the partners of each. Both are guesses that fits leave time by; whatever they are, judging ends
    in time.
    """
    logits = max((n_classes or 2) - 1, 1)
    pairs = n_folds * (n_folds if partners is None else partners + 1)
    one = COMBINING_RATE * n_rows * n_learners * logits * pairs / INNER_FOLDS**2
    return one, one * ALL_TIMES[min(max((n_classes or 1) - 1, 0), 2)]


def reserved(
    problem: StackProblem, n_learners: int, dealt: Dealt, contest: Contest, budget: float
) -> float:
    """Return the time that fits leave for choosing and judging the stacker."""
    lattice, partners = dealt.lattice, dealt.reading.partners
    single = lattice.kind == "single"
    n_rows = len(lattice.tests[0]) if single else problem.n_rows
    n_folds = INNER_FOLDS if single else lattice.n_folds
    one, every = combining_seconds(n_rows, problem.data.n_classes, n_learners, n_folds, partners)
    several = len(contest.candidates) > 1 or bool(contest.methods)
    seconds = 0.2 + (every if several and every <= ALL_SHARE * budget else one)
    further = further_seconds(problem, n_learners, contest.further)
    seconds += further if further <= FURTHER_SHARE * budget else 0.0
    most = max(budget * MOST_SHARE, min(budget / 3, MOST_SECONDS))
    return min(max(seconds, budget / 50), most)
