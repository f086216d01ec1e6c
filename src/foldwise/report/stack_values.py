"""All that the report reads of a fitted stack, as plain values: nothing else looks inside one."""

import math
import operator
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from foldwise.arrays import Array, IntArray
from foldwise.diagnose import OutOfFoldTable
from foldwise.errors import FoldwiseError
from foldwise.folds import Lattice, Reading
from foldwise.report.predictions import Predictions, naive_response
from foldwise.scores.metric import Evaluation, Metric, Target, joined
from foldwise.stack.estimator import BaseStacking
from foldwise.stack.fit import FittedStack
from foldwise.stack.judge.thrift import PredictionCosts
from foldwise.stack.problem import TITLES
from foldwise.stack.results.frontier import frontier
from foldwise.stack.table.read import rows_of
from foldwise.wording import counted

STACK, BEST, MEAN = TITLES
NAIVE = "naive guess"
MORE = ("fit_seconds", "predict_seconds", "weight")


@dataclass(frozen=True)
class Standing:
    """One model on the leaderboard; what is not known is NaN."""

    model: str  # its name
    value: float  # the metric in its natural sign, and its standard error
    error: float
    gain: float  # how much better the stack is, and the error of this paired difference
    gain_error: float
    fit_seconds: float = math.nan
    predict_seconds: float = math.nan
    weight: float = math.nan

    @property
    def learns(self) -> bool:
        """Whether this is a learner of the stack."""
        return self.model not in (*TITLES, NAIVE)


@dataclass(frozen=True)
class FoldResult:
    """How one fold was judged."""

    name: str  # its number, and that of the repeat where there are several
    n_rows: int
    value: float  # the metric in its natural sign
    stacker: Any  # the stacker chosen without it


@dataclass(frozen=True)
class RowAudit:
    """What tracing predictions to the rows their models saw has found."""

    n_reads: int = 0  # how many predictions used for judging were traced
    n_seen: int = 0  # how many of them came from a model that had seen the row or the judged fold
    n_shared_groups: int = 0  # how many groups stand on both sides of a judged fold

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return self.n_seen == 0 and self.n_shared_groups == 0

    def __add__(self, other: "RowAudit") -> "RowAudit":
        return RowAudit(*map(operator.add, astuple(self), astuple(other)))


@dataclass(frozen=True)
class StackValues:
    """A fitted stack as the report sees it; where there are repeats, the first deal of the rows."""

    fitted: Any  # the stack itself, for its public attributes
    metric: Metric
    lattice: Lattice
    reading: Reading
    standings: Sequence[Standing]  # the leaderboard with the naive guess, the best first
    table: OutOfFoldTable | None  # without judged folds, or without rows passed on, there is none
    judged: Predictions | None  # hold-out predictions of the judged rows
    folds: Sequence[FoldResult]  # of all repeats
    audit: RowAudit  # of all repeats
    misfits: Sequence[Array]  # a fold each: how far off hold-out predictions were, in terms of
    expected: Sequence[Array]  # how far off they were expected to be; ones if that is not known
    seconds_a_row: float  # to predict one, by the times measured while fitting
    target: Target  # of the training rows
    X: Any  # training rows; not kept when a stack is pickled
    # what smaller stacks lose and save, in some seconds; None where it cannot be told
    frontier: Callable[[float | None], pd.DataFrame] | None = None

    @property
    def n_judged(self) -> int:
        """How many rows were judged."""
        return sum(len(judgement.test.rows) for judgement in self.reading.judgements)

    @property
    def groups(self) -> IntArray | None:
        """The group of each training row."""
        return self.target.unit

    @property
    def cheap(self) -> bool:
        """Whether the stacker is a weighted mean or linear, so that fitting it costs little."""
        return any(hasattr(self.fitted.stacker_, name) for name in ("weights_", "coef_"))


def stack_in(model: Any) -> BaseStacking | None:
    """Return the stack that a model is or holds."""
    stack = model if isinstance(model, BaseStacking) else getattr(model, "stack_", None)
    return stack if isinstance(stack, BaseStacking) else None


def stack_values(stack: Any) -> StackValues:
    """Read a fitted stack."""
    deal = stack.deals_[0]
    folds = [fold for fold in deal.verdict.folds if len(fold.misfits)]
    return StackValues(
        fitted=stack,
        metric=stack._metric,
        lattice=deal.lattice,
        reading=deal.reading,
        standings=_standings(stack),
        table=_table(stack),
        judged=_judged(deal),
        folds=_folds(stack),
        audit=sum(map(audit_rows, stack.deals_), RowAudit()),
        misfits=[fold.relative for fold in folds],
        expected=[np.ones(len(f.misfits)) if f.expected is None else f.expected for f in folds],
        seconds_a_row=sum(_seconds_by_learner(stack).values()) * len(stack.deals_),
        target=_target(deal),
        X=getattr(stack, "_X", None),
        frontier=_frontier(stack),
    )


