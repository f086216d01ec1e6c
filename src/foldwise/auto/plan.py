"""What fits into a time budget: one trial of each member on some rows, then arithmetic.

The plan of a run that is to be continued is kept in its folder: measured times must not change it.
"""

import contextlib
import gc
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from foldwise.arrays import IntArray
from foldwise.auto.portfolio.member import TableProfile
from foldwise.engine.executor import QUIET, Together, one_thread
from foldwise.engine.files import write_whole
from foldwise.learners import Assignment, NodeTask, TrainingData, fit_at_node
from foldwise.stack.judge.in_time import combining_seconds

TRIAL_ROWS = 1000
# A trial of a large problem is made only after a smaller one has told what it will take.
FIRST_TRIAL_ROWS, TRIAL_GROWS = 60, 4
# Time grows with the rows at least by this part of it.
LEAST_GROWTH = 0.25
# Rows, times columns and levels, times classes.
SMALL_TABLE, MODEST_TABLE = 20_000, 200_000
TRIAL_SHARE, SHORT_TRIAL_SHARE = 0.1, 0.3
WARM_SHARE = 0.1
# What a first trial of another learner may take, as times that of the first, which is a cheap one.
OTHERS_TIMES = 5.0
# Workers take seconds to come up: a shorter budget is spent in this process.
SHORT_SECONDS, LONG_SECONDS = 8.0, 30.0
# What runs in this process cannot be ended: a single fit may take this share of the time.
SINGLE_SHARE, SINGLE_SECONDS = 0.05, 1.0
# The time for a first model before workers begin.
FIRST_SHARE, FIRST_SECONDS = 0.1, 1.0
# Where there will be no workers, what the only learner may take: estimates err by a factor of two.
ONLY_SHARE = 0.5
SPENDABLE = 0.9
# More folds help more than the last members of the portfolio.
ENOUGH = 1 / 3
USUAL_FOLDS, UNTRIED = 5, 2.0
OVERBOOKED = 2.0
HELD_OUT = 0.2
# Of so many rows, two neighbours of a fold are enough to train what judges it, if not many classes.
RING_ROWS, RING = 4000, 2
FILE = "auto.json"


@dataclass(frozen=True)
class FitPlan:
    """Which members are fitted, and how often."""

    names: tuple[str, ...]  # the members
    folds: int  # number of folds; 1 for a single split
    skipped: Mapping[str, str]  # members left out, with the reason
    here: tuple[str, ...] = ()  # members quick enough to be fitted in this process, first
    # of boosters: the rounds that were counted for the time there is, None for as many as they
    # find, and most seconds of a fit
    bounds: Mapping[str, tuple[int | None, float]] = field(default_factory=dict)
    n_rows: int | None = None  # how many rows, drawn at random, there is time for; None: all
    ring: bool = False  # whether a fold is judged by its neighbours alone
    # seconds for each row that members are expected to take
    expected: Mapping[str, float] = field(default_factory=dict)

    @property
    def counted(self) -> list[str]:
        """The boosters whose rounds were counted for the time there is."""
        return [name for name, (rounds, _) in self.bounds.items() if rounds is not None]

    @property
    def partners(self) -> int | str:
        """With how many others a fold is paired."""
        return RING if self.ring and self.folds > 1 else "all"


def fits_of(folds: int, ring: bool = False) -> float:
    """Return how many fits on all rows the nodes of a member are worth.

    Examples
    --------
    >>> [fits_of(folds) for folds in (1, 3, 5, 8)], [fits_of(folds, True) for folds in (1, 3, 5, 8)]
    ([0.8, 3.0, 10.0, 28.0], [0.8, 3.0, 7.0, 13.0])
    """
    if folds == 1:
        return 1.0 - HELD_OUT
    pairs = min(RING, folds - 1) if ring else folds - 1
    return folds - 1 + pairs / 2 * (folds - 2)


def longest_of(folds: int) -> float:
    """Return what fits that wait for each other are worth: no number of workers makes them shorter.

    A booster's rounds are found without two folds, before it is grown without one.
    """
    return 1.0 - HELD_OUT if folds == 1 else 2.0 - 3.0 / folds


