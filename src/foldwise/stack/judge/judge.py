"""Choosing the stacker without cheating, and judging what is deployed."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from foldwise.arrays import FloatArray, IntArray
from foldwise.engine.executor import give_back
from foldwise.folds import Block, Judgement, Reading, rows_inside
from foldwise.learners import take_rows
from foldwise.scores.metric import Evaluation, Metric, Response, Target, joined
from foldwise.stack.judge.calibrate import Correction, Corrector
from foldwise.stack.judge.scale import ErrorScale, error_scale
from foldwise.stack.judge.thrift import Thrift
from foldwise.stack.stackers.candidates import (
    Candidate,
    Option,
    corrected,
    pick,
    respond,
    response_kind,
    without_rows_to_score,
)
from foldwise.stack.stackers.means import Stacker, WeightedMean
from foldwise.stack.table.read import Features, Layer, fold_numbers, rows_of, weights_of

LONE_PARTS = 5
# Parts that the few blocks of a ring are cut into at least, to be cross-validated.
RING_PARTS = 6


@dataclass(frozen=True)
class Contest:
    """What may stand on top, and by what it is chosen."""

    candidates: tuple[Candidate, ...]  # the stackers to choose from, simplest first
    metric: Metric  # what is to be maximised
    methods: tuple[str, ...] = ()  # calibration methods to choose from; none for no calibration
    threshold: float | Metric | None = None  # of two classes, or what it is to maximise
    thrift: Thrift | None = None  # which learners are given to the stacker; all by default
    further: int = 0  # threads of the boosting that goes on from the stacker; 0 for none

    @property
    def n_points(self) -> int:
        """How many stackers there are to choose from, each point of a grid one."""
        return sum(len(candidate.grid) for candidate in self.candidates)

    @property
    def corrects(self) -> bool:
        """Whether the stacker's response is calibrated or gets a threshold."""
        return bool(self.methods) or self.threshold is not None


@dataclass(frozen=True)
class JudgedFold:
    """How one fold was predicted."""

    fold: int  # which fold
    option: Option  # the stacker chosen without looking at it
    stacker: Any  # the stacker fitted without it
    correction: Correction | None  # the calibration and threshold found without it
    misfits: FloatArray  # how far off the fold's rows were, asked about as new rows are
    weights: FloatArray | None = None  # of the misfits' rows
    scale: ErrorScale | None = None  # how far off rows are expected to be, found without it
    expected: FloatArray | None = None  # what that says of the fold's rows
    names: tuple[str, ...] = ()  # the learners the stacker reads, if not all
    steps: FloatArray | None = None  # what boosting that goes on from the stacker adds

    @property
    def relative(self) -> FloatArray:
        """How far off the fold's rows were, in terms of what was expected if that is known."""
        return self.misfits if self.expected is None else self.misfits / self.expected

    def respond(self, features: Features) -> Response:
        """Return the corrected response of the hold-out stack."""
        return respond(self.stacker, features.of(self.names), self.correction)


@dataclass(frozen=True)
class Verdict:
    """The deployed stacker and everything known about its quality."""

    option: Option  # the deployed choice
    stacker: Any  # the deployed stacker
    correction: Correction | None  # the deployed calibration and threshold
    folds: tuple[JudgedFold, ...] = ()  # the hold-out stacks; empty if nothing could be judged
    response: Response | None = None  # hold-out predictions of all judged rows
    target: Target | None = None  # what they should have been
    evaluation: Evaluation | None = None  # the honest score, and what each row adds to its error
    rows: IntArray = field(default_factory=lambda: np.empty(0, np.intp))  # the judged rows
    scale: ErrorScale | None = None  # forward in time, by the errors of all judged rows
    names: tuple[str, ...] = ()  # the learners the deployed stacker reads, if not all

    def respond(self, features: Features) -> Response:
        """Return the corrected response of the deployed stack."""
        return respond(self.stacker, features.of(self.names), self.correction)


class OutOfTimeError(Exception):
    """Time was up before the stacker was judged."""


