"""Every row of the leaderboard, judged and made exact from the table that is there."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from sklearn import metrics

from foldwise.arrays import FloatArray, IntArray
from foldwise.engine.executor import give_back
from foldwise.errors import listing
from foldwise.folds import EVERYTHING, Block, Judgement, Node
from foldwise.scores.exact import (
    FEWEST_FOLDS,
    Exact,
    RunningMean,
    ScoreCorrection,
    correction_of,
    covariance_in_folds,
    covariance_of,
    covariance_of_means,
    heavy_rows,
    missed_mean,
    next_mean,
    next_step,
    ratios,
    rooted,
    shared_covariance,
    stepped,
)
from foldwise.scores.metric import Evaluation, Metric, Response, Target, joined
from foldwise.stack.fit import FittedStack
from foldwise.stack.judge.judge import Judge
from foldwise.stack.problem import TITLES
from foldwise.stack.stackers.candidates import Candidate, corrected, linear_weights, respond
from foldwise.stack.stackers.means import WeightedMean
from foldwise.stack.table.read import Features

# The ratio where too few pairs show it: about what all pairs do.
UNSEEN = 1.3

# A model of the board: its answer in a judged fold, from the features of the fold's rows.
Top = Callable[[int, Features], Response]


@dataclass(frozen=True)
class Board:
    """What one deal says about the stack, each learner, the best single and the plain mean.

    All are judged on the same rows and equally honest: the best single learner is chosen for each
    fold without looking at it.
    """

    rows: dict[str, Exact]
    # [m, m] the variance of a score, [m, k] of a difference, over what independent rows would have
    ratios: FloatArray
    fold: IntArray  # of rows or clusters
    why_not: str = ""  # why nothing was corrected

    @property
    def covariance(self) -> FloatArray:
        """The covariance of the models' scores by rows or clusters, inside folds."""
        each = [row.evaluation.contributions for row in self.rows.values()]
        # What a jackknife of blocks finds belongs to no fold.
        known = len(self.fold) == len(each[0])
        return covariance_in_folds(each, self.fold) if known else covariance_of(np.array(each).T)


def board_of(stack: FittedStack) -> Board:
    """Judge every model of a stack; nothing is fitted but the two plain tops."""
    verdict, judge, judgements = stack.verdict, stack.judge, stack.reading.judgements

    def by_stack(i: int, features: Features) -> Response:
        judged = verdict.folds[i]
        answer = judge.respond(judged.stacker, features.of(judged.names))
        return corrected(answer, judged.correction)

    tops, why_not = _tops(judge, by_stack), why_uncorrected(stack)
    curved = all(judgement.pairs for judgement in judgements)
    rows, seen, groups = dict[str, Exact](), _Losses(stack, list(tops)), _groups(stack, tops)
    if curved and seen.told and len(groups) > 1:
        seen.see_first(groups)
    for some in groups:
        if len(groups) > 1:
            # What was let go of lies in pieces.
            give_back()
        judged = _judged(stack, some, why_not)
        curve = _learning_curve(stack, some, seen) if curved else ()
        if not curve or why_not:
            rows |= {title: Exact(own, own.score) for title, own in judged.items()}
        else:
            rows |= _exact(stack, judged, *curve)
    rows = {title: rows[title] for title in tops}
    found = seen.ratios() if curved else np.ones((len(tops), len(tops)))
    return Board(rows, found, _fold_of_units(seen.target), why_not)


def _groups(stack: FittedStack, tops: dict[str, Top]) -> list[dict[str, Top]]:
    """Return the models in groups that are judged one after the other.

    Of many rows each is a group, since each holds several numbers a row; unless what is read costs
    more than these.
    """
    costs = stack.reading.nested or stack.problem.reads_rows
    if costs or not stack.problem.is_large:
        return [tops]
    return [{title: top} for title, top in tops.items()]


def _judged(stack: FittedStack, tops: dict[str, Top], why_not: str) -> dict[str, Evaluation]:
    """Return how some models are judged, in squares where a step is to be taken."""
    metric, verdict = stack.metric if why_not else _before_the_root(stack), stack.verdict
    assert verdict.evaluation is not None
    assert verdict.target is not None
    answers = _answers(stack, tops, [judgement.test for judgement in stack.reading.judgements])
    # The answers are let go of one by one: each holds a number a row, as what is made of it.
    judged = {t: metric.evaluate(answers.pop(t), verdict.target) for t in list(answers)}
    if metric is stack.metric and TITLES[0] in judged:
        judged[TITLES[0]] = verdict.evaluation
    return judged


