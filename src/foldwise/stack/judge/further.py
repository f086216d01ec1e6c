"""Stackers that boosting goes on from, judged as they are deployed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from joblib import Parallel, delayed

from foldwise.folds import Block, Judgement
from foldwise.scores.metric import Response, joined
from foldwise.stack.judge.calibrate import Correction
from foldwise.stack.judge.judge import Judge, JudgedFold, Verdict
from foldwise.stack.stackers.further import FurtherStacker, boosted_further, rounds_of
from foldwise.stack.table.read import rows_of, weights_of


def further_verdict(judge: Judge, found: Verdict) -> Verdict:
    """Return the verdict on stackers that boosting goes on from.

    It goes on from calibrated answers and lowers their log-loss: they are not calibrated again.
    Whether it pays is not chosen: within the rows that a judged fold's stacker was trained on, that
    can be told only from answers of learners that saw each other's folds, and these say no where
    fresh rows say yes.
    """
    contest = judge.contest
    known = found.folds and judge.layer.problem.numbers is not None
    if not known or judge.as_labels or contest.threshold is not None:
        return found
    judge = replace(judge, contest=replace(contest, methods=()))
    pairs = zip(judge.reading.judgements, found.folds, strict=True)
    work = [delayed(_judged)(judge, *pair) for pair in pairs]
    whole = replace(judge, layer=judge.layer.of(found.names))
    work.append(delayed(_grown)(whole, found.stacker, found.correction, judge.reading.final))
    *each, stacker = Parallel(contest.further, prefer="threads")(work)
    folds, responses = zip(*each, strict=True)
    response = joined(responses)
    evaluation = contest.metric.evaluate(response, judge.judged_target())
    deployed: dict[str, Any] = {"stacker": stacker, "correction": None}
    return replace(found, folds=folds, response=response, evaluation=evaluation, **deployed)


def _judged(judge: Judge, judgement: Judgement, judged: JudgedFold) -> tuple[JudgedFold, Response]:
    """Return how a fold was predicted, and its prediction."""
    judge = replace(judge, layer=judge.layer.of(judged.names))
    stacker = _grown(judge, judged.stacker, judged.correction, judgement.train)
    test = judge.layer.features((judgement.test,))
    fold, response = judge.judged(judgement, judged.option, stacker, stacker.respond(test), None)
    return replace(fold, steps=stacker.steps(test)), response


def fit_whole(judge: Judge, verdict: Verdict, blocks: Sequence[Block]) -> Any:
    """Return what is deployed fitted on other blocks, with what boosting adds."""
    stacker, own = judge.fit(verdict.option, blocks), verdict.stacker
    if not isinstance(own, FurtherStacker):
        return stacker
    return _grown(judge, stacker, own.correction, blocks)


def _grown(
    judge: Judge, stacker: Any, correction: Correction | None, blocks: Sequence[Block]
) -> FurtherStacker:
    """Return boosted trees that go on from a stacker, on the rows it was fitted on."""
    problem, features = judge.layer.problem, judge.layer.features(blocks)
    y, weight = problem.data.y[rows_of(blocks)], weights_of(blocks, problem.counts)
    base = FurtherStacker(stacker, correction)
    # Of a single split, trees are fitted to the few rows held out.
    whole = sum(len(block.rows) for block in judge.reading.final) == problem.n_rows
    rounds = rounds_of(problem.amount if whole else 0.0, problem.data.n_classes)
    grown = boosted_further(base, features, y, weight, rounds, judge.seed, judge.until)
    # Trees that time cut short are not those that were asked for.
    judge.check_time()
    return grown
