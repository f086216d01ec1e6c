"""A score made exact: what judged models lose for want of rows is taken out.

The models that predict a judged fold saw fewer rows than the deployed ones. How much that costs
is read from models one fold smaller still: their loss B, minus the loss C of the models without
the judged fold alone, is one step of the learning curve, and the next one is ``kappa`` times it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from foldwise.scores.metric import Evaluation, Metric

# Learning curves are not monotone where rows and columns are about as many.
MOST = 0.25


@dataclass(frozen=True)
class ScoreCorrection:
    """How far a score was moved from what the judged models say, and why no further."""

    kind: str  # "step", "limited" (the step had left its limits) or "none"
    reason: str  # one sentence
    size: float = 0.0  # corrected minus uncorrected score, in the scorer's sign; never negative


@dataclass(frozen=True)
class Exact:
    """One model's score before and after the correction."""

    evaluation: Evaluation  # corrected
    uncorrected: Evaluation
    raw: float = 0.0  # the step before its limits, in the scorer's sign
    limit: float = 0.0  # the largest step allowed


def next_step(alone: Sequence[int], pairs: Sequence[Sequence[int]], everything: int) -> float:
    """Return kappa: the next step of a 1/n learning curve, in units of the one that was seen.

    ``alone``: Training rows of the models without fold i. ``pairs``: for each i those of the models
    without i and one more. ``everything``: all rows. Folds that show no step are left out.

    Examples
    --------
    >>> round(next_step([80] * 5, [[60] * 4] * 5, 100), 6)
    0.6
    """
    steps = []
    for without, smaller in zip(alone, pairs, strict=True):
        seen = float(np.mean([1.0 / m for m in smaller])) - 1.0 / without
        if seen > 0:
            steps.append((1.0 / without - 1.0 / everything) / seen)
    return float(np.mean(steps)) if steps else 0.0


class RunningMean:
    """The mean of scores, which is linear in their contributions; these are kept once."""

    def __init__(self) -> None:
        self.scores: list[float] = []
        self.total: Any = 0.0

    def add(self, evaluation: Evaluation) -> None:
        """Take one more."""
        self.scores.append(evaluation.score)
        self.total = self.total + evaluation.contributions

    @property
    def evaluation(self) -> Evaluation:
        """What the mean of them is."""
        return Evaluation(float(np.mean(self.scores)), self.total / len(self.scores))


def stepped(
    judged: Evaluation, pairs: Evaluation, alone: Evaluation, kappa: float, best: float
) -> Exact:
    """Return the score after the step ``kappa * (alone - pairs)``, kept within its limits.

    ``best``: the best score there can be; the loss is what is missing to it, and the step is at
    least nothing and at most a quarter of that.
    """
    raw = kappa * (alone.score - pairs.score)
    limit = MOST * abs(best - judged.score)
    if not np.isfinite(raw) or raw <= 0:
        return Exact(judged, judged, raw, limit)
    share = kappa * min(1.0, limit / raw)
    moved = Evaluation(
        judged.score + share * (alone.score - pairs.score),
        judged.contributions + share * (alone.contributions - pairs.contributions),
    )
    return Exact(moved, judged, raw, limit)


def rooted(exact: Exact) -> Exact:
    """Return root mean squared errors for mean squared ones."""
    moved, judged = (_root(e) for e in (exact.evaluation, exact.uncorrected))
    return replace(exact, evaluation=moved, uncorrected=judged)


def _root(evaluation: Evaluation) -> Evaluation:
    root = float(np.sqrt(-evaluation.score))
    own = evaluation.contributions
    return Evaluation(-root, own / (2 * root) if root > 0 else own)


def correction_of(each: Sequence[Exact], metric: Metric) -> ScoreCorrection:
    """Say what was done to a score, over the repeats."""
    size = float(np.mean([e.evaluation.score - e.uncorrected.score for e in each]))
    if any(e.raw > e.limit for e in each):
        reason = (
            "the step that the learning curve shows is more than a quarter of the loss, so only a "
            "quarter was taken off"
        )
        return ScoreCorrection("limited", reason, size)
    if all(not e.raw > 0 for e in each):
        reason = "models of more rows did not judge better here, so nothing was taken off"
        return ScoreCorrection("limited", reason, size)
    words = f"the deployed models saw more rows than the judged ones, which is worth {size:.3g}"
    return ScoreCorrection("step", f"{words} of {metric.name.replace('_', ' ')}", size)
