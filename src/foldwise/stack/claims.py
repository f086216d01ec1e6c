"""The numbers a less careful judge would report, beside the honest score."""

from collections.abc import Iterator, Sequence

import numpy as np

from foldwise.arrays import IntArray
from foldwise.diagnose import Claim
from foldwise.folds import Block
from foldwise.scores.metric import Metric
from foldwise.scores.response import Response
from foldwise.stack.build import Deal
from foldwise.stack.judge import Judge, inner_splits, joined
from foldwise.stack.reader import rows_of

Judged = tuple[IntArray, Response]

WHY = {
    "choice seen": "its stacker (or calibration) was chosen by the folds it is judged on",
    "features seen": "the learners behind its features saw the judged folds (and trained on "
    "more rows)",
    "fit seen": "its stacker was trained on the rows it is judged on",
}


def claims_of(deals: Sequence[Deal], judges: Sequence[Judge], metric: Metric) -> tuple[Claim, ...]:
    """Return the optimistic scores of a stack, each with its gap to the honest one."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for deal, judge in zip(deals, judges, strict=True):
        for name, judged in _optimistic(deal, judge):
            found.setdefault(name, []).append(_compared(deal, judged, metric))
    claims = []
    for name, each in found.items():
        score, gap, error = (float(np.mean(values)) for values in zip(*each, strict=True))
        claims.append(Claim(name, score, gap, error, WHY[name]))
    return tuple(claims)


def _optimistic(deal: Deal, judge: Judge) -> Iterator[tuple[str, Judged]]:
    option, reading = deal.verdict.option, deal.reading
    held = []
    for judgement in reading.judgements:
        stacker = judge.fit(option, judgement.train)
        held.append(judge.respond(stacker, judge.reader.features((judgement.test,))))
    finish = deal.verdict.finish
    yield "choice seen", (deal.verdict.rows, finish.apply(joined(held)))
    rows = rows_of(reading.final)
    if len(np.unique(rows)) < len(rows):
        return
    if deal.lattice.kind == "partition":
        yield "features seen", _cross_validated(deal, judge)
    features = judge.reader.features(reading.final)
    yield "fit seen", (rows, finish.apply(judge.respond(deal.verdict.stacker, features)))


def _cross_validated(deal: Deal, judge: Judge) -> Judged:
    """Cross-validate the stacker on plain out-of-fold features, as most libraries do."""
    responses: list[Response] = []
    tests: list[Block] = []
    for train, test in inner_splits(deal.reading.final, deal.reading):
        stacker = judge.fit(deal.verdict.option, train)
        responses.append(judge.respond(stacker, judge.reader.features(test)))
        tests += test
    return rows_of(tests), deal.verdict.finish.apply(joined(responses))


def _compared(deal: Deal, judged: Judged, metric: Metric) -> tuple[float, float, float]:
    """Return score, gap and standard error of the gap, on the rows both have judged."""
    rows, response = judged
    verdict = deal.verdict
    assert verdict.response is not None
    assert verdict.target is not None
    _, theirs, ours = np.intersect1d(rows, verdict.rows, return_indices=True)
    target = verdict.target.take(ours)
    optimistic = metric.evaluate(response.take(theirs), target)
    honest = metric.evaluate(verdict.response.take(ours), target)
    error = optimistic.error_of_difference(honest)
    return optimistic.score, optimistic.score - honest.score, error
