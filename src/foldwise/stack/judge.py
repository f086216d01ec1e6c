"""Choosing the stacker without cheating, and judging what is deployed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from foldwise.folds import Block, Judgement, Reading, rows_inside
from foldwise.scores.metric import Metric, Target
from foldwise.scores.response import Response
from foldwise.stack.features import Features
from foldwise.stack.finish import UNTOUCHED, Finish, Finisher
from foldwise.stack.reader import Reader, rows_of, weights_of
from foldwise.stack.stackers import Candidate, respond, response_kind

LONE_PARTS = 5


@dataclass(frozen=True)
class Option:
    """One stacker at one point of its grid."""

    candidate: int
    point: int


@dataclass(frozen=True)
class JudgedFold:
    """How one fold was predicted."""

    fold: int  # which fold
    option: Option  # the stacker chosen without looking at it
    stacker: Any  # the stacker fitted without it
    finish: Finish = UNTOUCHED  # the calibration and threshold found without it

    def respond(self, features: Features) -> Response:
        """Return the finished response of the hold-out stack."""
        return self.finish.apply(respond(self.stacker, features))


@dataclass(frozen=True)
class Verdict:
    """The deployed stacker and everything known about its quality."""

    option: Option  # the deployed choice
    stacker: Any  # the deployed stacker
    folds: tuple[JudgedFold, ...]  # the hold-out stacks; empty if nothing could be judged
    response: Response | None  # hold-out predictions of all judged rows
    target: Target | None  # what they should have been
    rows: Any  # the judged rows
    finish: Finish = UNTOUCHED  # the deployed calibration and threshold

    def respond(self, features: Features, **parameters: Any) -> Response:
        """Return the finished response of the deployed stack."""
        return self.finish.apply(respond(self.stacker, features, **parameters))


@dataclass(frozen=True)
class Judge:
    """Fits, chooses and judges stackers over one table."""

    reader: Reader  # where features come from
    reading: Reading  # what is read
    candidates: tuple[Candidate, ...]  # the stackers to choose from, simplest first
    metric: Metric  # what is to be maximised
    seed: int  # seed of the stackers

    @property
    def options(self) -> list[Option]:
        """Every candidate at every point of its grid."""
        return [
            Option(index, point)
            for index, candidate in enumerate(self.candidates)
            for point in range(len(candidate.grid))
        ]

    def verdict(self) -> Verdict:
        """Choose twice: for each judged fold without it, for deployment by all of them."""
        judgements = self.reading.judgements
        if not judgements:
            final = self.reading.final
            option = self.choose_inside(final)
            return Verdict(option, self.fit(option, final), (), None, None, np.empty(0, np.intp))
        held: dict[Option, list[Response]] = {option: [] for option in self.options}
        folds, chosen = [], []
        for judgement in judgements:
            option = self.choose_inside(judgement.train)
            stackers, responses = self.try_all(judgement)
            folds.append(JudgedFold(judgement.fold, option, stackers[option]))
            chosen.append(responses[option])
            for tried, response in responses.items():
                held[tried].append(response)
        target = self.judged_target()
        option = self.pick({o: joined(held[o]) for o in self.options}, target)
        return Verdict(
            option,
            self.fit(option, self.reading.final),
            tuple(folds),
            joined(chosen),
            target,
            rows_of([j.test for j in judgements]),
        )

    def judged_target(self) -> Target:
        """Return what the judged rows should have been predicted as."""
        tests = [j.test for j in self.reading.judgements]
        fold = np.concatenate([np.full(len(b.rows), i) for i, b in enumerate(tests)])
        return self.reader.problem.target(rows_of(tests), fold)

    @property
    def _as_labels(self) -> bool:
        """Whether the candidates have only their labels in common."""
        classify = self.reader.problem.labels is not None
        return classify and len({response_kind(c.estimator) for c in self.candidates}) > 1

    def respond(self, stacker: Any, features: Features) -> Response:
        """Return a stacker's response, of one kind for all candidates."""
        response = respond(stacker, features)
        if not self._as_labels:
            return response
        return Response("label", response.labels.astype(np.float64)[:, None])

    def try_all(self, judgement: Judgement) -> tuple[dict[Option, Any], dict[Option, Response]]:
        """Fit every option without the judged fold, and predict the fold."""
        train = self.reader.features(judgement.train)
        test = self.reader.features((judgement.test,))
        stackers = self.fit_all(judgement.train, train)
        return stackers, {o: self.respond(stacker, test) for o, stacker in stackers.items()}

    def fit(self, option: Option, blocks: Sequence[Block]) -> Any:
        """Return the option fitted on the blocks."""
        candidate = self.candidates[option.candidate]
        features = self.reader.features(blocks)
        return candidate.fit(features, *self._targets(blocks), point=option.point, seed=self.seed)

    def fit_all(self, blocks: Sequence[Block], features: Features) -> dict[Option, Any]:
        """Return every option fitted on the blocks."""
        y, weight = self._targets(blocks)
        grids = [c.fit_grid(features, y, weight, self.seed) for c in self.candidates]
        return {o: grids[o.candidate][o.point] for o in self.options}

    def _targets(self, blocks: Sequence[Block]) -> tuple[Any, Any]:
        data = self.reader.problem.data
        return data.y[rows_of(blocks)], weights_of(blocks, data.sample_weight)

    def choose_inside(self, blocks: Sequence[Block]) -> Option:
        """Choose by cross-validation over the blocks, which are all that is looked at."""
        if len(self.options) == 1:
            return self.options[0]
        held: dict[Option, list[Response]] = {option: [] for option in self.options}
        tests = []
        for train, test in inner_splits(blocks, self.reading):
            features, ahead = self.reader.features(train), self.reader.features(test)
            for option, stacker in self.fit_all(train, features).items():
                held[option].append(self.respond(stacker, ahead))
            tests.append(test)
        if not tests:
            return self.options[0]
        return self.pick({o: joined(held[o]) for o in self.options}, self._inner_target(tests))

    def inside(self, option: Option, blocks: Sequence[Block]) -> tuple[Response, Target] | None:
        """Return out-of-fold responses of an option within the blocks, and their targets."""
        held, tests = [], []
        for train, test in inner_splits(blocks, self.reading):
            held.append(self.respond(self.fit(option, train), self.reader.features(test)))
            tests.append(test)
        return (joined(held), self._inner_target(tests)) if tests else None

    def finished(self, verdict: Verdict, finisher: Finisher) -> Verdict:
        """Return the verdict on the calibrated stack, with its threshold.

        For a judged fold both are found from out-of-fold responses made without it; for
        deployment from the hold-out responses of all judged folds, which are of the kind that
        new rows get.
        """
        if verdict.response is None or verdict.target is None:
            held = self.inside(verdict.option, self.reading.final)
            return replace(verdict, finish=finisher.find(held))
        folds, responses, held_out = [], [], []
        for judgement, judged in zip(self.reading.judgements, verdict.folds, strict=True):
            test = self.reader.features((judgement.test,))
            finish = finisher.find(self.inside(judged.option, judgement.train))
            folds.append(replace(judged, finish=finish))
            responses.append(folds[-1].respond(test))
            same = judged.option == verdict.option
            stacker = judged.stacker if same else self.fit(verdict.option, judgement.train)
            held_out.append(self.respond(stacker, test))
        return replace(
            verdict,
            folds=tuple(folds),
            response=joined(responses),
            finish=finisher.find((joined(held_out), verdict.target)),
        )

    def _inner_target(self, tests: Sequence[tuple[Block, ...]]) -> Target:
        fold = np.concatenate([np.full(len(rows_of(t)), i) for i, t in enumerate(tests)])
        rows = np.concatenate([rows_of(test) for test in tests])
        return self.reader.problem.target(rows, fold)

    def pick(self, responses: dict[Option, Response], target: Target) -> Option:
        """Take the best point of each candidate; of these the simplest within one error.

        The best candidate is passed over for a simpler one (an earlier one in the list)
        when the paired difference of their scores is within one standard error, and no still
        simpler one with a better score was found to be further off.
        """
        if len(responses) == 1:
            return next(iter(responses))
        best: dict[int, Option] = {}
        scores = {o: _or_worst(self.metric.score(r, target)) for o, r in responses.items()}
        for option, score in scores.items():
            rival = best.get(option.candidate)
            if rival is None or score > scores[rival]:
                best[option.candidate] = option
        winner = max(best.values(), key=lambda o: scores[o])
        if len(best) == 1:
            return winner
        top = self.metric.evaluate(responses[winner], target)
        passed = -np.inf
        for option in best.values():
            if option == winner:
                return winner
            if scores[option] < passed:
                continue
            this = self.metric.evaluate(responses[option], target)
            if top.score - this.score <= this.error_of_difference(top):
                return option
            passed = scores[option]
        return winner


def _or_worst(score: float) -> float:
    return -np.inf if np.isnan(score) else score


def joined(responses: Sequence[Response]) -> Response:
    """Return responses one below the other."""
    own = [r.own_labels for r in responses if r.own_labels is not None]
    return Response(
        responses[0].kind,
        np.concatenate([r.values for r in responses]),
        np.concatenate(own) if len(own) == len(responses) else None,
    )


def inner_splits(
    blocks: Sequence[Block], reading: Reading
) -> Iterator[tuple[tuple[Block, ...], tuple[Block, ...]]]:
    """Yield (train, test) blocks: each block once as the test, or forward in time.

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
            yield train, (test,)
