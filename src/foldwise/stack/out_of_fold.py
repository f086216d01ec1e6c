"""A fitted stack as diagnosis sees it: honest predictions of every learner for every row."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import ThreadpoolController

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.diagnose import OutOfFoldTable
from foldwise.learners import prepared
from foldwise.scores.metric import Metric, Target
from foldwise.scores.response import Response
from foldwise.stack.again import with_rows
from foldwise.stack.build import Deal
from foldwise.stack.claims import claims_of
from foldwise.stack.features import Features, clip_amount
from foldwise.stack.judge import Judge, joined
from foldwise.stack.own_stackers import MemberStacker
from foldwise.stack.reader import rows_of, weights_of


class OutOfFoldMixin(BaseEstimator):
    """Gives the out-of-fold table of a fitted stack."""

    deals_: list[Deal]
    score_: float
    score_se_: float
    _metric: Metric
    _seed: int
    _X: Any
    _candidates: Callable[..., Any]
    _training_rows: Callable[[Any], Any]
    _check_judged: Callable[[str], None]

    def out_of_fold_table(self, X: Any = None) -> OutOfFoldTable:
        """Return what :mod:`foldwise.diagnose` looks at.

        Parameters
        ----------
        X : array or frame, optional
            The training rows, needed only for a stack that passes columns through and was
            pickled since it was fitted.

        Returns
        -------
        OutOfFoldTable
            Hold-out predictions of the last layer's learners, the very ones the honest score
            and the leaderboard are made from, on the rows that every repeat judges.
        """
        check_is_fitted(self, "deals_")
        self._check_judged("out_of_fold_table")
        if self.deals_[0].top.problem.passthrough is not None:
            X = self._training_rows(X)
        deals = [with_rows(deal, X if X is not None else self._X) for deal in self.deals_]
        problem = deals[0].top.problem
        judges = tuple(
            Judge(
                d.top, d.reading, self._candidates(self._metric, problem), self._metric, self._seed
            )
            for d in deals
        )
        names = common_names(deals)
        rows = _common_rows(deals)
        weight = problem.data.sample_weight
        return OutOfFoldTable(
            names,
            np.stack([_hold_out(deal, names, rows) for deal in deals]),
            problem.data.y[rows],
            problem.labels,
            None if weight is None else weight[rows],
            _fold_of(deals[0], rows),
            score_of=SubsetScore(tuple(deals), judges, names, self._metric),
            metric=self._metric.name,
            claims=lambda: claims_of(deals, judges, self._metric),
            score=self.score_,
            score_se=self.score_se_,
        )


def common_names(deals: Sequence[Deal]) -> tuple[str, ...]:
    """Return the learners that no repeat has dropped, in their order."""
    every = [{entry.name for entry in deal.top.entries} for deal in deals]
    return tuple(e.name for e in deals[0].top.entries if all(e.name in names for names in every))


def _common_rows(deals: Sequence[Deal]) -> IntArray:
    rows = np.sort(deals[0].verdict.rows)
    for deal in deals[1:]:
        rows = np.intersect1d(rows, deal.verdict.rows)
    return rows


def _hold_out(deal: Deal, names: Sequence[str], rows: IntArray) -> FloatArray:
    """Return predictions of shape (n_rows, n_learners, width), all classes written out."""
    blocks = [judgement.test for judgement in deal.reading.judgements]
    features = restricted(deal.top.features(blocks), names)
    members = features.members
    if features.n_classes == 2:
        members = np.concatenate([1.0 - members, members], axis=2)
    order = np.argsort(rows_of(blocks))
    places = order[np.searchsorted(rows_of(blocks), rows, sorter=order)]
    return members[places]


def _fold_of(deal: Deal, rows: IntArray) -> IntArray:
    fold = np.full(deal.lattice.n_rows, -1, dtype=np.intp)
    for judgement in deal.reading.judgements:
        fold[judgement.test.rows] = judgement.fold
    return fold[rows]


def restricted(features: Features, names: Sequence[str]) -> Features:
    """Return the features of some learners only, in the order of the names."""
    places = [features.names.index(name) for name in names]
    return replace(
        features,
        outputs=[features.outputs[place] for place in places],
        names=tuple(names),
        kinds=tuple(features.kinds[place] for place in places),
    )


@dataclass(frozen=True)
class JudgedFeatures:
    """What one judged fold's stacker is trained and asked on."""

    train: Features
    test: Features
    y: Array
    weight: FloatArray | None


