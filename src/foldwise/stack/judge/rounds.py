"""How far boosting goes on from a stacker: chosen without cheating, and judged as deployed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn.utils.parallel import Parallel, delayed

from foldwise.folds import Block, Judgement
from foldwise.scores.metric import Response, Target, joined
from foldwise.stack.judge.calibrate import Correction
from foldwise.stack.judge.judge import Judge, JudgedFold, Verdict, inner_splits, or_worst
from foldwise.stack.stackers.further import FurtherStacker, boosted_further
from foldwise.stack.table.read import rows_of, weights_of

ByRounds = dict[int, Response]  # what is said after numbers of rounds, of which none is one


def verdict_of(judge: Judge) -> Verdict:
    """Choose and judge the stacker, and how far boosting goes on from it if it may."""
    found = judge.verdict()
    return with_rounds(judge, found) if judge.contest.further else found


def with_rounds(judge: Judge, found: Verdict) -> Verdict:
    """Return the verdict on stackers that boosting goes on from, for as long as that pays.

    How long is chosen twice, as stackers are: for each judged fold within the rows that its stacker
    was trained on, for deployment by all judged folds. Boosting goes on from calibrated answers,
    and lowers their log-loss: they are not calibrated again.
    """
    problem, contest = judge.layer.problem, judge.contest
    if not found.folds or problem.numbers is None or judge.as_labels or contest.threshold:
        return found
    judge = replace(judge, contest=replace(contest, methods=()))
    pairs = zip(judge.reading.judgements, found.folds, strict=True)
    work = [delayed(_judged)(judge, found, *pair) for pair in pairs]
    whole = replace(judge, layer=judge.layer.of(found.names))
    work.append(delayed(_grown)(whole, found.stacker, found.correction, judge.reading.final))
    *each, grown = Parallel(contest.further, prefer="threads")(work)
    folds, chosen, tried = zip(*each, strict=True)
    target, response = judge.judged_target(), joined(chosen)
    rounds = _paying(judge, {n: joined([own[n] for own in tried]) for n in tried[0]}, target)
    found = replace(
        found,
        folds=folds,
        response=response,
        evaluation=contest.metric.evaluate(response, target),
    )
    if not rounds:
        return found
    option = replace(found.option, rounds=rounds)
    return replace(found, option=option, stacker=grown.first(rounds), correction=None)


def _judged(
    judge: Judge, found: Verdict, judgement: Judgement, judged: JudgedFold
) -> tuple[JudgedFold, Response, ByRounds]:
    """Return how a fold was predicted, its prediction, and those of the deployed kind of stacker.

    How many rounds pay is told by the first of the blocks that its stacker was trained on.
    """
    judge, train = replace(judge, layer=judge.layer.of(judged.names)), judgement.train
    rounds = 0
    for some, ahead in inner_splits(judge.cut(train), judge.reading):
        stacker = judge.fit(judged.option, some)
        inside = _responses(judge, stacker, judged.correction, some, ahead)[1]
        rounds = _paying(judge, inside, judge.target((ahead,)))
        break
    grown, responses = _responses(judge, judged.stacker, judged.correction, train, judgement.test)
    fold, response = judged, responses[rounds]
    if rounds:
        option = replace(judged.option, rounds=rounds)
        cut = grown.first(rounds)
        fold, response = judge.judged(judgement, option, cut, response, None)
        steps = cut.steps(judge.layer.features((judgement.test,)))
        fold = replace(fold, steps=steps)
    if judged.option != found.option:
        stacker = judge.fit(found.option, train)
        responses = _responses(judge, stacker, judged.correction, train, judgement.test)[1]
    return fold, response, responses


def _responses(
    judge: Judge,
    stacker: Any,
    correction: Correction | None,
    train: Sequence[Block],
    test: Block,
) -> tuple[FurtherStacker, ByRounds]:
    grown = _grown(judge, stacker, correction, train)
    return grown, grown.responses(judge.layer.features((test,)))


def fit_whole(judge: Judge, verdict: Verdict, blocks: Sequence[Block]) -> Any:
    """Return what is deployed fitted on other blocks, with its rounds."""
    stacker = judge.fit(verdict.option, blocks)
    if not verdict.option.rounds:
        return stacker
    grown = _grown(judge, stacker, verdict.stacker.correction, blocks)
    return grown.first(verdict.option.rounds)


def _grown(
    judge: Judge, stacker: Any, correction: Correction | None, blocks: Sequence[Block]
) -> FurtherStacker:
    """Return boosted trees that go on from a stacker, on the rows it was fitted on."""
    problem, features = judge.layer.problem, judge.layer.features(blocks)
    y, weight = problem.data.y[rows_of(blocks)], weights_of(blocks, problem.counts)
    base = FurtherStacker(stacker, correction)
    grown = boosted_further(base, features, y, weight, judge.seed, judge.until)
    # Trees that time cut short are not those that were asked for.
    judge.check_time()
    return grown


def _paying(judge: Judge, responses: ByRounds, target: Target) -> int:
    """Return how many rounds pay; the fewest of those that do equally well."""
    metric = judge.contest.metric
    return max(responses, key=lambda number: or_worst(metric.score(responses[number], target)))
