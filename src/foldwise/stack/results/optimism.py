"""The numbers a less careful judge would report, beside the honest score."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from foldwise.arrays import IntArray
from foldwise.diagnose import Claim
from foldwise.folds import Block, Reading
from foldwise.scores.metric import Response, joined
from foldwise.stack.fit import FittedStack
from foldwise.stack.judge.further import fit_whole
from foldwise.stack.judge.judge import inner_splits
from foldwise.stack.stackers.candidates import corrected
from foldwise.stack.table.read import rows_of

Judged = tuple[IntArray, Response]

WHY = {
    "choice seen": "its stacker (or calibration) was chosen by the folds it is judged on",
    "features seen": "the learners behind its features saw the judged folds (and trained on "
    "more rows)",
    "fit seen": "its stacker was trained on the rows it is judged on",
}


def optimistic_claims(stacks: Sequence[FittedStack]) -> tuple[Claim, ...]:
    """Return the optimistic scores of a stack, each with its gap to the honest one."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for stack in stacks:
        for name, judged in _optimistic(stack):
            found.setdefault(name, []).append(_compared(stack, judged))
    claims = []
    for name, each in found.items():
        score, gap, error = (float(np.mean(values)) for values in zip(*each, strict=True))
        claims.append(Claim(name, score, gap, error, WHY[name]))
    return tuple(claims)


def _optimistic(stack: FittedStack) -> Iterator[tuple[str, Judged]]:
    reading, correction = stack.reading, stack.verdict.correction
    judged = _answered(stack, [(j.train, j.test) for j in reading.judgements])
    yield "choice seen", judged
    rows = rows_of(reading.final)
    if stack.lattice.kind == "partition":
        # The stacker cross-validated on plain out-of-fold features, as most libraries do; on those
        # of the folds that the honest one has, since fewer rows are no leak.
        yield "features seen", _answered(stack, _plain_splits(stack.reading))
    features = stack.top.features(reading.final).of(stack.verdict.names)
    response = stack.judge.respond(stack.verdict.stacker, features)
    yield "fit seen", (rows, corrected(response, correction))


def _plain_splits(reading: Reading) -> Iterator[tuple[tuple[Block, ...], Block]]:
    beside = {j.fold: {block.fold for block in j.train} for j in reading.judgements}
    for train, test in inner_splits(reading.final, reading):
        if reading.partners is not None:
            train = tuple(block for block in train if block.fold in beside.get(test.fold, ()))
        if train:
            yield train, test


def _answered(stack: FittedStack, splits: Iterable[tuple[tuple[Block, ...], Block]]) -> Judged:
    """Fit the deployed option on each split's training blocks, and predict its test block."""
    responses, tests = [], []
    for train, test in splits:
        judge = stack.judge.thrifty(train)
        stacker = fit_whole(judge, stack.verdict, train)
        responses.append(judge.respond(stacker, judge.layer.features((test,))))
        tests.append(test)
    return rows_of(tests), corrected(joined(responses), stack.verdict.correction)


def _compared(stack: FittedStack, judged: Judged) -> tuple[float, float, float]:
    """Return score, gap and standard error of the gap, on the rows both have judged."""
    rows, response = judged
    verdict = stack.verdict
    assert verdict.response is not None
    assert verdict.target is not None
    _, theirs, ours = np.intersect1d(rows, verdict.rows, return_indices=True)
    target = verdict.target.take(ours)
    optimistic = stack.metric.evaluate(response.take(theirs), target)
    honest = stack.metric.evaluate(verdict.response.take(ours), target)
    error = optimistic.error_of_difference(honest)
    return optimistic.score, optimistic.score - honest.score, error