@dataclass(frozen=True)
class SubsetScore:
    """The honest score of the stack that has only some of its learners."""

    deals: tuple[Deal, ...]  # one a repeat
    judges: tuple[Judge, ...]  # one a repeat
    names: tuple[str, ...]  # the learners that subsets number
    metric: Metric  # what is scored

    def __call__(self, subset: tuple[int, ...]) -> float:
        """Fit the deployed kind of stacker on some learners, without each fold, and judge it.

        Calibration is left out: it is the same for all subsets.
        """
        names = [self.names[m] for m in subset]
        with self._threads.limit(limits=1, user_api="blas"):
            scores = [
                self.metric.score(self._held(number, names), target)
                for number, target in enumerate(self._targets)
            ]
        return float(np.mean(scores))

    @cached_property
    def _threads(self) -> ThreadpoolController:
        # Found once: looking for the libraries takes longer than most fits here.
        return ThreadpoolController()

    @cached_property
    def _targets(self) -> list[Target]:
        return [judge.judged_target() for judge in self.judges]

    def _held(self, number: int, names: Sequence[str]) -> Response:
        deal, judge = self.deals[number], self.judges[number]
        option = deal.verdict.option
        candidate = judge.candidates[option.candidate]
        bare = self._bare[number]
        each = []
        for part in self._folds[number]:
            if not names:
                each.append(constant_response(part, len(part.test.outputs[0])))
                continue
            train = restricted(part.train, names)
            if isinstance(bare, MemberStacker):
                stacker = copy(bare).fit(bare.read(train), part.y, part.weight)
            else:
                how = {"point": option.point, "seed": judge.seed}
                stacker = candidate.fit(train, part.y, part.weight, **how)
            each.append(judge.respond(stacker, restricted(part.test, names)))
        return joined(each)

    @cached_property
    def _bare(self) -> list[Any]:
        """The stackers before they are fitted; a copy of one is quicker made than a clone."""
        options = [deal.verdict.option for deal in self.deals]
        return [
            prepared(judge.candidates[o.candidate].estimator, judge.seed).set_params(
                **judge.candidates[o.candidate].grid[o.point]
            )
            for judge, o in zip(self.judges, options, strict=True)
        ]

    @cached_property
    def _folds(self) -> list[list[JudgedFeatures]]:
        return [
            [
                JudgedFeatures(
                    deal.top.features(judgement.train),
                    deal.top.features((judgement.test,)),
                    deal.top.problem.data.y[rows_of(judgement.train)],
                    weights_of(judgement.train, deal.top.problem.data.sample_weight),
                )
                for judgement in deal.reading.judgements
            ]
            for deal in self.deals
        ]


def constant_response(part: JudgedFeatures, n_rows: int) -> Response:
    """Return what is known without any learner: the mean target, or how frequent classes are."""
    n_classes = part.train.n_classes
    if n_classes is None:
        mean = np.average(part.y.reshape(len(part.y), -1), axis=0, weights=part.weight)
        return Response("value", np.tile(mean, (n_rows, 1)))
    counts = np.bincount(part.y, weights=part.weight, minlength=n_classes)
    shares = np.maximum(counts / counts.sum(), clip_amount(part.train.amount))
    return Response("probability", np.tile(shares / shares.sum(), (n_rows, 1)))