@dataclass(frozen=True)
class Trials:
    """What fits of a member to some rows took, and by what power of the rows that grows."""

    made: tuple[tuple[int, float], ...]  # rows and seconds, the fewest rows first
    power: float = 1.0
    lone: bool = False  # whether the time for larger ones was not there

    def seconds(self, n_rows: int) -> float:
        """Return what a fit to some rows takes, rather too much: some fits cannot be ended."""
        return _grown(self.made, n_rows, self.power)

    def likely(self, n_rows: int) -> float:
        """Return the same, but most of a lone small trial was not due to its rows."""
        took = self.made[-1][1]
        return took + (LEAST_GROWTH if self.lone else 1.0) * (self.seconds(n_rows) - took)

    def times(self, factor: float) -> "Trials":
        """Return the trials of a learner that takes so many times as long."""
        return replace(self, made=tuple((size, factor * took) for size, took in self.made))


def tried(
    learners: Mapping[str, Any],
    powers: Mapping[str, float],
    data: TrainingData,
    *,
    limit: float,
    seed: int,
    small: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Trials]:
    """Return the trials of each learner that there was time for.

    The first learner is tried in any case; unless the table is small, a larger trial is made only
    where a smaller one allows it.
    """
    order = trial_order(data, seed)
    sizes = (len(order),) if small else _trial_sizes(data, len(order))
    found: dict[str, Trials] = {}
    start, warm, least = clock(), 0.0, 0.0
    if not small:
        # The first fit of all is slow for what it loads; that is not the learner's time.
        trial(next(iter(learners.values())), data, order[: sizes[0]], seed)
        warm = clock() - start
    for name, learner in learners.items():
        # But where it is slow for its columns, it is not made again.
        known = not found and warm > WARM_SHARE * limit
        trials: list[tuple[int, float]] = [(sizes[0], warm)] if known else []
        for size in sizes[len(trials) :]:
            now = clock()
            # Its columns take the same time again, its rows hardly any.
            expected = warm if known else _grown(trials[-1:], size, powers[name])
            expected = expected or OTHERS_TIMES * least
            known = False
            if (found or trials) and now - start + expected > limit:
                break
            if not trial(learner, data, order[:size], seed):
                break
            trials.append((size, clock() - now))
        if trials:
            least = least or trials[0][1]
            found[name] = Trials(tuple(trials), powers[name], len(trials) == 1 < len(sizes))
    return found


def _grown(trials: Sequence[tuple[int, float]], n_rows: int, power: float) -> float:
    """Return what a fit of many rows takes, by trials of few: some time is spent on any rows.

    Examples
    --------
    >>> _grown([(10, 3.0)], 100, 1.0), _grown([(10, 3.0), (20, 4.0)], 100, 1.0)
    (30.0, 12.0)
    """
    if not trials:
        return 0.0
    size, took = trials[-1]
    rate = took / size**power
    if len(trials) > 1:
        before, less = trials[-2]
        rate = max((took - less) / (size**power - before**power), LEAST_GROWTH * rate)
    return took + rate * (n_rows**power - size**power)


def trial(learner: Any, data: TrainingData, rows: IntArray, seed: int) -> bool:
    """Fit a learner to some rows, and tell whether it could be."""
    method = "predict" if data.n_classes is None else "predict_proba"
    rows = np.sort(rows)
    task = NodeTask(rows, rows[:50], seed, False)
    # Threads as fits will have them: those of BLAS wait for each other, forty times the work.
    with QUIET, _TIMED, one_thread("blas"), one_thread("openmp"):
        # What is said of few rows need not be true of all.
        (fit,) = fit_at_node([Assignment(learner, method, seed)], data, task)
    return not isinstance(fit, Exception)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Collect no garbage meanwhile: that takes longer than many a trial, and is not its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


_TIMED = Together(_uncollected)


def is_small(profile: TableProfile, *, modest: bool = False) -> bool:
    """Tell whether any fit to a table is a matter of moments, or (``modest``) of seconds."""
    size = profile.n_rows * profile.width * (profile.n_classes or 1)
    return size <= (MODEST_TABLE if modest else SMALL_TABLE)