def _exact(
    stack: FittedStack,
    judged: dict[str, Evaluation],
    alone: dict[str, Evaluation],
    pairs: dict[str, Evaluation],
) -> dict[str, Exact]:
    """Return the scores after the step that the learning curve shows, from ``pairs`` on."""
    metric, rows = _before_the_root(stack), dict[str, Exact]()
    kappa, (missed, perhaps) = _kappa(stack), _missed(stack)
    # Of hits and ranks a step is mostly chance, which may not only help.
    bounded = _is_bounded(stack)
    for title in list(judged):
        # Taken out one by one: each holds a number a row.
        points = judged.pop(title), pairs.pop(title), alone.pop(title)
        exact = stepped(*points, kappa, metric.best, missed, perhaps=perhaps, backwards=bounded)
        rows[title] = exact if metric is stack.metric else rooted(exact)
    return rows


class _Losses:
    """What every model loses on the judged rows, as far as it tells how much folds err together."""

    def __init__(self, stack: FittedStack, titles: list[str]) -> None:
        assert stack.verdict.target is not None
        self.stack, self.target = stack, stack.verdict.target
        n_folds, self.places = len(stack.reading.judgements), {t: m for m, t in enumerate(titles)}
        # By what was fitted without a fold, and without another too: the mean on the fold.
        self.by_rows = np.empty((len(self.target.y) if self.told else 0, len(titles)))
        self.by_folds = np.full((n_folds, n_folds, len(titles)), np.nan)
        self.naive: FloatArray | None = None

    @property
    def told(self) -> bool:
        """Whether there are pairs enough to tell it."""
        return self.stack.reading.partners is None

    def see_first(self, groups: list[dict[str, Top]]) -> None:
        """Ask all models once more, so that what they lose on each row is not held for long."""
        for some in groups:
            for title, answer in _answers(self.stack, some, _larger(self.stack)).items():
                self.see(title, answer)
        self.naive = self.independent()

    def independent(self) -> FloatArray:
        """Return the covariance of mean losses as of independent rows; what they are is gone."""
        by_rows, self.by_rows = self.by_rows, np.empty((0, 0))
        return covariance_of_means(by_rows, self.target.weight, self.target.unit, overwrite=True)

    def see(self, title: str, answer: Response) -> None:
        """Note what a model of the rows without the judged fold loses."""
        if self.told and self.naive is None:
            losses = self.stack.metric.row_losses(answer, self.target)
            self.by_rows[:, self.places[title]] = losses

    def see_smaller(self, title: str, answer: Response, k: int) -> None:
        """Note the same of one without the k-th other fold too."""
        if self.told:
            losses, fold = self.stack.metric.row_losses(answer, self.target), self.target.fold
            weight = _weight(self.target)
            means = np.bincount(fold, weight * losses) / np.bincount(fold, weight)
            for i, judgement in enumerate(self.stack.reading.judgements):
                self.by_folds[i, judgement.train[k].fold, self.places[title]] = means[i]

    def ratios(self) -> FloatArray:
        """Return how much folds err together, in variances over those of independent rows."""
        if not self.told:
            return np.full((len(self.places),) * 2, UNSEEN)
        target, stack = self.target, self.stack
        naive = self.independent() if self.naive is None else self.naive
        weight = np.bincount(target.fold, _weight(target)).astype(np.float64)
        found = ratios(shared_covariance(self.by_folds, weight), naive)
        if not stack.reading.nested:
            # The stack's own row of the table has stackers that saw the second fold.
            learners = np.diag(found)[1 : 1 + len(stack.top.entries)]
            found[0, 0] = np.average(learners, weights=_shares(stack))
        return np.minimum(found, len(self.by_folds))


