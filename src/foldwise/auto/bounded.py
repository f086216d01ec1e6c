"""Where no booster would be finished in time, one is given as many rounds as there is time for."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sklearn.base import clone

from foldwise.auto.plan import SPENDABLE, FitPlan, affordable, fits_of, trial, trial_order
from foldwise.boost.newton import NewtonBoosting
from foldwise.learners import TrainingData

PROBED_ROWS = 4000
FEW, MORE = 2, 8
# Of the time that is left, for the one booster.
BOOSTER_SHARE = 0.5
# With fewer rounds than the first, fewer folds are better; with fewer than the second, no booster.
ENOUGH_ROUNDS, FEWEST_ROUNDS = 100, 20
# Few rounds must be large steps: their sum, and the largest.
PROGRESS, LARGEST_STEP = 12.0, 0.3


def with_booster(
    plan: FitPlan,
    learners: Mapping[str, Any],
    seconds: Mapping[str, float],
    data: TrainingData,
    *,
    budget: float,
    workers: int,
    folds: Sequence[int],
    seed: int,
) -> tuple[FitPlan, dict[str, float]]:
    """Return the plan with a booster early that is sure to be finished, and what fits take.

    Linear members are quick on any table, but on many rows or classes far from the best.
    """
    boosters = [n for n in learners if isinstance(_last(learners[n]), NewtonBoosting)]
    costs = {n: took * fits_of(plan.folds) / workers for n, took in seconds.items()}
    sure = affordable(plan.names, costs, SPENDABLE * budget)
    if not boosters or sure & set(boosters):
        return plan, dict(seconds)
    name = boosters[0]
    a_round = seconds_a_round(learners[name], data, seed)
    for number in (plan.folds, *(f for f in folds if f < plan.folds), 1):
        # The only fit of a single split has one worker.
        work = fits_of(number) / (workers if number > 1 else 1)
        rounds = int(min(BOOSTER_SHARE * budget / (work * a_round), 1e6))
        if rounds >= ENOUGH_ROUNDS:
            break
    rounds = min(rounds, _last(learners[name]).n_estimators)
    if rounds < FEWEST_ROUNDS:
        return plan, dict(seconds)
    # What is cheapest comes before it: an estimate may be wrong.
    first = sorted(sure, key=lambda n: costs[n])[:1]
    others = [n for n in plan.names if n not in (name, *first)]
    skipped = {n: why for n, why in plan.skipped.items() if n != name}
    plan = replace(
        plan, names=(*first, name, *others), folds=number, skipped=skipped, rounds={name: rounds}
    )
    return plan, {**seconds, name: rounds * a_round}


def bounded(learner: Any, rounds: int) -> Any:
    """Return a booster of at most some rounds, with larger steps where they are few.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from foldwise import NewtonBoostingRegressor
    >>> booster = make_pipeline(NewtonBoostingRegressor(learning_rate=0.05))
    >>> few, many = bounded(booster, 60)[-1], bounded(booster, 600)[-1]
    >>> few.n_estimators, few.learning_rate, many.learning_rate
    (60, 0.2, 0.05)
    """
    step = max(_last(learner).learning_rate, min(PROGRESS / rounds, LARGEST_STEP))
    return _with(learner, n_estimators=rounds, learning_rate=step)


def seconds_a_round(learner: Any, data: TrainingData, seed: int) -> float:
    """Return what a round of a booster takes on all rows, about: infinitely much if it fails."""
    rows, spent = trial_order(data, seed, PROBED_ROWS), []
    for rounds in (FEW, FEW, MORE):
        start = time.perf_counter()
        if not trial(_with(learner, n_estimators=rounds, early_stopping=False), data, rows, seed):
            return float("inf")
        spent.append(time.perf_counter() - start)
    # The first fit of all is slow for what it loads.
    a_round = max((spent[2] - spent[1]) / (MORE - FEW), 1e-6) * data.X.shape[0] / len(rows)
    # Grown again on all rows once the number of rounds is known.
    return a_round * (1.0 if _last(learner).refit is None else 2.0)


def _last(learner: Any) -> Any:
    return learner.steps[-1][1]


def _with(learner: Any, **parameters: Any) -> Any:
    name = learner.steps[-1][0]
    return clone(learner).set_params(**{f"{name}__{key}": v for key, v in parameters.items()})
