"""A fitted stack as diagnosis sees it: honest predictions of every learner for every row."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.diagnose import OutOfFoldTable
from foldwise.engine.executor import one_thread
from foldwise.folds import Judgement
from foldwise.learners import prepared, take_rows
from foldwise.scores.metric import Response, Target, joined
from foldwise.stack.fit import FittedStack
from foldwise.stack.judge.judge import JudgedFold
from foldwise.stack.results.leaderboard import uncorrected_score
from foldwise.stack.results.optimism import optimistic_claims
from foldwise.stack.stackers.candidates import corrected
from foldwise.stack.stackers.further import FurtherStacker
from foldwise.stack.stackers.means import MemberStacker
from foldwise.stack.table.read import Features, all_classes, clip_amount, rows_of


def out_of_fold_table(stacks: Sequence[FittedStack]) -> OutOfFoldTable:
    """Return what :mod:`foldwise.diagnose` looks at, on the rows that every repeat judges."""
    rows = np.sort(reduce(np.intersect1d, [stack.verdict.rows for stack in stacks]))
    names, data = common_names(stacks), stacks[0].problem.data
    score, error = uncorrected_score(stacks)
    # Boosting may go on from a stacker on rows that are not there any more.
    boosted = [s for s in stacks if isinstance(s.verdict.stacker, FurtherStacker)]
    unread = any(stack.problem.numbers is None for stack in boosted)
    return OutOfFoldTable(
        names,
        np.stack([_hold_out(stack, names, rows) for stack in stacks]),
        data.y[rows],
        stacks[0].problem.labels,
        None if data.sample_weight is None else data.sample_weight[rows],
        _fold_of(stacks[0], rows),
        score_of=SubsetScore(tuple(stacks), names),
        metric=stacks[0].metric.name,
        claims=None if unread else lambda: optimistic_claims(stacks),
        score=score,
        score_se=error,
        unit=None if data.groups is None else data.groups[rows],
        scorer=stacks[0].metric,
    )


def common_names(stacks: Sequence[FittedStack]) -> tuple[str, ...]:
    """Return the learners that no repeat has dropped, in their order."""
    every = [{entry.name for entry in stack.top.entries} for stack in stacks]
    return tuple(e.name for e in stacks[0].top.entries if all(e.name in names for names in every))


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
class SubsetScore:
    """The honest score of the stack that has only some of its learners."""

    stacks: tuple[FittedStack, ...]  # one a repeat
    names: tuple[str, ...]  # the learners that subsets number

    def __call__(self, subset: tuple[int, ...]) -> float:
        """Fit each fold's kind of stacker on some learners, without the fold, and judge it.

        Calibration, threshold and what boosting adds are those of the fold's whole stack, for all
        subsets.
        """
        names, scores = [self.names[m] for m in subset], []
        with one_thread("blas"):
            for stack, (folds, target) in zip(self.stacks, self._repeats, strict=True):
                answers = joined([fold.answer(names) for fold in folds])
                scores.append(stack.metric.score(answers, target))
            return float(np.mean(scores))

    @cached_property
    def _repeats(self) -> list[tuple[list["_Fold"], Target]]:
        """The folds of each repeat, by the choices made without them, and their targets."""
        repeats = []
        for stack in self.stacks:
            pairs = zip(stack.reading.judgements, stack.verdict.folds, strict=True)
            folds = [_Fold(stack, judgement, judged) for judgement, judged in pairs]
            repeats.append((folds, stack.judge.judged_target()))
        return repeats


class _Fold:
    """One judged fold, and the stacker that was chosen for it."""

    def __init__(self, stack: FittedStack, judgement: Judgement, judged: JudgedFold) -> None:
        self.judge, data, rows = stack.judge, stack.problem.data, rows_of(judgement.train)
        self.judged, self.candidate = judged, self.judge.candidate(judged.option)
        if self.judge.contest.metric.reads_rows:
            self.candidate = self.candidate.scored_on(take_rows(data.X, rows))
        self.bare = prepared(self.candidate.estimator, self.judge.seed)
        self.bare.set_params(**self.candidate.grid[0])
        self.train = stack.top.features(judgement.train)
        self.test = stack.top.features((judgement.test,))
        self.y, self.weight = data.y[rows], self.candidate.weights(stack.problem, judgement.train)

    def answer(self, names: Sequence[str]) -> Response:
        """Return what the stacker makes of some learners, fitted without the fold."""
        # Those the fold's stack was left with; of others alone it would not drop all.
        names = [name for name in names if name in self.judged.names] or names
        if not names:
            return constant_response(self.train, self.y, self.weight, len(self.test.outputs[0]))
        train = self.train.of(names)
        if isinstance(self.bare, MemberStacker):
            # A copy is quicker made than a clone.
            stacker = copy(self.bare).fit(self.bare.read(train), self.y, self.weight)
        else:
            (stacker,) = self.candidate.fit_grid(train, self.y, self.weight, self.judge.seed)
        response = self.judge.respond(stacker, self.test.of(names))
        if self.judged.steps is not None:
            response = self.judged.stacker.added(response, self.judged.steps, self.test.amount)
        return corrected(response, self.judged.correction)


def constant_response(
    train: Features, y: Array, weight: FloatArray | None, n_rows: int
) -> Response:
    """Return what is known without any learner: the mean target, or how frequent classes are."""
    if train.n_classes is None:
        mean = np.average(y.reshape(len(y), -1), axis=0, weights=weight)
        return Response("value", np.tile(mean, (n_rows, 1)))
    counts = np.bincount(y, weights=weight, minlength=train.n_classes)
    shares = np.maximum(counts / counts.sum(), clip_amount(train.amount))
    return Response("probability", np.tile(shares / shares.sum(), (n_rows, 1)))