def _learning_curve(
    stack: FittedStack, tops: dict[str, Top], seen: _Losses
) -> tuple[dict[str, Evaluation], dict[str, Evaluation]]:
    """Return two points of models' learning curves.

    By what was fitted without the judged fold, and without one more, on average.
    """
    metric, alone = _before_the_root(stack), dict[str, Evaluation]()
    answers = _answers(stack, tops, _larger(stack))
    for title in tops:
        seen.see(title, answers[title])
        alone[title] = _evaluated(metric, answers.pop(title), seen.target)
    pairs = {title: RunningMean() for title in tops}
    for k, answers in enumerate(_of_smaller(stack, tops)):
        for title in tops:
            seen.see_smaller(title, answers[title], k)
            pairs[title].add(_evaluated(metric, answers.pop(title), seen.target))
    return alone, {title: pairs.pop(title).evaluation for title in tops}


def _larger(stack: FittedStack) -> list[Block]:
    """Return the judged folds as they are predicted by what was fitted without them alone."""
    judgements = stack.reading.judgements
    if stack.reading.nested:
        return [j.test for j in judgements]
    return [Block(j.test.rows, j.fresh) for j in judgements]


def _of_smaller(stack: FittedStack, tops: dict[str, Top]) -> Iterator[dict[str, Response]]:
    """Yield the answers of what was fitted without one fold more, each other fold in turn.

    These are learners under the stackers that are judged, or whole stacks where those were asked
    for, whose stackers miss the fold too.
    """
    judgements, nested = stack.reading.judgements, stack.reading.nested
    if not nested:
        for blocks in zip(*(j.by_pairs for j in judgements), strict=True):
            yield _answers(stack, tops, blocks)
        return
    without = [_whole_stacks(stack, others) for others in nested]
    for k in range(len(nested) - 1):
        each = [without[k + (k >= i)][i] for i in range(len(nested))]
        yield {title: joined([one[title] for one in each]) for title in tops}


def _whole_stacks(
    stack: FittedStack, judgements: tuple[Judgement, ...]
) -> dict[int, dict[str, Response]]:
    """Return what is answered on each of some folds by all that was trained as they say."""
    judge = replace(stack.judge, reading=replace(stack.reading, judgements=judgements))
    tops = _tops(judge, lambda i, _: judge.held_out(judgements[i]))
    found = {}
    for i, judgement in enumerate(judgements):
        features = stack.top.features((judgement.test,))
        found[judgement.fold] = {title: top(i, features) for title, top in tops.items()}
    return found


def _weight(target: Target) -> FloatArray:
    return np.ones(len(target.fold)) if target.weight is None else target.weight


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


def _fold_of_units(target: Target) -> IntArray:
    if target.unit is None:
        return target.fold
    _, first = np.unique(target.unit, return_index=True)
    return target.fold[first]


def why_uncorrected(stack: FittedStack) -> str:
    """Return why the score of a stack stays as it was judged; nothing if it is corrected."""
    reading, lattice = stack.reading, stack.lattice
    if not reading.judgements:
        return "no fold was judged"
    if lattice.kind == "forward":
        return "forward in time the judged models saw ever more rows, not one size of them"
    if lattice.kind == "single":
        return "blending has one split only, so that all judged models saw the same rows"
    if reading.predict_with == "pairs" and (reading.nested or not _is_quadratic(stack)):
        return "with predict_with='pairs' only squared errors without score_se='nested' show a step"
    if lattice.n_folds < FEWEST_FOLDS:
        return f"fewer than {FEWEST_FOLDS} folds do not show the learning curve"
    if reading.hold_out_given:
        return "hold_out was given, which says how to judge"
    if not all(judgement.pairs for judgement in reading.judgements):
        return "some folds leave each other no rows to train on"
    return ""


def widening(boards: Sequence[Board]) -> FloatArray:
    """Return by what errors of scores (on the diagonal) and of differences are multiplied."""
    return np.sqrt(np.mean([board.ratios for board in boards], axis=0))


def heavy_tails(stack: FittedStack) -> str:
    """Say in one sentence which few rows carry the uncertainty; nothing if no few do."""
    verdict = stack.verdict
    # Hits and ranks have no tail.
    if verdict.response is None or verdict.target is None or _is_bounded(stack):
        return ""
    losses = stack.metric.row_losses(verdict.response, verdict.target)
    rows = verdict.rows[heavy_rows(losses, verdict.target.weight)]
    if not len(rows):
        return ""
    named = f"row {rows[0]}" if len(rows) == 1 else f"the rows {listing(rows.tolist())}"
    said = "it may be greater than it looks (rows are counted from 0)"
    return f"more than half of the uncertainty is in {named}: {said}"


