"""Judging before time is up: a plain mean first, then the first stacker, then all of them."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from foldwise.folds import Block
from foldwise.scores.metric import Response, Target
from foldwise.stack.judge.calibrate import Correction
from foldwise.stack.judge.judge import Contest, Judge, Option
from foldwise.stack.problem import StackProblem
from foldwise.stack.stackers.candidates import Candidate, candidates_from, response_kind
from foldwise.stack.stackers.means import WeightedMean

Judged = TypeVar("Judged")
# Half of what a budget may be exceeded by: what fits took too long must not cost the stacker.
GRACE_SHARE, GRACE_SECONDS = 0.05, 1.0


class OutOfTimeError(Exception):
    """Time was up before the stacker was judged."""


@dataclass(frozen=True)
class TimedJudge(Judge):
    """A judge that stops, between two stackers, once time is up."""

    until: float = float("inf")  # by time.monotonic

    def _check(self) -> None:
        if time.monotonic() > self.until:
            raise OutOfTimeError

    def _fit_all(
        self, candidates: Iterable[Candidate], blocks: Sequence[Block]
    ) -> dict[Option, Any]:
        return super()._fit_all(self._while_time(candidates), blocks)

    def _while_time(self, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
        for candidate in candidates:
            self._check()
            yield candidate

    def correction(self, held: tuple[Response, Target] | None) -> Correction | None:
        """Return calibration and threshold, if there is time."""
        self._check()
        return super().correction(held)


def judged_in_time(
    judged: Callable[[Contest, float], Judged],
    contest: Contest,
    problem: StackProblem,
    until: float,
) -> tuple[Judged, bool]:
    """Return what is judged by as much of a contest as time allows, and whether that is all of it.

    ``judged``: Called with a contest and the time by which it raises :class:`OutOfTimeError`.
    """
    first, *longer = _steps(contest, problem)
    found, whole = judged(first, float("inf")), first is contest
    took = 0.0
    for step in longer:
        start = time.monotonic()
        if start + took * _points(step) > until:
            break
        try:
            found, whole = judged(step, until), step is contest
        except OutOfTimeError:
            break
        # Each point of a grid takes about as long as one of the first stacker.
        took = (time.monotonic() - start) / _points(step)
    return found, whole


def _points(contest: Contest) -> int:
    return sum(len(candidate.grid) for candidate in contest.candidates)


def _steps(contest: Contest, problem: StackProblem) -> list[Contest]:
    """Return contests to be judged one after the other, from the shortest to the one asked for."""
    first, several = contest.candidates[0], len(contest.candidates) > 1 or bool(contest.methods)
    alone = replace(contest, candidates=(first,), methods=())
    plain = isinstance(first.estimator, WeightedMean) and len(first.grid) == 1
    # A first answer is to be there at once, unless it must be a cheap one.
    thrift = contest.thrift if contest.thrift and contest.thrift.seconds < float("inf") else None
    mean = replace(
        alone, candidates=candidates_from("mean", problem, contest.metric, ""), thrift=thrift
    )
    steps = [] if plain else [mean]
    # Decision values cannot be scored as probabilities before they are calibrated.
    if several and not (contest.methods and response_kind(first.estimator) == "decision"):
        steps.append(alone)
    return [*steps, contest]
