"""Fitting many learners on many draws, and asking them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import BaseDecisionTree

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.boost.learner import Table, ask, fit_learner, seeded, weight_keyword
from foldwise.resample.draws import TARGET_SCHEMES, Draws, draw_columns, learner_rng
from foldwise.resample.targets import NewClasses, NewNumbers

# Sums are taken chunk by chunk: a fixed size gives the same bits whatever n_jobs is.
CHUNK = 10


@dataclass(frozen=True)
class Plan:
    """What every learner of a bag has in common."""

    learner: Any  # cloned for each draw
    table: Table  # all rows
    y: Array  # targets or class codes
    weight: FloatArray | None  # weights to pass on to the learners
    draws: Draws  # of the rows
    n_columns: int  # columns of each learner
    targets: NewNumbers | NewClasses | None  # where new targets come from


@dataclass(frozen=True)
class Member:
    """A fitted learner and the columns it reads (None for all)."""

    learner: Any
    columns: IntArray | None

    def answer(self, table: Table, method: str) -> Array:
        """Return what a method of the learner says about the rows."""
        return ask(self.learner, table.columns(self.columns), method)


def fit_member(plan: Plan, seed: int) -> Member:
    """Return the learner fitted on the draw of this seed.

    Rows are left out and repeated, never given a weight of zero, so that nothing a learner does
    before it looks at weights can see them; only scikit-learn's trees, where the two are the
    same, and the Bayesian bootstrap go by weights.
    """
    rng = learner_rng(seed)
    columns = draw_columns(plan.table.X.shape[1], plan.n_columns, rng)
    y = plan.y if plan.targets is None else plan.targets.draw(rng)
    learner = seeded(plan.learner, int(rng.integers(2**31 - 1)))
    table = plan.table.columns(columns)
    if plan.draws.scheme in TARGET_SCHEMES:
        return Member(fit_learner(learner, table, y, plan.weight), columns)
    counts = plan.draws.rows(seed)
    exact = isinstance(learner, BaseDecisionTree) and weight_keyword(learner) is not None
    if plan.draws.scheme == "bayesian" or exact:
        weight = counts if plan.weight is None else counts * plan.weight
        return Member(fit_learner(learner, table, y, weight), columns)
    rows = np.repeat(np.arange(len(counts)), counts.astype(np.intp))
    passed = None if plan.weight is None else plan.weight[rows]
    return Member(fit_learner(learner, table.rows(rows), y[rows], passed), columns)


def _fit_chunk(plan: Plan, seeds: list[int]) -> list[Member]:
    return [fit_member(plan, seed) for seed in seeds]


def fit_members(
    plan: Plan, seeds: list[int], n_jobs: int | None, report: Callable[[int], None]
) -> list[Member]:
    """Return the learners fitted on the draws of the seeds, in their order."""
    chunks = [seeds[i : i + CHUNK] for i in range(0, len(seeds), CHUNK)]
    prefer = "threads" if isinstance(plan.learner, BaseDecisionTree) else None
    jobs = (delayed(_fit_chunk)(plan, chunk) for chunk in chunks)
    members: list[Member] = []
    for part in Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator")(jobs):
        members += part
        report(len(members))
    return members


def answers(members: list[Member], table: Table, method: str) -> Iterator[Array]:
    """Yield what each learner says about the rows."""
    return (member.answer(table, method) for member in members)


def mean_answer(
    members: list[Member],
    table: Table,
    tally: Callable[[Member, Table], FloatArray],
    n_jobs: int | None,
) -> FloatArray:
    """Return the mean of what the learners say."""
    chunks = [members[i : i + CHUNK] for i in range(0, len(members), CHUNK)]
    jobs = (delayed(_chunk_sum)(chunk, table, tally) for chunk in chunks)
    total: FloatArray | float = 0.0
    for part in Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(jobs):
        total = total + part
    return np.asarray(total) / len(members)


def _chunk_sum(
    members: list[Member], table: Table, tally: Callable[[Member, Table], FloatArray]
) -> FloatArray:
    total = tally(members[0], table).astype(float)
    for member in members[1:]:
        total += tally(member, table)
    return total
