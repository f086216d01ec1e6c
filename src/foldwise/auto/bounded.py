"""The plan of a time budget; where no booster would end, the rounds, folds and rows it allows."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from foldwise.arrays import IntArray
from foldwise.auto.plan import (
    LEAST_GROWTH,
    OTHERS_TIMES,
    SINGLE_SECONDS,
    SINGLE_SHARE,
    SPENDABLE,
    FitPlan,
    Trials,
    affordable,
    combining_time,
    fits_of,
    longest_of,
    plan_for,
    trial,
    trial_order,
    tried,
    with_quick,
)
from foldwise.boost.newton import NewtonBoosting
from foldwise.learners import TrainingData, prepared
from foldwise.learners.prepare import package_of
from foldwise.learners.watched import finds_rounds
from foldwise.stack.table.rounds import ROUNDS

# Rows of the probes of a booster, and rounds: of few rows some that take long enough to be timed.
PROBED = ((500, 32), (2000, 16), (8000, 12))
FEW = 2
# Of the time for trials, what is spent on probes; and the seconds that one booster's take.
PROBE_SHARE, LEAST_PROBING = 0.4, 0.25
# Rounds and rows of all others are told by the first booster's.
FIRST_PROBE_SHARE = 0.5
# A trial of CatBoost that is told of categories has a part of its rounds: of 60 rows and 33
# columns all of them take four seconds.
BRIEF = 10
# Where a booster stops is not known before. On ten tables, that of 8,000 rows was at 0.4 to 3.4
# times the rounds that one of 1,000 rows took, half of them above 1.4.
STOPPING_ROWS, ROUNDS_GROW = 2000, 1.5
# CatBoost stops later than the others.
CATBOOST_STOPS = 3.0
USUAL_ROUNDS, LEAST_ROUNDS, MOST_ROUNDS = 300, 60, 1000
# Of the time that is left, for the first booster; and what its fits take as times what they would
# if none found its rounds on other rows.
BOOSTER_SHARE, WATCHING = 0.5, 1.4
# Others may use the machine meanwhile: after so many times as long as expected, no more rounds.
LATE = 1.3
# With fewer rounds than the first, fewer folds and then fewer rows are better; but not fewer than
# these; with fewer than the second number of rounds, no booster. As much work on 400,000 rows of
# seven classes: log-loss .63 by 15 rounds of all rows, .34 by 120 of an eighth, .46 by 490 of a
# thirty-second (test rows of covertype and letter, which show nothing about these numbers).
ENOUGH_ROUNDS, FEWEST_ROUNDS = 120, 20
ENOUGH_ROWS, FEWEST_ROWS = 4000, 500
# Few rounds must be large steps: their sum, and the largest.
PROGRESS, LARGEST_STEP = 12.0, 0.2


def plan_in_time(
    learners: Mapping[str, Any],
    powers: Mapping[str, float],
    data: TrainingData,
    *,
    trying: float,
    left: Callable[[], float],
    workers: int,
    folds: Sequence[int],
    repeats: int,
    seed: int,
    small: bool,
    modest: bool = False,
    ring: bool = False,
) -> FitPlan:
    """Return what to fit, after a trial of each learner.

    ``trying``: Seconds for the trials. ``left``: Tells the seconds left. ``powers``: With which
    power of the rows each learner's time grows. ``workers``: 0 if all is fitted in this process.
    ``repeats``: Deals that are made in any case. ``small``: Whether any fit takes moments.
    ``modest``: Whether a single split is too few. ``ring``: Whether folds are judged by their
    neighbours.
    """
    probed = {} if small else {n: own for n, own in learners.items() if _rounds_name(own)}
    others = {name: own for name, own in learners.items() if name not in probed}
    share = PROBE_SHARE * trying if probed else 0.0
    brief = {} if small else {n: own for n, own in others.items() if _rounds_name(own, plain=False)}
    tested = others | {name: _shortened(own) for name, own in brief.items()}
    trials = tried(tested, powers, data, limit=trying - share, seed=seed, small=small)
    trials |= {name: trials[name].times(BRIEF) for name in brief if name in trials}
    probing = max(share, LEAST_PROBING)
    # Where few rows of the cheapest are slow, for their columns, a booster's are slower.
    slow = OTHERS_TIMES * min((t.made[0][1] for t in trials.values()), default=0.0) > probing
    speeds = speeds_of(probed, data, seed, probing) if probed and not slow else {}
    n_rows, at_once = data.X.shape[0], max(workers, 1)

    def combining(number: int) -> float:
        return combining_time(n_rows, data.n_classes, number, 1, ring)

    known: dict[str, Any] = {"budget": left() / repeats, "folds": folds}
    booster = {name: speed.seconds(n_rows) for name, speed in speeds.items()}
    likely = {name: t.likely(n_rows) for name, t in trials.items()} | booster
    plan = plan_for(
        tuple(learners), likely, workers=at_once, combining=combining, modest=modest, ring=ring,
        **known,
    )  # fmt: skip
    seconds = {name: t.seconds(n_rows) for name, t in trials.items()} | booster
    if not small:
        plan, seconds = in_time(plan, learners, trials, speeds, n_rows, workers=workers, **known)
    used = plan.n_rows or n_rows
    plan = replace(plan, expected={name: took / used for name, took in seconds.items()})
    return with_quick(plan, seconds, workers=workers, small=small, combining=combining, **known)


def in_time(
    plan: FitPlan,
    learners: Mapping[str, Any],
    trials: Mapping[str, Trials],
    speeds: Mapping[str, "Speed"],
    n_rows: int,
    *,
    budget: float,
    workers: int,
    folds: Sequence[int],
) -> tuple[FitPlan, dict[str, float]]:
    """Return the plan with a booster early that is sure to be finished, and what fits take.

    Linear members are quick on any table, but on many rows or classes far from the best. So that
    a booster has rounds enough, folds are given up, and then rows. Without ``workers`` only a
    booster that is quick is sure to be fitted.
    """
    boosters = [name for name, own in learners.items() if _is_booster(own)]
    most = np.inf
    if boosters and not workers:
        most = min(SINGLE_SHARE * budget, SINGLE_SECONDS)
    workers = max(workers, 1)
    seconds = {name: t.seconds(n_rows) for name, t in trials.items()}
    seconds |= {name: speed.seconds(n_rows) for name, speed in speeds.items()}
    costs = {n: took * fits_of(plan.folds, plan.ring) / workers for n, took in seconds.items()}
    sure = affordable(plan.names, costs, SPENDABLE * budget)
    sure = {name for name in sure if seconds[name] <= most}
    # The only split is made for want of time: then its booster is bounded too.
    enough = sure & set(boosters) and plan.folds > 1 if boosters else sure
    if not trials:
        return plan, seconds
    if enough:
        ends = {n: seconds[n] for n in boosters if n in seconds}
        return _ended(plan, ends, budget, workers), seconds
    if not boosters:
        return _with_fewer_rows(plan, trials, n_rows, BOOSTER_SHARE * budget)
    booster = next((name for name in boosters if name in speeds), None)
    if booster is None:
        return plan, seconds
    speed = speeds[booster]
    number, n_used, rounds = _amounts(speed, n_rows, plan, folds, budget, workers)
    rounds = min(rounds, _last(learners[booster]).n_estimators)
    if rounds < FEWEST_ROUNDS or n_used < min(FEWEST_ROWS, n_rows):
        return plan, seconds
    seconds = {name: t.seconds(n_used) for name, t in trials.items()}
    took = speed.seconds(n_used, rounds)
    seconds |= dict.fromkeys(boosters, took)
    # What is cheapest comes next: it is of another kind.
    cheap = sorted((n for n in seconds if n not in boosters), key=lambda n: seconds[n])[:1]
    early = (booster, *cheap)
    names = (*early, *(n for n in learners if n not in early))
    kept = [n for n in names if n in boosters or n in plan.names or n_used < n_rows]
    skipped = {n: why for n, why in plan.skipped.items() if n not in kept}
    plan = replace(
        plan,
        names=tuple(kept),
        folds=number,
        skipped=skipped,
        bounds=dict.fromkeys(boosters, (rounds, LATE * took)),
        n_rows=n_used if n_used < n_rows else None,
    )
    return plan, seconds


def _ended(plan: FitPlan, seconds: Mapping[str, float], budget: float, workers: int) -> FitPlan:
    """Return the plan with boosters that end by the clock if they take longer than expected.

    Estimates err: what takes longer is then a booster of fewer rounds, not none.
    """
    most = _most_seconds(plan.folds, plan.ring, budget, workers)
    bounds = {name: (None, max(most, LATE * took)) for name, took in seconds.items()}
    return replace(plan, bounds=bounds)


def _amounts(
    speed: "Speed", n_rows: int, plan: FitPlan, folds: Sequence[int], budget: float, workers: int
) -> tuple[int, int, int]:
    """Return the folds, rows and rounds that there is time for."""
    for number in (plan.folds, *(f for f in folds if f < plan.folds), 1):
        each = _most_seconds(number, plan.ring, budget, workers)
        rounds = speed.rounds(n_rows, each)
        if rounds >= ENOUGH_ROUNDS:
            return number, n_rows, rounds
    enough = speed.rows(ENOUGH_ROUNDS, each)
    n_used = min(max(enough, min(ENOUGH_ROWS, speed.rows(FEWEST_ROUNDS, each))), n_rows)
    return 1, n_used, speed.rounds(n_used, each)


def _most_seconds(folds: int, ring: bool, budget: float, workers: int) -> float:
    """Return what a fit of the first booster may take."""
    # However many workers there are, a fit has one.
    fits = max(fits_of(folds, ring) / workers, longest_of(folds))
    return BOOSTER_SHARE * budget / (fits * (WATCHING if folds > 1 else 1.0))


def _with_fewer_rows(
    plan: FitPlan, trials: Mapping[str, Trials], n_rows: int, spendable: float
) -> tuple[FitPlan, dict[str, float]]:
    """Return the plan of a single split with as many rows as the cheapest member has time for."""
    n_used = n_rows
    while n_used > 2 * FEWEST_ROWS and spendable < min(t.seconds(n_used) for t in trials.values()):
        n_used //= 2
    seconds = {name: t.seconds(n_used) for name, t in trials.items()}
    names = tuple(sorted(seconds, key=lambda n: seconds[n]))
    skipped = {n: why for n, why in plan.skipped.items() if n not in names}
    used = n_used if n_used < n_rows else None
    return replace(plan, names=names, folds=1, skipped=skipped, n_rows=used), seconds


def bounded(learner: Any, rounds: int | None, seconds: float) -> Any:
    """Return a booster of at most some rounds and time, with larger steps where rounds are few.

    ``rounds``: None for as many as it has anyway.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from foldwise import NewtonBoostingRegressor
    >>> booster = make_pipeline(NewtonBoostingRegressor(learning_rate=0.05))
    >>> few, many = bounded(booster, 60, 9.0)[-1], bounded(booster, 600, 9.0)[-1]
    >>> few.n_estimators, few.learning_rate, many.learning_rate
    (60, 0.2, 0.05)
    """
    if rounds is None:
        return _with(learner, max_seconds=seconds)
    step = max(_last(learner).learning_rate, min(PROGRESS / rounds, LARGEST_STEP))
    return _with(learner, n_estimators=rounds, learning_rate=step, max_seconds=seconds)


def tuned_rounds(learners: Mapping[str, Any]) -> dict[str, str]:
    """Return how a stack tunes its boosters: by their rounds, found on the folds left out."""
    return {name: ROUNDS for name, learner in learners.items() if finds_rounds(learner)}


@dataclass(frozen=True)
class Speed:
    """Seconds that a booster takes: a row before the first round, a row in each, a round anyway."""

    a_row: float
    a_cell: float
    a_round: float = 0.0
    at_once: float = 0.0  # whatever the rows and rounds
    usual: float = USUAL_ROUNDS  # the rounds before it stops, about

    def seconds(self, n_rows: int, rounds: float | None = None) -> float:
        """Return what a fit takes; without a number of rounds, until it stops."""
        rounds = self.usual if rounds is None else rounds
        return self._before(n_rows) + rounds * (n_rows * self.a_cell + self.a_round)

    def rounds(self, n_rows: int, seconds: float) -> int:
        """Return the rounds of some rows that there is time for."""
        left = seconds - self._before(n_rows)
        return int(np.clip(left / (n_rows * self.a_cell + self.a_round), 0, 1e6))

    def rows(self, rounds: int, seconds: float) -> int:
        """Return the rows that there is time for in some rounds."""
        left = seconds - self.at_once - rounds * self.a_round
        return int(max(left, 0.0) / (self.a_row + rounds * self.a_cell))

    def _before(self, n_rows: int) -> float:
        return self.at_once + n_rows * self.a_row


def speeds_of(
    learners: Mapping[str, Any], data: TrainingData, seed: int, limit: float
) -> dict[str, Speed]:
    """Return what rows and rounds of boosters take, as far as there is time to find out.

    Where the first of ours stops, the others are taken to stop too.
    """
    start, took, found = time.perf_counter(), 0.0, dict[str, Speed]()
    order = trial_order(data, seed, PROBED[-1][0])
    for name, learner in learners.items():
        left = limit - (time.perf_counter() - start)
        if not found:
            # The first fit of all is slow for what it loads.
            left -= _probe(learner, data, order[: PROBED[0][0]], seed, FEW)
        if left <= took:
            # What is left would not do for one as slow as the last; or this one fails.
            continue
        share = 1 / len(learners) if found else FIRST_PROBE_SHARE
        speed = speed_of(learner, data, order, seed, share * left, left)
        took = left - (limit - (time.perf_counter() - start))
        if speed is not None:
            found[name] = speed
    first = next((name for name in found if _is_booster(learners[name])), None)
    left = limit - (time.perf_counter() - start)
    if first is None or left <= 0:
        return found
    rows = order[:STOPPING_ROWS]
    now, stopping = time.perf_counter(), _with(learners[first], max_seconds=left)
    if not trial(stopping, data, rows, seed):
        return found
    took = time.perf_counter() - now
    rounds = ROUNDS_GROW * found[first].rounds(len(rows), took)
    # One that the clock has ended would have gone on.
    rounds = max(rounds, USUAL_ROUNDS) if took >= left else rounds
    usual = {
        name: CATBOOST_STOPS * rounds if package_of(_last(learners[name])) == "catboost" else rounds
        for name in found
    }
    return {
        name: replace(speed, usual=float(np.clip(usual[name], LEAST_ROUNDS, MOST_ROUNDS)))
        for name, speed in found.items()
    }


def speed_of(
    learner: Any,
    data: TrainingData,
    order: IntArray,
    seed: int,
    limit: float,
    left: float = np.inf,
) -> Speed | None:
    """Return what rows and rounds of a booster take, about; None if it fails.

    ``order``: Rows to be fitted to, the first of them first. ``limit``: Seconds for it, which two
    numbers of rows may exceed; but not three times ``left``, the seconds for all boosters.
    """
    points: list[tuple[int, float, float]] = []  # rows, seconds before the first round, of each
    start, speed = time.perf_counter(), Speed(0.0, 0.0)
    for place, (size, more) in enumerate(PROBED):
        rows = order[:size]
        few, many = (_probe(learner, data, rows, seed, rounds) for rounds in (FEW, more))
        if not np.isfinite(few + many):
            return None
        each = max((many - few) / (more - FEW), 1e-6)
        points.append((len(rows), max(few - FEW * each, 0.0), each))
        a_row, at_once = _line([(n, before) for n, before, _ in points])
        a_cell, a_round = _line([(n, each) for n, _, each in points])
        speed = Speed(a_row, a_cell, a_round, at_once)
        if len(rows) == len(order) or place == len(PROBED) - 1:
            break
        n_rows, rounds = PROBED[place + 1]
        later = speed.seconds(n_rows, FEW) + speed.seconds(n_rows, rounds)
        if time.perf_counter() - start + later > (limit if place else 3 * left):
            break
    # Grown again on all rows once the number of rounds is known.
    again = 1.0 if getattr(_last(learner), "refit", None) is None else 2.0
    return replace(speed, a_cell=again * speed.a_cell, a_round=again * speed.a_round)


def _line(points: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Return what a row takes, and what is left for no rows, by the last two numbers of rows."""
    size, took = points[-1]
    rate = took / size
    if len(points) > 1:
        fewer, less = points[-2]
        rate = float(np.clip((took - less) / (size - fewer), LEAST_GROWTH * rate, rate))
    return rate, took - rate * size


