"""What fits into a time budget: one trial of each member on some rows, then arithmetic.

The plan of a run that is to be continued is kept in its folder: measured times must not change it.
"""

import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from foldwise.arrays import IntArray
from foldwise.engine.files import write_whole
from foldwise.learners import Assignment, NodeTask, TrainingData, fit_at_node

TRIAL_ROWS = 1000
TRIAL_SHARE = 0.1
SPENDABLE = 0.9
# More folds help more than the last members of the portfolio.
ENOUGH = 1 / 3
USUAL_FOLDS = 5
OVERBOOKED = 2.0
HELD_OUT = 0.2
FILE = "auto.json"


@dataclass(frozen=True)
class FitPlan:
    """Which members are fitted, and how often."""

    names: tuple[str, ...]  # the members
    folds: int  # number of folds; 1 for a single split
    skipped: Mapping[str, str]  # members left out, with the reason


def fits_of(folds: int) -> float:
    """Return how many fits on all rows the nodes of a member are worth.

    Examples
    --------
    >>> [fits_of(folds) for folds in (1, 3, 5, 8)]
    [0.8, 3.0, 10.0, 28.0]
    """
    return 1.0 - HELD_OUT if folds == 1 else folds * (folds - 1) / 2


def trial_seconds(
    learners: Mapping[str, Any],
    powers: Mapping[str, float],
    data: TrainingData,
    *,
    limit: float,
    seed: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return an estimate of the seconds each learner takes to fit all rows."""
    rows = _trial_rows(data, seed)
    task = NodeTask(rows, rows[:50], seed, False)
    grown = data.X.shape[0] / len(rows)
    method = "predict" if data.n_classes is None else "predict_proba"
    seconds: dict[str, float] = {}
    start = clock()
    for name, learner in learners.items():
        before = clock()
        if seconds and before - start > limit:
            break
        (fit,) = fit_at_node([Assignment(learner, method, seed)], data, task)
        if not isinstance(fit, Exception):
            seconds[name] = (clock() - before) * grown ** powers[name]
    return seconds


def _trial_rows(data: TrainingData, seed: int) -> IntArray:
    n_rows = data.X.shape[0]
    order = np.random.default_rng(seed).permutation(n_rows)
    if data.n_classes is None:
        return np.sort(order[:TRIAL_ROWS])
    # One row of each class first: a learner must not meet fewer classes than there are.
    _, first = np.unique(data.y[order], return_index=True)
    rest = np.delete(order, first)
    return np.sort(np.concatenate([order[first], rest])[: max(TRIAL_ROWS, len(first))])


def plan_for(
    names: Sequence[str],
    seconds: Mapping[str, float],
    *,
    budget: float,
    workers: int,
    folds: Sequence[int],
) -> FitPlan:
    """Return the most folds that can be afforded, and the members that can be at these.

    More folds than usual must be affordable for all members, others for a third of them.

    Examples
    --------
    >>> cheap = {"a": 0.1, "b": 0.1}
    >>> plan_for(["a", "b"], cheap, budget=10, workers=1, folds=(5, 3)).folds
    5
    >>> plan = plan_for(["a", "b"], {"a": 1.0, "b": 9.0}, budget=10, workers=1, folds=(5, 3))
    >>> plan.names, plan.folds
    (('a',), 3)
    """
    spendable = SPENDABLE * budget * workers
    for number in (*folds, 1):
        kept = _affordable(names, seconds, spendable / fits_of(number))
        if len(kept) >= (ENOUGH if number <= USUAL_FOLDS else 1.0) * len(names):
            break
    first = [name for name in names if name in kept] or [
        min(names, key=lambda name: seconds.get(name, np.inf))
    ]
    # Estimates err: what may still fit comes last, and the run leaves it out if time is up.
    hoped = _affordable(names, seconds, OVERBOOKED * spendable / fits_of(number))
    later = [n for n in names if n not in first and (n in hoped or n not in seconds)]
    reason = f"time budget: too slow for {number} folds" if number > 1 else "time budget"
    chosen = (*first, *later)
    return FitPlan(chosen, number, {name: reason for name in names if name not in chosen})


def _affordable(names: Sequence[str], seconds: Mapping[str, float], spendable: float) -> set[str]:
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
        return FitPlan(tuple(note["names"]), int(note["folds"]), dict(note["skipped"]))
    except (OSError, ValueError, KeyError, TypeError):
        # No plan, or not one of ours: a new one is as good.
        return None
