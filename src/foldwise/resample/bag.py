"""Fitting many learners on many draws, asking them, and judging them on rows they did not have."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import BaseDecisionTree

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.engine import Stream, fit_many
from foldwise.learners.one_learner import (
    LearnerInput,
    ask,
    draw_columns,
    fit_learner,
    seeded,
    weight_keyword,
)
from foldwise.resample.draws import TARGET_SCHEMES, Draws, NewTargets

# Sums are taken chunk by chunk: a fixed size gives the same bits whatever n_jobs is.
CHUNK = 10


@dataclass(frozen=True)
class BagPlan:
    """What every learner of a bag has in common."""

    learner: Any  # cloned for each draw
    table: LearnerInput  # all rows
    y: Array  # targets or class codes
    weight: FloatArray | None  # weights to pass on to the learners
    draws: Draws  # of the rows
    n_columns: int  # columns of each learner
    targets: NewTargets | None  # draws new targets


@dataclass(frozen=True)
class BagMember:
    """A fitted learner and the columns it reads (None for all)."""

    learner: Any
    columns: IntArray | None

    def answer(self, table: LearnerInput, method: str) -> Array:
        """Return what a method of the learner says about the rows."""
        return ask(self.learner, table.columns(self.columns), method)


# What one member says about rows, as numbers that can be added up.
Tally = Callable[[BagMember, LearnerInput], FloatArray]


def fit_member(plan: BagPlan, seed: int) -> BagMember:
    """Return the learner fitted on the draw of this seed.

    Rows are left out and repeated, never given a weight of zero, so that nothing a learner does
    before it looks at weights can see them; only scikit-learn's trees, where the two are the
    same, and the Bayesian bootstrap go by weights.
    """
    rng = np.random.default_rng([seed, 1])  # of columns, targets and its own seed; rows: [seed]
    columns = draw_columns(plan.table.X.shape[1], plan.n_columns, rng)
    y = plan.y if plan.targets is None else plan.targets(rng)
    learner = seeded(plan.learner, int(rng.integers(2**31 - 1)))
    table, weight = plan.table.columns(columns), plan.weight
    if plan.draws.scheme not in TARGET_SCHEMES:
        counts = plan.draws.rows(seed)
        exact = isinstance(learner, BaseDecisionTree) and weight_keyword(learner) is not None
        if plan.draws.scheme == "bayesian" or exact:
            weight = counts if weight is None else counts * weight
        else:
            rows = np.repeat(np.arange(len(counts)), counts.astype(np.intp))
            table, y = table.rows(rows), y[rows]
            weight = None if weight is None else weight[rows]
    return BagMember(fit_learner(learner, table, y, weight), columns)


def fit_members(
    plan: BagPlan, seeds: list[int], n_jobs: int | None, told: Stream | None = None
) -> list[BagMember]:
    """Return the learners fitted on the draws of the seeds, in their order."""
    trees = isinstance(plan.learner, BaseDecisionTree)
    return fit_many(fit_member, plan, seeds, n_jobs=n_jobs, told=told, threads=trees)


def mean_answer(
    members: list[BagMember], table: LearnerInput, tally: Tally, n_jobs: int | None
) -> FloatArray:
    """Return the mean of what the learners say."""
    chunks = [members[i : i + CHUNK] for i in range(0, len(members), CHUNK)]
    jobs = (delayed(_chunk_sum)(chunk, table, tally) for chunk in chunks)
    total: FloatArray | float = 0.0
    for part in Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(jobs):
        total = total + part
    return np.asarray(total) / len(members)


def _chunk_sum(members: list[BagMember], table: LearnerInput, tally: Tally) -> FloatArray:
    total = tally(members[0], table).astype(float)
    for member in members[1:]:
        total += tally(member, table)
    return total


def out_of_bag(
    members: list[BagMember],
    seeds: list[int],
    draws: Draws,
    table: LearnerInput,
    tally: Tally,
    width: int,
) -> FloatArray:
    """Return the mean answer to each row of the learners that did not have it.

    Shapes: returns (n_samples, width).
    """
    total, asked = np.zeros((len(table), width)), np.zeros(len(table))
    for member, seed in zip(members, seeds, strict=True):
        rows = np.flatnonzero(draws.rows(seed) == 0)
        if len(rows):
            total[rows] += tally(member, table.rows(rows)).reshape(len(rows), width)
            asked[rows] += 1
    seen = asked > 0
    result = np.full_like(total, np.nan)
    result[seen] = total[seen] / asked[seen, None]
    return result


def mean_and_error(
    influence: FloatArray, weight: FloatArray, group: IntArray | None
) -> tuple[float, float]:
    """Return the weighted mean of row-wise numbers and its standard error."""
    if not len(influence):
        return np.nan, np.nan
    share = weight / weight.sum()
    mean = float(share @ influence)
    parts, masses = share * (influence - mean), share
    if group is not None:
        parts, masses = np.bincount(group, weights=parts), np.bincount(group, weights=share)
    n_units = max(int(np.count_nonzero(masses)), 2)
    return mean, float(np.sqrt(np.sum(parts**2) * n_units / (n_units - 1)))


def r2_with_error(
    y: FloatArray, prediction: FloatArray, weight: FloatArray, group: IntArray | None
) -> tuple[float, float]:
    """Return R² and its standard error, by the delta method from the rows."""
    if not len(y):
        return np.nan, np.nan
    share = weight / weight.sum()
    squared, around = (y - prediction) ** 2, (y - share @ y) ** 2
    variance = float(share @ around)
    if variance <= 0:
        return (1.0 if not squared.any() else 0.0), 0.0
    loss = float(share @ squared) / variance
    _, error = mean_and_error(squared / variance - loss * around / variance, weight, group)
    return 1 - loss, error


def accuracy_with_error(
    codes: IntArray, share_of_votes: FloatArray, weight: FloatArray, group: IntArray | None
) -> tuple[float, float]:
    """Return the accuracy and its standard error."""
    right = (share_of_votes.argmax(axis=1) == codes).astype(float)
    return mean_and_error(right, weight, group)
