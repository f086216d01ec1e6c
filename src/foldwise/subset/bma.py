"""Which models to average, and with what weights."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from foldwise.arrays import BoolArray, FloatArray
from foldwise.errors import invalid_parameter, warn
from foldwise.subset.columns import Choice
from foldwise.subset.criteria import Score
from foldwise.subset.exhaustive import count_subsets
from foldwise.subset.goals import WithinWindow
from foldwise.subset.mc3 import walk
from foldwise.subset.moments import Moments
from foldwise.subset.posterior import occams_window, probabilities
from foldwise.subset.progress import drive
from foldwise.subset.search import Found, Run, all_subsets, best_within, exact_rss, reduced_problem

ENUMERABLE = 1 << 20
SEARCHABLE_COLUMNS = 40
NEGLIGIBLE = 1e-13
"""Models that together have less of the posterior than this are dropped."""


@dataclass(frozen=True)
class Plan:
    """How to find the models."""

    method: str  # the way to go
    ratio: Any  # of Occam's window; None keeps all models
    strict: bool  # whether a model needs to beat its submodels
    max_models: int  # most models that branch and bound or the random walk keep
    n_steps: int  # length of the random walk
    random_state: int  # its seed

    def way(self, choice: Choice, max_size: int) -> str:
        """Return the method, decided."""
        if self.method != "auto":
            return self.method
        if count_subsets(choice.widths, max_size) <= ENUMERABLE:
            return "enumerate"
        return "branch_and_bound" if len(choice.units) <= SEARCHABLE_COLUMNS else "mc3"

    def window(self, way: str) -> float | None:
        """Return the ratio of Occam's window, decided."""
        if self.ratio != "auto":
            return None if self.ratio is None else float(self.ratio)
        return None if way == "enumerate" else 20.0


@dataclass(frozen=True)
class Averaged:
    """Models, best first, with their posterior probabilities."""

    kept: BoolArray  # (n_models, n_units): the models
    rss: FloatArray  # residual sums of squares, or deviances
    weights: FloatArray  # posterior probabilities; they sum to one
    complete: bool  # whether the search was finished


def find_models(
    moments: Moments, choice: Choice, max_size: int, score: Score, plan: Plan, run: Run
) -> Averaged:
    """Return the models to average over."""
    way = plan.way(choice, max_size)
    ratio = plan.window(way)
    if way == "enumerate":
        found = all_subsets(moments, choice, max_size, run)
    elif ratio is None:
        raise invalid_parameter(
            run.owner,
            "occam_ratio",
            must="be a number where not all models are enumerated",
            got=None,
            fix="Try 20.",
        )
    elif way == "branch_and_bound":
        found = best_within(
            moments,
            choice,
            max_size,
            score,
            run,
            slack=2 * np.log(ratio),
            at_most=plan.max_models,
        )
    else:
        found = _by_walking(moments, choice, max_size, score, plan, ratio, run)
    if way != "enumerate" and len(found.rss) == plan.max_models:
        warn(
            f"{run.owner}: Occam's window holds more than {plan.max_models} models; the most "
            "probable are kept. Raise max_models or lower occam_ratio."
        )
    return weigh(found, choice, score, ratio, strict=plan.strict)


def weigh(
    found: Found, choice: Choice, score: Score, ratio: float | None, *, strict: bool
) -> Averaged:
    """Return the models in Occam's window with their probabilities."""
    scores = score(found.rss, found.kept.sum(axis=1) + choice.n_always)
    finite = np.flatnonzero(np.isfinite(scores))
    order = finite[occams_window(found.kept[finite], scores[finite], ratio, strict=strict)]
    weights = probabilities(scores[order])
    enough = 1 + int(np.searchsorted(np.cumsum(weights), 1 - NEGLIGIBLE))
    order, weights = order[:enough], weights[:enough]
    return Averaged(found.kept[order], found.rss[order], weights / weights.sum(), found.complete)


def _by_walking(
    moments: Moments,
    choice: Choice,
    max_size: int,
    score: Score,
    plan: Plan,
    ratio: float,
    run: Run,
) -> Found:
    n_always, scale = choice.n_always, moments.scale[-1] ** 2

    def scaled(rss: FloatArray, size: Any) -> FloatArray:
        return score(rss * scale, size + n_always)

    problem = reduced_problem(moments, choice)
    slack = 2 * np.log(ratio)
    goal = WithinWindow(scaled, len(choice.units), max_size, problem.total, slack, plan.max_models)
    goal.offer(np.array([problem.total]), np.zeros((1, len(choice.units)), dtype=bool))
    rng = np.random.default_rng(plan.random_state)
    steps = walk(problem, scaled, goal, max_size, plan.n_steps, rng)
    complete = drive(steps, run.owner, verbose=run.verbose, time_limit=run.time_limit)
    return Found(goal.kept, exact_rss(moments, choice, goal.kept), complete)
