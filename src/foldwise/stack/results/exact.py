"""Every row of the leaderboard, judged and made exact from the table that is there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn import metrics

from foldwise.arrays import FloatArray, IntArray
from foldwise.errors import listing
from foldwise.folds import EVERYTHING, Block, Judgement, Node
from foldwise.scores.best import covariance_of
from foldwise.scores.exact import (
    Exact,
    ScoreCorrection,
    correction_of,
    heavy_rows,
    mean_evaluation,
    next_step,
    rooted,
    stepped,
)
from foldwise.scores.metric import Evaluation, Metric, Response, Target, joined
from foldwise.scores.nested import (
    FoldLosses,
    fold_losses,
    inflation,
    mean_and_covariance,
    pooled_ratios,
)
from foldwise.stack.fit import FittedStack
from foldwise.stack.judge.judge import corrected
from foldwise.stack.problem import TITLES
from foldwise.stack.stackers.candidates import Candidate, linear_weights, respond
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
    # variance of a score, and of a difference of two, over what independent rows would have
    ratio: float = 1.0
    difference_ratio: float = 1.0
    n_folds: int = 1
    fold: IntArray = field(default_factory=lambda: np.empty(0, np.intp))  # of rows or clusters

    @property
    def covariance(self) -> FloatArray:
        """The covariance of the models' scores by rows or clusters, inside folds."""
        each = np.column_stack([row.evaluation.contributions for row in self.rows.values()])
        # What a jackknife of blocks finds belongs to no fold.
        return covariance_of(each, self.fold if len(self.fold) == len(each) else None)


def board_of(stack: FittedStack) -> Board:
    """Judge every model of a stack; nothing is fitted but the two plain tops."""
    verdict, tops, judgements = stack.verdict, _tops(stack), stack.reading.judgements
    assert verdict.evaluation is not None
    features = _features(stack, [judgement.test for judgement in judgements])
    judged = _evaluated(stack, tops, features, stack.metric.evaluate)
    judged[TITLES[0]] = verdict.evaluation
    why_not = why_uncorrected(stack)
    rows = {title: Exact(own, own) for title, own in judged.items()}
    plain = Board(rows, why_not, n_folds=len(judgements), fold=_fold_of_units(stack))
    if not all(judgement.pairs for judgement in judgements):
        return plain
    metric = _before_the_root(stack)
    curve = _learning_curve(stack, tops, _quickly(metric))
    ratio, difference_ratio = pooled_ratios(curve.losses, _shares(stack))
    if why_not:
        return replace(plain, ratio=ratio, difference_ratio=difference_ratio)
    if metric is not stack.metric:
        judged = _evaluated(stack, tops, features, metric.evaluate)
    kappa = _kappa(stack)
    for title, own in judged.items():
        exact = stepped(own, curve.pairs[title], curve.alone[title], kappa, metric.best)
        rows[title] = exact if metric is stack.metric else rooted(exact)
    return replace(plain, rows=rows, ratio=ratio, difference_ratio=difference_ratio)


@dataclass(frozen=True)
class _Curve:
    """Two points of the learning curve."""

    alone: dict[str, Evaluation]  # every model, by what was fitted without the judged fold
    pairs: dict[str, Evaluation]  # by what was fitted without one fold more, on average
    losses: FoldLosses  # the learners' losses at both