@dataclass(frozen=True)
class Judge:
    """Fits, chooses and judges stackers over one table; stops between two once time is up."""

    layer: Layer  # where features come from
    reading: Reading  # what is read
    contest: Contest  # what is chosen from, and by what
    seed: int  # seed of the stackers
    until: float = float("inf")  # by time.monotonic
    # where stackers fitted over this table are found again by other contests, with what they are of
    known: dict[int, tuple[Any, list[Any]]] | None = None

    def verdict(self) -> Verdict:
        """Choose twice: for each judged fold without it, for deployment by all of them.

        So are calibration and threshold: for a judged fold from out-of-fold responses made
        without it; for deployment from the hold-out responses of all judged folds, which are of
        the kind that new rows get.
        """
        final, judgements = self.reading.final, self.reading.judgements
        whole = self.thrifty(final)
        if not judgements:
            option = whole.choose_inside(final)
            correction = whole.correction_inside(option, final)
            return Verdict(option, whole.fit(option, final), correction, names=whole.names)
        judges = [self.thrifty(judgement.train) for judgement in judgements]
        every = list(zip(judges, judgements, strict=True))
        # All choices first: each looks at as many numbers as all that is tried afterwards.
        options = [judge.choose_inside(judgement.train) for judge, judgement in every]
        folds, chosen, tried = [], [], []
        for (judge, judgement), option in zip(every, options, strict=True):
            stackers, responses = judge.try_all(judgement)
            correction = judge.correction_inside(option, judgement.train)
            parts = (option, stackers[option], responses[option], correction)
            judged, response = judge.judged(judgement, *parts)
            folds.append(judged)
            chosen.append(response)
            tried.append(responses)
        target, response = self.judged_target(), joined(chosen)
        del chosen, responses
        # What is not asked for again is let go of.
        read = dict.__getitem__ if self.contest.corrects else dict.pop
        responses = {o: joined([read(each, o) for each in tried]) for o in list(tried[0])}
        option = pick(responses, target, self.contest.metric)
        del responses
        correction = None
        if self.contest.corrects:
            held = self._held_out(option, judges, folds, tried), target
            correction = self.correction(held)
        stacker = whole.fit(option, final)
        judged_rows = [judgement.test for judgement in judgements]
        scale = whole._scale(stacker, judged_rows) if self.reading.in_order else None
        return Verdict(
            option,
            stacker,
            correction,
            tuple(folds),
            response,
            target,
            self.contest.metric.evaluate(response, target),
            rows_of(judged_rows),
            scale,
            whole.names,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The learners that stackers read."""
        return tuple(entry.name for entry in self.layer.entries)

    def thrifty(self, blocks: Sequence[Block]) -> "Judge":
        """Return the judge of the learners worth keeping, told from the blocks alone."""
        thrift = self.contest.thrift
        if thrift is None or len(self.names) == 1:
            return self
        features, target = self.layer.features(blocks), self.target(blocks)
        kept = thrift.keep(features, target, partial(self.worth, blocks))
        return replace(self, layer=self.layer.of(kept), contest=replace(self.contest, thrift=None))

    def worth(self, blocks: Sequence[Block], names: Sequence[str]) -> Evaluation:
        """Return how good a stacker of some learners is at best on the blocks it is fitted on."""
        judge, candidates = replace(self, layer=self.layer.of(names)), self.contest.candidates
        # Ours have few weights; what can follow any rows would say nothing on them.
        few = [own for own in candidates if isinstance(own.estimator, Stacker)]
        few = few or [own for own in candidates if type(own.estimator) is LogisticRegression]
        simplex = WeightedMean("simplex", None, self.layer.problem.labels)
        fitted = judge._fit_all(few or [Candidate("simplex", simplex)], blocks).values()
        features, target = judge.layer.features(blocks), self.target(blocks)
        each = [self.contest.metric.evaluate(respond(own, features), target) for own in fitted]
        return max(each, key=lambda found: found.score)

    def judged(
        self,
        judgement: Judgement,
        option: Option,
        stacker: Any,
        response: Response,
        correction: Correction | None,
    ) -> tuple[JudgedFold, Response]:
        """Return how a fold was predicted by the stacker chosen for it, and its prediction."""
        response = corrected(response, correction)
        asked_as_new, scale = response, self._scale(stacker, judgement.train)
        expected = None
        if judgement.fresh != judgement.test.refs or self.as_labels or scale is not None:
            features = self.layer.features((Block(judgement.test.rows, judgement.fresh),))
            asked_as_new = respond(stacker, features, correction)
            expected = None if scale is None else scale.of(features)
        target = self.target((judgement.test,))
        misfits = _misfits(asked_as_new, target)
        parts = (judgement.fold, option, stacker, correction)
        judged = JudgedFold(*parts, misfits, target.weight, scale, expected, self.names)
        return judged, response

    def _scale(self, stacker: Any, blocks: Sequence[Block]) -> ErrorScale | None:
        """Return how far off rows are expected to be, where one number is predicted."""
        problem, data = self.layer.problem, self.layer.problem.data
        if problem.labels is not None or data.y.ndim > 1:
            return None
        weight = weights_of(blocks, problem.counts)
        return error_scale(stacker, self.layer.features(blocks), data.y[rows_of(blocks)], weight)

    def held_out(self, judgement: Judgement) -> Response:
        """Return the response to a judged fold of the whole procedure, all choices included."""
        judge = self.thrifty(judgement.train)
        option = judge.choose_inside(judgement.train)
        correction = judge.correction_inside(option, judgement.train)
        stacker = judge.fit(option, judgement.train)
        response = judge.respond(stacker, judge.layer.features((judgement.test,)))
        return corrected(response, correction)

    def _held_out(
        self,
        option: Option,
        judges: Sequence["Judge"],
        folds: Sequence[JudgedFold],
        tried: Sequence[dict[Option, Response]],
    ) -> Response:
        """Return the hold-out responses of one option, before correction."""
        each = []
        every = zip(self.reading.judgements, judges, folds, tried, strict=True)
        for judgement, judge, judged, responses in every:
            response = responses[option]
            if judged.option != option:
                # Fitted alone, as it is deployed: the points of a grid may start from each other.
                stacker = judge.fit(option, judgement.train)
                response = judge.respond(stacker, judge.layer.features((judgement.test,)))
            each.append(response)
        return joined(each)

    def correction_inside(self, option: Option, blocks: Sequence[Block]) -> Correction | None:
        """Return calibration and threshold of an option found within the blocks, if asked for."""
        self.check_time()
        if not self.contest.corrects:
            return None
        found = self._cross_validated((self.candidate(option),), blocks)
        return self.correction(None if found is None else (found[0][Option(0, 0)], found[1]))

    def correction(self, held: tuple[Response, Target] | None) -> Correction:
        """Return calibration and threshold found from out-of-fold responses."""
        self.check_time()
        amount, in_order = self.layer.problem.amount, self.reading.in_order
        return Corrector(self.contest.methods, self.contest.threshold, amount, in_order).find(held)

    def judged_target(self) -> Target:
        """Return what the judged rows should have been predicted as."""
        return self.target([judgement.test for judgement in self.reading.judgements])

    def target(self, blocks: Sequence[Block]) -> Target:
        """Return what the blocks' rows should have been predicted as."""
        return self.layer.problem.target(rows_of(blocks), fold_numbers(blocks))

    @property
    def as_labels(self) -> bool:
        """Whether the candidates have only their labels in common."""
        classify = self.layer.problem.labels is not None
        kinds = {response_kind(candidate.estimator) for candidate in self.contest.candidates}
        return classify and len(kinds) > 1

    def respond(self, stacker: Any, features: Features) -> Response:
        """Return a stacker's response, of one kind for all candidates."""
        response = respond(stacker, features)
        if not self.as_labels:
            return response
        return Response("label", response.labels.astype(np.float64)[:, None])

    def fitted(self, candidate: Candidate) -> list[Any]:
        """Return some stacker without a grid, fitted without each judged fold."""
        each = [self._fit_all((candidate,), j.train) for j in self.reading.judgements]
        return [stacker for stackers in each for stacker in stackers.values()]

    def try_all(self, judgement: Judgement) -> tuple[dict[Option, Any], dict[Option, Response]]:
        """Fit every option without the judged fold, and predict the fold."""
        stackers = self._fit_all(self.contest.candidates, judgement.train)
        test = self.layer.features((judgement.test,))
        return stackers, {o: self.respond(stacker, test) for o, stacker in stackers.items()}

    def candidate(self, option: Option) -> Candidate:
        """Return the candidate of an option, with no other point in its grid."""
        candidate = self.contest.candidates[option.candidate]
        return replace(candidate, grid=(candidate.grid[option.point],))

    def fit(self, option: Option, blocks: Sequence[Block]) -> Any:
        """Return the option fitted on the blocks."""
        (stacker,) = self._fit_all((self.candidate(option),), blocks).values()
        return stacker

    def _fit_all(
        self, candidates: Iterable[Candidate], blocks: Sequence[Block]
    ) -> dict[Option, Any]:
        """Return every candidate, at every point of its grid, fitted on the blocks."""
        fitted: dict[Option, Any] = {}
        read: tuple[Features, Any] | None = None
        known = {} if self.known is None else self.known
        place = () if self.known is None else tuple((b.refs, b.rows.tobytes()) for b in blocks)
        for number, candidate in enumerate(candidates):
            self.check_time()
            estimator = candidate.estimator
            key = hash((self.names, place, id(estimator), str(candidate.grid)))
            if key not in known:
                read = read or self._read(blocks)
                # The estimator is kept, so that no other takes its place in memory, and its name.
                known[key] = estimator, self._fit_grid(candidate, blocks, *read)
            stackers = known[key][1]
            fitted |= {Option(number, point): own for point, own in enumerate(stackers)}
        return fitted

    def _read(self, blocks: Sequence[Block]) -> tuple[Features, Any]:
        """Return what stackers are fitted on, and the rows if the metric looks at them."""
        if self.layer.problem.is_large:
            # What was fitted and let go of before lies in pieces.
            give_back()
        looks, data = self.contest.metric.reads_rows, self.layer.problem.data
        return self.layer.features(blocks), take_rows(data.X, rows_of(blocks)) if looks else None

    def _fit_grid(
        self, candidate: Candidate, blocks: Sequence[Block], features: Features, rows: Any
    ) -> list[Any]:
        problem = self.layer.problem
        own = candidate if rows is None else candidate.scored_on(rows)
        y, weight = problem.data.y[rows_of(blocks)], candidate.weights(problem, blocks)
        return [without_rows_to_score(s) for s in own.fit_grid(features, y, weight, self.seed)]

    def check_time(self) -> None:
        """Raise once time is up."""
        if time.monotonic() > self.until:
            raise OutOfTimeError

    def choose_inside(self, blocks: Sequence[Block]) -> Option:
        """Choose by cross-validation over the blocks, which are all that is looked at."""
        if self.contest.n_points == 1:
            return Option(0, 0)
        found = self._cross_validated(self.contest.candidates, blocks)
        return Option(0, 0) if found is None else pick(*found, self.contest.metric)

    def _cross_validated(
        self, candidates: Sequence[Candidate], blocks: Sequence[Block]
    ) -> tuple[dict[Option, Response], Target] | None:
        """Return out-of-fold responses of candidates within the blocks, and their targets."""
        held: dict[Option, list[Response]] = {}
        tests: list[Block] = []
        for train, test in inner_splits(self.cut(blocks), self.reading):
            ahead = self.layer.features((test,))
            for option, stacker in self._fit_all(candidates, train).items():
                held.setdefault(option, []).append(self.respond(stacker, ahead))
            tests.append(test)
        if not tests:
            return None
        # One by one, as below: of many rows and options both would be much.
        return {o: joined(held.pop(o)) for o in list(held)}, self.target(tests)

    def cut(self, blocks: Sequence[Block]) -> Sequence[Block]:
        """Return a ring's blocks in parts, groups kept whole; where splits have gaps, as they are.

        What is fitted on one of two blocks is worse than on both, and so would be calibrated.
        """
        reading, problem = self.reading, self.layer.problem
        if reading.partners is None or len(blocks) >= RING_PARTS:
            return blocks
        dealt = {len(block.rows) + len(reading.trainable[block.fold]) for block in reading.final}
        if dealt != {problem.n_rows}:
            return blocks
        groups, n_parts = problem.data.groups, -(-RING_PARTS // max(len(blocks), 1))
        parts = []
        for block in blocks:
            own = np.arange(len(block.rows)) if groups is None else groups[block.rows]
            place = np.unique(own, return_inverse=True)[1] % n_parts
            parts += [replace(block, rows=block.rows[place == k], fold=-1) for k in range(n_parts)]
        return [part for part in parts if len(part.rows)]


def _misfits(response: Response, target: Target) -> FloatArray:
    """Return how badly each row was predicted: how far off, or what the truth's class lacks."""
    n_rows = len(target.y)
    if target.labels is None:
        return np.abs(response.values - target.y.reshape(n_rows, -1)).max(axis=1)
    return 1.0 - response.probabilities(len(target.labels))[np.arange(n_rows), target.y]


def inner_splits(
    blocks: Sequence[Block], reading: Reading
) -> Iterator[tuple[tuple[Block, ...], Block]]:
    """Yield training blocks and a test block: each block once as the test, or forward in time.

    What the splitter keeps apart stays apart: the training rows are those its split allows.
    A lone block is cut in two halves when time matters, else dealt into five parts.
    """
    parts = list(blocks)
    if len(parts) == 1:
        (only,) = parts
        n = len(only.rows)
        cuts = [slice(0, (n + 1) // 2), slice((n + 1) // 2, n)]
        if not reading.in_order:
            cuts = [slice(start, n, LONE_PARTS) for start in range(LONE_PARTS)]
        every = [replace(only, rows=only.rows[cut], fold=-1) for cut in cuts]
        parts = [block for block in every if len(block.rows)]
    for i, test in enumerate(parts):
        others = parts[:i] if reading.in_order else parts[:i] + parts[i + 1 :]
        if test.fold >= 0 and reading.trainable:
            allowed = reading.trainable[test.fold]
            others = [replace(b, rows=rows_inside(b.rows, allowed)) for b in others]
        train = tuple(block for block in others if len(block.rows))
        if train:
            yield train, test