def _frontier(stack: Any) -> Callable[[float | None], pd.DataFrame] | None:
    """Return how to find the frontier, by the times measured while fitting, if it can be told."""
    deal, spent = stack.deals_[0], _seconds_by_learner(stack)
    whole = len(deal.top.answering(deal.reading.deployed)) == len(deal.top.entries)
    # A stack that was saved has no rows any more, which what stands on top would read.
    gone = deal.problem.reads_rows and deal.problem.data.X is None
    judged = deal.reading.judgements and not deal.metric.reads_rows
    if len(deal.layers) > 1 or not whole or not judged or gone:
        return None
    # Even what takes no time at all is one learner more.
    costs = PredictionCosts(
        {name: {name: max(1000 * seconds, 1e-7)} for name, seconds in spent.items()}
    )
    return lambda seconds: frontier(stack.deals_, seconds, [costs] * len(stack.deals_))


def _target(deal: FittedStack) -> Target:
    problem = deal.top.problem
    data, folds = problem.data, deal.lattice.fold_of
    return Target(data.y, problem.labels, data.sample_weight, folds, data.groups)


def _standings(stack: Any) -> list[Standing]:
    metric: Metric = stack._metric
    board = stack.leaderboard_.assign(difference=lambda b: -metric.sign * b["difference"])
    columns = ["model", metric.name, "se", "difference", "difference_se", *MORE]
    known = [Standing(*row) for row in board[columns].itertuples(index=False, name=None)]
    every = [*known, *_naive_standing(stack, metric)]
    return sorted(every, key=lambda s: np.nan_to_num(-metric.sign * s.value, nan=np.inf))


def _naive_standing(stack: Any, metric: Metric) -> list[Standing]:
    """Return how a guess from the training targets alone does on the judged rows."""
    pairs: list[tuple[Evaluation, Evaluation]] = []
    for deal in stack.deals_:
        verdict = deal.verdict
        if verdict.response is None or verdict.target is None:
            return []
        target = _target(deal)
        guesses = []
        for judgement in deal.reading.judgements:
            known = target.take(np.unique(rows_of(judgement.train)))
            guesses.append(naive_response(known, metric, len(judgement.test.rows)))
        try:
            guess = metric.evaluate(joined(guesses), verdict.target)
        except ValueError:
            # Some scorers refuse a constant prediction.
            return []
        pairs.append((metric.evaluate(verdict.response, verdict.target), guess))
    naive = compared(pairs, metric)
    # A guess from the targets alone has no learning curve worth correcting.
    return [replace(naive, gain=stack.score_ - metric.natural(naive.value))]


def compared(pairs: Sequence[tuple[Evaluation, Evaluation]], metric: Metric) -> Standing:
    """Return where a naive guess stands, from evaluations of a model and of the guess."""
    return Standing(
        model=NAIVE,
        value=metric.natural(float(np.mean([guess.score for _, guess in pairs]))),
        error=float(np.mean([guess.standard_error for _, guess in pairs])),
        gain=float(np.mean([own.score - guess.score for own, guess in pairs])),
        gain_error=float(np.mean([guess.error_of_difference(own) for own, guess in pairs])),
    )


def _table(stack: Any) -> OutOfFoldTable | None:
    try:
        return stack.out_of_fold_table()
    except FoldwiseError:
        return None


def _judged(deal: FittedStack) -> Predictions | None:
    response, target = deal.verdict.response, deal.verdict.target
    if response is None or target is None:
        return None
    words = f"{counted(len(target.y), 'judged row')}, each predicted by a stack that never saw it"
    return Predictions(response, target, words)


def _folds(stack: Any) -> list[FoldResult]:
    several, scores = len(stack.deals_) > 1, iter(stack.fold_scores_)
    return [
        FoldResult(
            f"{fold.fold + 1} of repeat {repeat}" if several else str(fold.fold + 1),
            len(judgement.test.rows),
            stack._metric.natural(float(next(scores))),
            fold.stacker,
        )
        for repeat, deal in enumerate(stack.deals_, 1)
        for judgement, fold in zip(deal.reading.judgements, deal.verdict.folds, strict=True)
    ]


def audit_rows(deal: FittedStack) -> RowAudit:
    """Trace every prediction used for judging to the rows its model was fitted on."""
    n_reads = n_seen = n_shared = 0
    unit = deal.top.problem.data.groups
    for judgement in deal.reading.judgements:
        held = np.zeros(deal.lattice.n_rows, dtype=bool)
        held[judgement.test.rows] = True
        for block in (*judgement.train, judgement.test):
            for node in {ref.node for ref in block.refs}:
                saw = np.zeros(deal.lattice.n_rows, dtype=bool)
                saw[deal.lattice.rows(node)] = True
                n_reads += len(block.rows)
                n_seen += len(block.rows) if (saw & held).any() else int(saw[block.rows].sum())
        trained = np.concatenate([block.rows for block in judgement.train])
        n_seen += int(held[trained].sum())
        if unit is not None:
            n_shared += len(np.intersect1d(unit[trained], unit[judgement.test.rows]))
    return RowAudit(n_reads, n_seen, n_shared)


def _seconds_by_learner(stack: Any) -> dict[str, float]:
    """Return what the deployed models of each learner take for a row, in one deal."""
    spent: dict[str, float] = {}
    for reader in stack.deals_[0].layers:
        asked: Counter[str] = Counter()
        for (name, _, _), (rows, _) in reader.table.predictions.items():
            asked[name] += len(rows)
        for name, n_rows in asked.items():
            models = getattr(stack.named_estimators_.get(name), "models", [None])
            seconds = reader.table.predict_seconds.get(name, 0.0)
            spent[name] = len(models) * seconds / max(n_rows, 1)
    return spent