def _learning_curve(stack: FittedStack, tops: dict[str, Top], evaluate: Evaluate) -> _Curve:
    judgements, target = stack.reading.judgements, stack.judge.judged_target()
    n_folds, n_learners = len(judgements), len(stack.top.entries)
    _, fold = np.unique(target.fold, return_inverse=True)
    weight = np.ones(len(fold)) if target.weight is None else target.weight
    features = _features(stack, [Block(j.test.rows, j.fresh) for j in judgements])
    alone, losses = _evaluated(stack, tops, features, evaluate), _losses(stack, features)
    smaller, total, each = np.full((n_folds, n_folds, n_learners), np.nan), 0.0 * losses, []
    for k, blocks in enumerate(zip(*(j.by_pairs for j in judgements), strict=True)):
        features = _features(stack, blocks)
        each.append(_evaluated(stack, tops, features, evaluate))
        own = _losses(stack, features)
        total += own
        for j in range(n_folds):
            without, rows = k + (k >= j), np.flatnonzero(fold == j)
            smaller[without, j], _ = mean_and_covariance(own[rows], weight[rows], None)
    if stack.reading.predict_with == "pairs":
        losses = total / len(each)
    found = fold_losses(losses, smaller, fold, weight, target.unit)
    pairs = {title: mean_evaluation([one[title] for one in each]) for title in tops}
    return _Curve(alone, pairs, found)


def _losses(stack: FittedStack, features: Sequence[Features]) -> FloatArray:
    """Return the losses of the judged rows by each learner, of shape (n_rows, n_learners)."""
    target = stack.judge.judged_target()
    responses = [joined([f.alone(m) for f in features]) for m in range(len(stack.top.entries))]
    return np.column_stack([stack.metric.row_losses(each, target) for each in responses])


def _shares(stack: FittedStack) -> FloatArray:
    """Return how much of the stack each learner is; equally much where that is not known."""
    weights = np.abs(list(weights_by_learner(stack).values()))
    known = np.isfinite(weights).all() and weights.any()
    return weights if known else np.ones(len(weights))


def weights_by_learner(stack: FittedStack) -> dict[str, float]:
    """Return each learner's weight in the deployed stacker, 0 for those it does not read."""
    features = stack.top.features(stack.reading.final[:1])
    read = features.of(stack.verdict.names)
    found = zip(read.names, linear_weights(stack.verdict.stacker, read.widths), strict=True)
    return {**dict.fromkeys(features.names, 0.0), **dict(found)}


def _fold_of_units(stack: FittedStack) -> IntArray:
    target = stack.judge.judged_target()
    if target.unit is None:
        return target.fold
    _, first = np.unique(target.unit, return_index=True)
    return target.fold[first]


def _features(stack: FittedStack, blocks: Sequence[Block]) -> list[Features]:
    return [stack.top.features((block,)) for block in blocks]


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


def inflations(boards: Sequence[Board]) -> tuple[float, float]:
    """Return by what the standard errors of scores and of differences are multiplied."""
    n_folds = max(board.n_folds for board in boards)
    return (
        inflation([board.ratio for board in boards], n_folds),
        inflation([board.difference_ratio for board in boards], n_folds),
    )


def heavy_tails(stack: FittedStack) -> str:
    """Say in one sentence which few rows carry the loss; nothing if no few do."""
    verdict = stack.verdict
    if verdict.response is None or verdict.target is None:
        return ""
    losses = stack.metric.row_losses(verdict.response, verdict.target)
    rows = verdict.rows[heavy_rows(losses, verdict.target.weight)]
    if not len(rows):
        return ""
    named = listing(rows.tolist())
    return f"more than half of the loss is in the rows {named}: the interval is too narrow here"


def correction(stacks: Sequence[FittedStack], boards: Sequence[Board]) -> ScoreCorrection:
    """Say what was done to the score of a stack."""
    if not boards or boards[0].why_not:
        return ScoreCorrection("none", why_uncorrected(stacks[0]))
    return correction_of([board.rows[TITLES[0]] for board in boards], stacks[0].metric)


def _tops(stack: FittedStack) -> dict[str, Top]:
    judge, folds = stack.judge, stack.verdict.folds

    def by_stack(i: int, features: Features) -> Response:
        own = features.of(folds[i].names)
        return corrected(judge.respond(folds[i].stacker, own), folds[i].correction)

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
    stack: FittedStack, tops: dict[str, Top], features: Sequence[Features], evaluate: Evaluate
) -> dict[str, Evaluation]:
    """Evaluate every model on the judged folds."""
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