def _trial_sizes(data: TrainingData, most: int) -> tuple[int, ...]:
    first = max(FIRST_TRIAL_ROWS, 5 * (data.n_classes or 0))
    smaller = [first * TRIAL_GROWS**step for step in range(3)]
    return (*(size for size in smaller if size <= most / 2), most)


def trial_order(data: TrainingData, seed: int, most: int = TRIAL_ROWS) -> IntArray:
    """Return the rows of the largest trial; the first of them are a smaller one."""
    order = np.random.default_rng(seed).permutation(data.X.shape[0])
    if data.n_classes is None:
        return order[:most]
    # One row of each class first: a learner must not meet fewer classes than there are.
    _, first = np.unique(data.y[order], return_index=True)
    rest = np.delete(order, first)
    return np.concatenate([order[first], rest])[: max(most, len(first))]


def plan_for(
    names: Sequence[str],
    seconds: Mapping[str, float],
    *,
    budget: float,
    workers: int,
    folds: Sequence[int],
    combining: Callable[[int], float] = lambda _: 0.0,
    modest: bool = False,
    ring: bool = False,
) -> FitPlan:
    """Return the most folds that can be afforded, and the members that can be at these.

    More folds than usual must be affordable for all members, others for a third of them, or for as
    many as a single split is; one that was not tried is taken to be ``UNTRIED`` times as slow as
    the slowest that was. The fewest folds of a ``modest`` table are enough for one: its first fits
    are slow for what they load.
    ``combining``: Tells what one member more costs the stacker, by the number of folds.

    Examples
    --------
    >>> cheap = {"a": 0.1, "b": 0.1}
    >>> plan_for(["a", "b"], cheap, budget=10, workers=1, folds=(5, 3)).folds
    5
    >>> plan = plan_for(["a", "b"], {"a": 1.0, "b": 9.0}, budget=10, workers=1, folds=(5, 3))
    >>> plan.names, plan.folds
    (('a',), 3)
    """
    spendable = SPENDABLE * budget
    untried = UNTRIED * max(seconds.values(), default=np.inf)

    def guess(number: int) -> dict[str, float]:
        each = {name: seconds.get(name, untried) for name in names}
        fits, longest = fits_of(number, ring) / workers, longest_of(number)
        return {
            name: fits * took + combining(number) if longest * took <= spendable else np.inf
            for name, took in each.items()
        }

    enough = min(ENOUGH * len(names), len(affordable(names, guess(1), spendable)))
    for number in (*folds, 1):
        guessed = guess(number)
        costs = {name: guessed[name] for name in names if name in seconds}
        kept = affordable(names, costs, spendable)
        perhaps = kept if number > USUAL_FOLDS else affordable(names, guessed, spendable)
        wanted = len(names) if number > USUAL_FOLDS else enough
        if kept and (len(perhaps) >= wanted or (modest and number == min(folds))):
            break
    first = [name for name in names if name in kept] or [
        min(names, key=lambda name: seconds.get(name, np.inf))
    ]
    # Estimates err: what may still fit comes last, and the run leaves it out if time is up.
    hoped = affordable(names, costs, OVERBOOKED * spendable)
    later = [n for n in names if n not in first and (n in hoped or n not in seconds)]
    reason = f"time budget: too slow for {number} folds" if number > 1 else "time budget"
    chosen = (*first, *later)
    skipped = {name: reason for name in names if name not in chosen}
    return FitPlan(chosen, number, skipped, ring=ring)