def _probe(learner: Any, data: TrainingData, rows: IntArray, seed: int, rounds: int) -> float:
    start = time.perf_counter()
    few = {"early_stopping": False} if _is_booster(learner) else {}
    if not trial(_with(learner, **{_rounds_name(learner): rounds}, **few), data, rows, seed):
        return float("inf")
    return time.perf_counter() - start


def _rounds_name(learner: Any, *, plain: bool = True) -> str:
    """Return what a booster, of whatever library, calls its number of rounds; "" for others.

    With categories, what CatBoost does in a round grows faster than its rows: it is not ``plain``.
    """
    last = _last(learner)
    if isinstance(last, NewtonBoosting) or package_of(last) == "xgboost":
        return "n_estimators"
    told = package_of(last) == "catboost" and "cat_features" in last.get_params()
    return "iterations" if package_of(last) == "catboost" and not (plain and told) else ""


def _shortened(learner: Any) -> Any:
    name = _rounds_name(learner, plain=False)
    return _with(learner, **{name: -(-_last(learner).get_params()[name] // BRIEF)})


def _is_booster(learner: Any) -> bool:
    return isinstance(_last(learner), NewtonBoosting)


def _last(learner: Any) -> Any:
    return learner.steps[-1][1]


def _with(learner: Any, **parameters: Any) -> Any:
    name = learner.steps[-1][0]
    return prepared(learner, None).set_params(
        **{f"{name}__{key}": v for key, v in parameters.items()}
    )
