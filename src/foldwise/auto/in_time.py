"""A budget always ends in a model: what is quick here, then all in workers, or else a constant."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from foldwise.auto.plan import FitPlan
from foldwise.engine.executor import QUIET
from foldwise.engine.processes.pool import warm
from foldwise.errors import AllLearnersFailedError, listing, warn

# A stack whose learners were all stopped by the clock has spent more of its time than this.
OUT_OF_TIME = 0.5
# What was quick enough to be first is given time even if it takes longer than expected.
MOST_FOR_FIRST = 0.6
HERE = {"n_jobs": 1, "executor": None}


@dataclass(frozen=True)
class TimedFit:
    """How a stack is fitted before time is up."""

    owner: str
    # called with learners by name, ``thorough``, ``time_budget``, ``n_jobs``, ``executor`` and the
    # ``first`` stack or None, whose fits are not done again
    fit: Callable[..., Any]
    learners: Mapping[str, Any]  # all that were planned, and the constant
    left: Callable[[], float]  # tells the seconds left
    there: Mapping[str, Any]  # where what may be slow is fitted
    keep: bool  # whether Ctrl-C leaves what is there


def fit_in_time(timed: TimedFit, plan: FitPlan, constant: str) -> tuple[Any, str]:
    """Return the stack that time suffices for, and why it is not the planned one, or ""."""
    more = plan.names != plan.here
    if more and timed.there["executor"] == "processes":
        # To know this function, a worker imports all that members need.
        warm(timed.there["n_jobs"], fit_in_time)
    first = None
    if plan.here:
        seconds = MOST_FOR_FIRST * timed.left() if more else timed.left()
        first = _tried(timed, plan.here, seconds, HERE, quiet=more)
        if first is not None and (not more or first.run_.reason == "interrupted"):
            return first, ""
    if first is None:
        # Before the others, not after them: then there would be no time left.
        alone = {**HERE, "final_estimator": "mean"}
        first = _tried(timed, (constant,), None, alone, quiet=more)
    reason, real = "time budget", [name for name in _members(first) if name != constant]
    if more:
        try:
            before = first if real else None
            full = _tried(timed, plan.names, timed.left(), timed.there, quiet=False, first=before)
        except KeyboardInterrupt:
            if not timed.keep:
                raise
            full, reason = None, "interrupted"
        # Not the one with the better score: that would be the better of two.
        if full is not None and len(_members(full)) > len(real):
            return full, ""
    _warn(timed.owner, reason, _members(first), constant)
    return first, reason


def _tried(
    timed: TimedFit,
    names: Sequence[str],
    seconds: float | None,
    where: Mapping[str, Any],
    *,
    quiet: bool,
    first: Any = None,
) -> Any:
    """Return a fitted stack, or None if time did not suffice for any of its learners."""
    start = time.perf_counter()
    learners = {name: timed.learners[name] for name in names}
    # What it lacks is told of the stack that is returned.
    with QUIET if quiet else nullcontext():
        try:
            how = {"thorough": not quiet and seconds is not None, "first": first}
            return timed.fit(learners, time_budget=seconds, **how, **where)
        except AllLearnersFailedError:
            if seconds is None or (
                not quiet and time.perf_counter() - start < OUT_OF_TIME * seconds
            ):
                raise
            return None


def _members(stack: Any) -> list[str]:
    return [name for name, _ in stack.estimators if name not in stack.failures_]


def _warn(owner: str, reason: str, names: Sequence[str], constant: str) -> None:
    what = f"holds only {listing(names)}"
    if list(names) == [constant]:
        what = "is a constant, since no learner was finished"
    told = "was interrupted" if reason == "interrupted" else "was ended by time_budget"
    warn(
        f"{owner}: the fit {told} and the model {what}. Fit again with more time; with run_dir= "
        "nothing finished is fitted twice."
    )