def with_quick(
    plan: FitPlan,
    seconds: Mapping[str, float],
    *,
    budget: float,
    workers: int,
    small: bool,
    folds: Sequence[int] = (),
    combining: Callable[[int], float] = lambda _: 0.0,
) -> FitPlan:
    """Return the plan with the members that are fitted in this process before workers begin.

    ``workers``: How many there are; with none, what is not quick is left out, and what is left may
    be worth more ``folds``, unless its rounds were counted for fewer. With one only, all may be
    done here if all is quick. ``small``: Whether what was not tried is quick too.

    Examples
    --------
    >>> plan = FitPlan(("a", "b"), 5, {})
    >>> seconds = {"a": 0.1, "b": 9.0}
    >>> with_quick(plan, seconds, budget=20, workers=1, small=False).here
    ('a',)
    >>> with_quick(plan, seconds, budget=6, workers=0, small=False).skipped
    {'b': 'time budget: too slow without workers'}
    """
    unknown = 0.0 if small and not workers else np.inf
    fits = fits_of(plan.folds, plan.ring)
    costs = {name: fits * seconds.get(name, unknown) for name in plan.names}
    most = np.inf if small else min(SINGLE_SHARE * budget, SINGLE_SECONDS)
    first_time = min(FIRST_SHARE * budget, FIRST_SECONDS)
    # Rounds that were counted for the time there is may take it: here, unless workers that take
    # long to come up would be idle for longer.
    counted = plan.counted[: 1 if workers else None]
    if workers and (plan.folds > 1 or (workers > 1 and budget >= LONG_SECONDS)):
        counted = []
    sure = () if workers else counted
    cheap = [n for n in plan.names if n in sure or seconds.get(n, unknown) <= most]
    if not cheap:
        first = min(plan.names, key=lambda name: costs[name])
        most = first_time if workers else ONLY_SHARE * budget
        cheap = [first] if costs[first] <= most else []
    quick = affordable(cheap, costs, SPENDABLE * budget)
    if workers and (workers > 1 or len(quick) < len(plan.names)):
        quick = set(counted) or affordable(cheap, costs, first_time)
    here = tuple(name for name in plan.names if name in quick)
    if workers:
        return replace(plan, here=here)
    late = [name for name in plan.names if name not in quick]
    reasons = dict.fromkeys(late, "time budget: too slow without workers")
    each = sum(seconds.get(name, unknown) for name in here)
    number = plan.folds
    for more in [n for n in folds if here and not plan.counted and n > plan.folds]:
        # Some of a fit's time does not depend on rows: as if all of them had all rows.
        fits = 2 * more if plan.ring else more * (more + 1) / 2
        if fits * each + len(here) * combining(more) <= ONLY_SHARE * budget:
            number = more
            break
    skipped = {**plan.skipped, **reasons}
    return replace(plan, names=here, folds=number, skipped=skipped, here=here)


def combining_time(
    n_rows: int, n_classes: int | None, folds: int, members: int, ring: bool = False
) -> float:
    """Return what one stacker takes."""
    # Of a single split the part held out is dealt into the usual folds.
    share, dealt = (HELD_OUT, USUAL_FOLDS) if folds == 1 else (1.0, folds)
    partners = RING if ring and folds > 1 else None
    return combining_seconds(share * n_rows, n_classes, members, dealt, partners)[0]


def affordable(names: Sequence[str], seconds: Mapping[str, float], spendable: float) -> set[str]:
    """Return the members that time suffices for, one after the other."""
    kept, spent = set(), 0.0
    for name in names:
        cost = seconds.get(name, np.inf)
        if spent + cost <= spendable:
            kept.add(name)
            spent += cost
    return kept


def planned(run_dir: str | os.PathLike[str], key: str, make: Callable[[], FitPlan]) -> FitPlan:
    """Return the plan made before in this folder for the same problem, or make and note it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = planned(folder, "key", lambda: FitPlan(("ridge",), 5, {}))
    ...     planned(folder, "key", lambda: FitPlan(("ridge",), 3, {})).folds
    5
    """
    path = Path(run_dir) / FILE
    noted = _noted(path, key)
    if noted is not None:
        return noted
    plan = make()
    # A folder that cannot be written to is refused, in words, once there is a fit to be kept.
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, [json.dumps({"key": key, **asdict(plan)}).encode()])
    return plan


def _noted(path: Path, key: str) -> FitPlan | None:
    try:
        note: dict[str, Any] = json.loads(path.read_bytes())
        if note["key"] != key:
            return None
        names, here = tuple(note["names"]), tuple(note["here"])
        bounds = {
            str(name): (None if rounds is None else int(rounds), float(most))
            for name, (rounds, most) in note["bounds"].items()
        }
        skipped, n_rows = dict(note["skipped"]), note["n_rows"]
        n_rows = None if n_rows is None else int(n_rows)
        expected = {str(name): float(took) for name, took in note["expected"].items()}
        how = (skipped, here, bounds, n_rows, note["ring"], expected)
        return FitPlan(names, int(note["folds"]), *how)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        # No plan, or not one of ours: a new one is as good.
        return None
