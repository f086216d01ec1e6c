"""Every row of the leaderboard, judged and made exact from the table that is there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn import metrics

from foldwise.folds import EVERYTHING, Block, Judgement, Node
from foldwise.scores.exact import (
    Exact,
    ScoreCorrection,
    correction_of,
    mean_evaluation,
    next_step,
    rooted,
    stepped,
)
from foldwise.scores.metric import Evaluation, Metric, Response, Target, joined
from foldwise.stack.fit import FittedStack
from foldwise.stack.judge.judge import corrected
from foldwise.stack.problem import TITLES
from foldwise.stack.stackers.candidates import Candidate, respond
from foldwise.stack.stackers.means import WeightedMean
from foldwise.stack.table.read import Features

FEWEST_FOLDS = 4

# A model of the board: its answer in a judged fold, from the features of the fold's rows.
Top = Callable[[int, Features], Response]
Evaluate = Callable[[Response, Target], Evaluation]


@dataclass(frozen=True)
class Board:
    """What one deal says about the stack, each learner, the best single and the plain mean.

    All are judged on the same rows and equally honest: the best single learner is chosen for each
    fold without looking at it.
    """

    rows: dict[str, Exact]
    why_not: str = ""  # why nothing was corrected


def board_of(stack: FittedStack) -> Board:
    """Judge every model of a stack; nothing is fitted but the two plain tops."""
    verdict, tops = stack.verdict, _tops(stack)
    assert verdict.target is not None
    assert verdict.evaluation is not None
    judgements = stack.reading.judgements
    judged = _evaluated(stack, tops, [j.test for j in judgements], stack.metric.evaluate)
    judged[TITLES[0]] = verdict.evaluation
    why_not = why_uncorrected(stack)
    if why_not:
        return Board({title: Exact(own, own) for title, own in judged.items()}, why_not)
    metric = _before_the_root(stack)
    evaluate = _quickly(metric)
    if metric is not stack.metric:
        judged = _evaluated(stack, tops, [j.test for j in judgements], evaluate)
    alone = _evaluated(stack, tops, [Block(j.test.rows, j.fresh) for j in judgements], evaluate)
    smaller = [
        _evaluated(stack, tops, blocks, evaluate)
        for blocks in zip(*(j.by_pairs for j in judgements), strict=True)
    ]
    kappa = _kappa(stack)
    rows = {}
    for title, own in judged.items():
        pairs = mean_evaluation([each[title] for each in smaller])
        exact = stepped(own, pairs, alone[title], kappa, metric.best)
        rows[title] = exact if metric is stack.metric else rooted(exact)
    return Board(rows)


def why_uncorrected(stack: FittedStack) -> str:
    """Return why the score of a stack stays as it was judged; nothing if it is corrected."""
    reading, lattice = stack.reading, stack.lattice
    if not reading.judgements:
        return "no fold was judged"
    if lattice.kind == "forward":
        return "forward in time the judged models saw ever more rows, not one size of them"
    if lattice.kind == "single":
        return "blending has one split only, so that all judged models saw the same rows"
    if reading.predict_with == "pairs":
        return "with predict_with='pairs' all models saw rows of one size"
    if lattice.n_folds < FEWEST_FOLDS:
        return f"fewer than {FEWEST_FOLDS} folds do not show the learning curve"
    if reading.hold_out_given:
        return "hold_out was given, which says how to judge"
    if not all(judgement.pairs for judgement in reading.judgements):
        return "some folds leave each other no rows to train on"
    return ""


def correction(stacks: Sequence[FittedStack], boards: Sequence[Board]) -> ScoreCorrection:
    """Say what was done to the score of a stack."""
    if not boards or boards[0].why_not:
        return ScoreCorrection("none", why_uncorrected(stacks[0]))
    return correction_of([board.rows[TITLES[0]] for board in boards], stacks[0].metric)


def _tops(stack: FittedStack) -> dict[str, Top]:
    judge, folds = stack.judge, stack.verdict.folds

    def by_stack(i: int, features: Features) -> Response:
        return corrected(judge.respond(folds[i].stacker, features), folds[i].correction)

    def by_learner(m: int) -> Top:
        return lambda _, features: features.alone(m)

    def by_rule(rule: str) -> Top:
        top = Candidate(rule, WeightedMean(rule, stack.metric, stack.problem.labels))
        stackers = judge.fitted(top)
        return lambda i, features: respond(stackers[i], features)

    learners = {entry.name: by_learner(m) for m, entry in enumerate(stack.top.entries)}
    plain = {TITLES[1]: by_rule("best"), TITLES[2]: by_rule("mean")}
    return {TITLES[0]: by_stack, **learners, **plain}


def _evaluated(
    stack: FittedStack, tops: dict[str, Top], blocks: Sequence[Block], evaluate: Evaluate
) -> dict[str, Evaluation]:
    """Evaluate every model on the judged folds, each read from one block."""
    features = [stack.top.features((block,)) for block in blocks]
    target, found = stack.verdict.target, {}
    assert target is not None
    for title, top in tops.items():
        response = joined([top(i, own) for i, own in enumerate(features)])
        found[title] = evaluate(response, target)
    return found


def _quickly(metric: Metric) -> Evaluate:
    """Return how to evaluate, with no contributions where they would take a jackknife."""

    def evaluate(response: Response, target: Target) -> Evaluation:
        if metric.knows_rows(response, target):
            return metric.evaluate(response, target)
        return Evaluation(metric.score(response, target), np.zeros(()))

    return evaluate


def _before_the_root(stack: FittedStack) -> Metric:
    """Return the metric in which a step is taken: squares are means over rows, roots are not."""
    metric, response, target = stack.metric, stack.verdict.response, stack.verdict.target
    assert response is not None
    assert target is not None
    root = metric.function is metrics.root_mean_squared_error
    if not root or not metric.knows_rows(response, target):
        return metric
    scorer = metrics.get_scorer("neg_mean_squared_error")
    return replace(metric, function=metrics.mean_squared_error, scorer=scorer)


def _kappa(stack: FittedStack) -> float:
    """Return the next step of the learning curve, by the training rows of the nodes."""
    sizes: dict[Node, int] = {}
    data = stack.problem.data

    def size(node: Node) -> int:
        if node not in sizes:
            rows = stack.lattice.rows(node)
            if data.sample_weight is not None:
                rows = rows[data.sample_weight[rows] > 0]
            sizes[node] = len(rows) if data.groups is None else len(np.unique(data.groups[rows]))
        return sizes[node]

    judgements: tuple[Judgement, ...] = stack.reading.judgements
    alone = [size(frozenset({j.fold})) for j in judgements]
    pairs = [[size(ref.node) for ref in j.pairs] for j in judgements]
    if min(alone, default=0) == 0 or min(map(min, pairs), default=0) == 0:
        return 0.0
    return next_step(alone, pairs, size(EVERYTHING))
