"""A fitted stack as diagnosis sees it: honest predictions of every learner for every row."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.diagnose import OutOfFoldTable
from foldwise.learners.prepare import prepared
from foldwise.scores.metric import Target
from foldwise.scores.response import Response, joined
from foldwise.stack.fit import FittedStack
from foldwise.stack.results.leaderboard import honest_score
from foldwise.stack.results.optimism import optimistic_claims
from foldwise.stack.stackers.means import MemberStacker
from foldwise.stack.table.read import Features, all_classes, clip_amount
from foldwise.stack.table.table import rows_of, weights_of


def out_of_fold_table(stacks: Sequence[FittedStack]) -> OutOfFoldTable:
    """Return what :mod:`foldwise.diagnose` looks at, on the rows that every repeat judges."""
    names, rows = common_names(stacks), _common_rows(stacks)
    data, (score, error) = stacks[0].problem.data, honest_score(stacks)
    return OutOfFoldTable(
        names,
        np.stack([_hold_out(stack, names, rows) for stack in stacks]),
        data.y[rows],
        stacks[0].problem.labels,
        None if data.sample_weight is None else data.sample_weight[rows],
        _fold_of(stacks[0], rows),
        score_of=SubsetScore(tuple(stacks), names),
        metric=stacks[0].metric.name,
        claims=lambda: optimistic_claims(stacks),
        score=score,
        score_se=error,
    )


def common_names(stacks: Sequence[FittedStack]) -> tuple[str, ...]:
    """Return the learners that no repeat has dropped, in their order."""
    every = [{entry.name for entry in stack.top.entries} for stack in stacks]
    return tuple(e.name for e in stacks[0].top.entries if all(e.name in names for names in every))


def _common_rows(stacks: Sequence[FittedStack]) -> IntArray:
    rows = np.sort(stacks[0].verdict.rows)
    for stack in stacks[1:]:
        rows = np.intersect1d(rows, stack.verdict.rows)
    return rows


def _hold_out(stack: FittedStack, names: Sequence[str], rows: IntArray) -> FloatArray:
    """Return predictions of shape (n_rows, n_learners, width), all classes written out."""
    blocks = [judgement.test for judgement in stack.reading.judgements]
    features = stack.top.features(blocks).of(names)
    members = features.members if features.labels is None else all_classes(features.members)
    order = np.argsort(rows_of(blocks))
    places = order[np.searchsorted(rows_of(blocks), rows, sorter=order)]
    return members[places]


def _fold_of(stack: FittedStack, rows: IntArray) -> IntArray:
    fold = np.full(stack.lattice.n_rows, -1, dtype=np.intp)
    for judgement in stack.reading.judgements:
        fold[judgement.test.rows] = judgement.fold
    return fold[rows]


@dataclass(frozen=True)
class JudgedFeatures:
    """What one judged fold's stacker is trained and asked on."""

    train: Features
    test: Features
    y: Array
    weight: FloatArray | None


@dataclass(frozen=True)
class SubsetScore:
    """The honest score of the stack that has only some of its learners."""

    stacks: tuple[FittedStack, ...]  # one a repeat
    names: tuple[str, ...]  # the learners that subsets number

    def __call__(self, subset: tuple[int, ...]) -> float:
        """Fit the deployed kind of stacker on some learners, without each fold, and judge it.

        Calibration is left out: it is the same for all subsets.
        """
        names = [self.names[m] for m in subset]
        with self._threads.limit(limits=1, user_api="blas"):
            scores = [
                stack.metric.score(self._held(number, names), self._targets[number])
                for number, stack in enumerate(self.stacks)
            ]
        return float(np.mean(scores))

    @cached_property
    def _threads(self) -> ThreadpoolController:
        # Found once: looking for the libraries takes longer than most fits here.
        return ThreadpoolController()

    @cached_property
    def _targets(self) -> list[Target]:
        return [stack.judge.judged_target() for stack in self.stacks]

    def _held(self, number: int, names: Sequence[str]) -> Response:
        stack, bare = self.stacks[number], self._bare[number]
        judge, candidate = stack.judge, stack.judge.candidate(stack.verdict.option)
        each = []
        for part in self._folds[number]:
            if not names:
                each.append(constant_response(part, len(part.test.outputs[0])))
                continue
            train = part.train.of(names)
            if isinstance(bare, MemberStacker):
                stacker = copy(bare).fit(bare.read(train), part.y, part.weight)
            else:
                (stacker,) = candidate.fit_grid(train, part.y, part.weight, judge.seed)
            each.append(judge.respond(stacker, part.test.of(names)))
        return joined(each)

    @cached_property
    def _bare(self) -> list[Any]:
        """The stackers before they are fitted; a copy of one is quicker made than a clone."""
        each = []
        for stack in self.stacks:
            candidate = stack.judge.candidate(stack.verdict.option)
            bare = prepared(candidate.estimator, stack.judge.seed)
            each.append(bare.set_params(**candidate.grid[0]))
        return each

    @cached_property
    def _folds(self) -> list[list[JudgedFeatures]]:
        return [
            [
                JudgedFeatures(
                    stack.top.features(judgement.train),
                    stack.top.features((judgement.test,)),
                    stack.problem.data.y[rows_of(judgement.train)],
                    weights_of(judgement.train, stack.problem.data.sample_weight),
                )
                for judgement in stack.reading.judgements
            ]
            for stack in self.stacks
        ]


def constant_response(part: JudgedFeatures, n_rows: int) -> Response:
    """Return what is known without any learner: the mean target, or how frequent classes are."""
    n_classes = part.train.n_classes
    if n_classes is None:
        mean = np.average(part.y.reshape(len(part.y), -1), axis=0, weights=part.weight)
        return Response("value", np.tile(mean, (n_rows, 1)))
    counts = np.bincount(part.y, weights=part.weight, minlength=n_classes)
    shares = np.maximum(counts / counts.sum(), clip_amount(part.train.amount))
    return Response("probability", np.tile(shares / shares.sum(), (n_rows, 1)))
