"""A fitted stack as diagnosis sees it: honest predictions of every learner for every row."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.diagnose import OutOfFoldTable
from foldwise.engine.executor import one_thread
from foldwise.folds import Judgement
from foldwise.learners import prepared, take_rows
from foldwise.scores.metric import Response, joined
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
    names, rows = common_names(stacks), _common_rows(stacks)
    data, (score, error) = stacks[0].problem.data, uncorrected_score(stacks)
    return OutOfFoldTable(
        names,
        np.stack([_hold_out(stack, names, rows) for stack in stacks]),
        data.y[rows],
        stacks[0].problem.labels,
        None if data.sample_weight is None else data.sample_weight[rows],
        _fold_of(stacks[0], rows),
        score_of=SubsetScore(tuple(stacks), names),
        metric=stacks[0].metric.name,
        claims=None if any(map(_is_unread, stacks)) else lambda: optimistic_claims(stacks),
        score=score,
        score_se=error,
        unit=None if data.groups is None else data.groups[rows],
        scorer=stacks[0].metric,
    )


def _is_unread(stack: FittedStack) -> bool:
    """Tell whether boosting goes on from the stacker on rows that are not there any more."""
    return isinstance(stack.verdict.stacker, FurtherStacker) and stack.problem.numbers is None


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
class SubsetScore:
    """The honest score of the stack that has only some of its learners."""

    stacks: tuple[FittedStack, ...]  # one a repeat
    names: tuple[str, ...]  # the learners that subsets number

    def __call__(self, subset: tuple[int, ...]) -> float:
        """Fit each fold's kind of stacker on some learners, without the fold, and judge it.

        Calibration, threshold and what boosting adds are those of the fold's whole stack, for all
        subsets.
        """
        names = [self.names[m] for m in subset]
        with one_thread("blas"):
            return float(np.mean([repeat.score(names) for repeat in self._repeats]))

    @cached_property
    def _repeats(self) -> list["_Repeat"]:
        return [_Repeat(stack) for stack in self.stacks]


class _Repeat:
    """One fitted stack with its features read, to be judged again with some of its learners."""

    def __init__(self, stack: FittedStack) -> None:
        self.judge, self.target = stack.judge, stack.judge.judged_target()
        pairs = zip(stack.reading.judgements, stack.verdict.folds, strict=True)
        # Each fold by the choice made without it, as the score is made.
        self.folds = [_Fold(stack, judgement, judged) for judgement, judged in pairs]

    def score(self, names: Sequence[str]) -> float:
        """Return the score of the stack of some learners."""
        answers = joined([fold.answer(names) for fold in self.folds])
        return self.judge.contest.metric.score(answers, self.target)


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