def correction(stacks: Sequence[FittedStack], boards: Sequence[Board]) -> ScoreCorrection:
    """Say what was done to the score of a stack."""
    if not boards or boards[0].why_not:
        return ScoreCorrection("none", why_uncorrected(stacks[0]))
    own, averaged = [b.rows[TITLES[0]] for b in boards], stacks[0].reading.predict_with == "pairs"
    more = _missed(stacks[0])[0] > 0
    return correction_of(own, stacks[0].metric, averaged=averaged, more=more)


def _tops(judge: Judge, by_stack: Top) -> dict[str, Top]:
    def by_learner(name: str) -> Top:
        return lambda _, features: features.alone(features.names.index(name))

    def by_rule(rule: str) -> Top:
        rules = WeightedMean(rule, judge.contest.metric, judge.layer.problem.labels)
        stackers = judge.fitted(Candidate(rule, rules))
        return lambda i, features: respond(stackers[i], features)

    learners = {name: by_learner(name) for name in judge.names}
    plain = {TITLES[1]: by_rule("best"), TITLES[2]: by_rule("mean")}
    return {TITLES[0]: by_stack, **learners, **plain}


def _answers(
    stack: FittedStack, tops: dict[str, Top], blocks: Sequence[Block]
) -> dict[str, Response]:
    """Return what every model answers on the judged folds, each read once."""
    each: dict[str, list[Response]] = {title: [] for title in tops}
    # Of a learner that is asked alone, the others are not read.
    layer = stack.top.of(tuple(tops)) if set(tops) <= set(stack.judge.names) else stack.top
    many = stack.problem.is_large
    for i, block in enumerate(blocks):
        features = layer.features((block,))
        for title, top in tops.items():
            answer = top(i, features)
            if many:
                # Not a part of what all learners say, which would be held by it.
                answer = replace(answer, values=answer.values.copy())
            each[title].append(answer)
    return {title: joined(each.pop(title)) for title in tops}


def _evaluated(metric: Metric, response: Response, target: Target) -> Evaluation:
    """Return an evaluation, with no contributions where they would take a jackknife."""
    if metric.knows_rows(response, target):
        return metric.evaluate(response, target)
    return Evaluation(metric.score(response, target), np.zeros(()))


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


def _is_bounded(stack: FittedStack) -> bool:
    """Tell whether hits or ranks of classes are judged, no losses."""
    return stack.problem.labels is not None and stack.metric.sign > 0


def _is_quadratic(stack: FittedStack) -> bool:
    """Tell whether the mean of many models is as much better as their variance is smaller."""
    squares = (metrics.mean_squared_error, metrics.r2_score, metrics.brier_score_loss)
    return _before_the_root(stack).function in squares


def _missed(stack: FittedStack) -> tuple[float, float]:
    """Return what the models count for that are not in the mean that was judged, and perhaps do.

    Of squared errors it is known. Of others it may be as much: the log-loss of a tree that is sure
    of itself says little of more of them.
    """
    partners = stack.reading.partners
    if partners is None or stack.reading.hold_out != "mean":
        return 0.0, 0.0
    gain = missed_mean(partners, stack.lattice.n_folds)
    return (gain, 0.0) if _is_quadratic(stack) else (0.0, gain)


def _kappa(stack: FittedStack) -> tuple[float, float]:
    """Return what the next step is at least and at most.

    That of the learning curve, by the training rows of the nodes; of averaging, if those are equal.
    """
    if stack.reading.predict_with == "pairs":
        return next_mean(stack.lattice.n_folds)
    data, judgements = stack.problem.data, stack.reading.judgements

    @cache
    def size(node: Node) -> int:
        rows = stack.lattice.rows(node)
        if data.sample_weight is not None:
            rows = rows[data.sample_weight[rows] > 0]
        return len(rows) if data.groups is None else len(np.unique(data.groups[rows]))

    alone = [size(frozenset({j.fold})) for j in judgements]
    pairs = [[size(ref.node) for ref in j.pairs] for j in judgements]
    if min(alone, default=0) == 0 or min(map(min, pairs), default=0) == 0:
        return 0.0, 0.0
    averaged = stack.reading.predict_with == "folds" and not stack.reading.nested
    kappa = next_step(alone, pairs, size(EVERYTHING), averaged=averaged)
    return kappa, kappa
