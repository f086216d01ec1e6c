"""The leaderboard: the stack, its learners, the best single one and the plain mean."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from foldwise.arrays import BoolArray, FloatArray
from foldwise.engine.executor import give_back
from foldwise.scores.exact import (
    ScoreCorrection,
    degrees_of_freedom,
    differences,
    may_be_best,
    p_better,
    score_interval,
)
from foldwise.scores.metric import Evaluation, Metric
from foldwise.stack.fit import FittedStack
from foldwise.stack.problem import TITLES
from foldwise.stack.results.exact import (
    Board,
    board_of,
    correction,
    heavy_tails,
    weights_by_learner,
    widening,
)
from foldwise.stack.table.read import column_names


@dataclass(frozen=True)
class JudgedResults:
    """What a fit has found out about its own quality, over the repeats; NaN without a score.

    A stack has each as an attribute, with an underscore.
    """

    leaderboard: pd.DataFrame
    score: float
    score_se: float
    score_interval: tuple[float, float]  # holds the deployed model's score in 95 %
    score_uncorrected: float
    score_correction: ScoreCorrection
    p_stack_better: float  # than every learner
    score_note: str  # which few rows carry the uncertainty, if few do
    fold_scores: FloatArray


def judged_results(stacks: Sequence[FittedStack]) -> JudgedResults:
    """Judge every model of every repeat."""
    if stacks[0].problem.is_large:
        # What the choice of stackers left in pieces is wanted now.
        give_back()
    boards = [board_of(stack) for stack in stacks if stack.reading.judgements]
    frame = leaderboard(stacks, boards)
    return JudgedResults(
        frame,
        *honest_score(boards, stacks[0].metric),
        uncorrected_score(stacks)[0],
        correction(stacks, boards),
        float(frame.set_index("model")["p_stack_better"][TITLES[1]]),
        heavy_tails(stacks[0]),
        fold_scores(stacks),
    )


def leaderboard(stacks: Sequence[FittedStack], boards: Sequence[Board]) -> pd.DataFrame:
    """Return one row a model, the best first, from the boards of the deals that were judged.

    Columns ``model``, the metric, ``se``, ``difference`` to the stack in the metric's natural sign,
    ``difference_se`` (paired), ``fit_seconds``, ``predict_seconds``, ``weight``, ``may_be_best``,
    ``p_stack_better``.
    """
    metric = stacks[0].metric
    tables = [layer.table for stack in stacks for layer in stack.layers]
    top = [entry.name for entry in stacks[0].top.entries]
    weights = _weights(stacks)
    every = [entry.name for layer in stacks[0].layers for entry in layer.entries]
    ranks = _who_may_be_best(boards)
    titles = [TITLES[0], *top, *TITLES[1:], *(name for name in every if name not in top)]
    records = []
    for title in titles:
        # What is made of several learners took the time of all of them.
        whose = title if title in every else None
        seconds = {
            "fit_seconds": _seconds([table.fit_seconds for table in tables], whose),
            "predict_seconds": _seconds([table.predict_seconds for table in tables], whose),
        }
        scores, weight = _scores(title, boards, metric), weights.get(title, np.nan)
        rank = ranks.get(title, {"may_be_best": False, "p_stack_better": np.nan})
        records.append({"model": title, **scores, **seconds, "weight": weight, **rank})
    return (
        pd.DataFrame(records)
        .sort_values(metric.name, ascending=metric.sign < 0, kind="stable", na_position="last")
        .reset_index(drop=True)
    )


def _who_may_be_best(boards: Sequence[Board]) -> dict[str, dict[str, Any]]:
    """Return which models cannot be told from the best, and p-values of the stack's lead.

    "best single" has the one of the stack being better than every learner: a lead over the best
    of them in hindsight would be luck to some part.
    """
    if not boards:
        return {}
    titles, widen = list(boards[0].rows), widening(boards)
    scores = np.mean([[b.rows[t].evaluation.score for t in titles] for b in boards], axis=0)
    covariance = np.mean([board.covariance for board in boards], axis=0)
    inside = may_be_best(scores, covariance, widen=widen)
    errors = (widen * np.sqrt(differences(covariance)))[0]
    p = {t: p_better(scores[0] - scores[m], errors[m]) for m, t in enumerate(titles)}
    p[TITLES[0]] = np.nan
    p[TITLES[1]] = max(p[t] for t in titles if t not in TITLES)
    return {
        title: {"may_be_best": bool(inside[m]), "p_stack_better": p[title]}
        for m, title in enumerate(titles)
    }


def _seconds(spent: Sequence[dict[str, float]], whose: str | None) -> float:
    return sum(s for each in spent for name, s in each.items() if whose in (None, name))


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _scores(title: str, boards: Sequence[Board], metric: Metric) -> dict[str, float]:
    if not boards or title not in boards[0].rows:
        return dict.fromkeys([metric.name, "se", "difference", "difference_se"], np.nan)
    each = [board.rows[title].evaluation for board in boards]
    stack = [board.rows[TITLES[0]].evaluation for board in boards]
    place, wider = list(boards[0].rows).index(title), widening(boards)
    return compared(each, stack, metric, wider[place, place], wider[0, place])


def compared(
    each: Sequence[Evaluation],
    others: Sequence[Evaluation],
    metric: Metric,
    wider: float,
    wider_apart: float,
) -> dict[str, float]:
    """Return the mean score over repeats and its difference to another's, with their errors."""
    pairs = list(zip(each, others, strict=True))
    return {
        metric.name: metric.natural(_mean(own.score for own in each)),
        "se": wider * _mean(own.standard_error for own in each),
        "difference": metric.natural(_mean(own.score - other.score for own, other in pairs)),
        "difference_se": wider_apart * _mean(own.error_of_difference(o) for own, o in pairs),
    }


def _weights(stacks: Sequence[FittedStack]) -> dict[str, float]:
    each = [weights_by_learner(stack) for stack in stacks]
    return {name: _mean(weights.get(name, np.nan) for weights in each) for name in each[0]}


def out_of_fold(
    stacks: Sequence[FittedStack], index: Any, kept: BoolArray | None = None
) -> pd.DataFrame:
    """Return each row's out-of-fold prediction by each learner, the mean over repeats.

    NaN where no split tests it, and for rows that were not kept. Shapes: returns
    (n_samples, n_columns).
    """
    names = columns_of(stacks[0])
    each = [_out_of_fold(stack) for stack in stacks]
    values = each[0] if len(each) == 1 else sum(each) / len(each)
    if kept is not None:
        own, values = values, np.full((len(kept), len(names)), np.nan)
        values[kept] = own
    return pd.DataFrame(values, columns=names, index=index)


def _out_of_fold(stack: FittedStack) -> FloatArray:
    count = np.zeros(stack.lattice.n_rows)
    total = np.zeros((stack.lattice.n_rows, len(columns_of(stack))))
    for block in stack.reading.final:
        total[block.rows] += np.hstack(
            [stack.top.table.read(entry.name, block) for entry in stack.top.entries]
        )
        count[block.rows] += 1
    with np.errstate(invalid="ignore"):
        return total / count[:, None]


def columns_of(stack: FittedStack) -> list[str]:
    """Return the names of the columns of out-of-fold predictions."""
    block, table = stack.reading.final[0], stack.top.table
    return [
        column
        for entry in stack.top.entries
        for column in column_names(
            entry.name, table.read(entry.name, block).shape[1], stack.problem.labels
        )
    ]


def honest_score(
    boards: Sequence[Board], metric: Metric
) -> tuple[float, float, tuple[float, float]]:
    """Return the mean score over repeats, its standard error and its 95 % interval.

    Neither is shrunk for repeats.
    """
    if not boards:
        nan = float("nan")
        return nan, nan, (nan, nan)
    each = [board.rows[TITLES[0]].evaluation for board in boards]
    score = _mean(e.score for e in each)
    error = float(widening(boards)[0, 0]) * _mean(e.standard_error for e in each)
    degrees = _mean(degrees_of_freedom(e.contributions) for e in each)
    more = _mean(board.rows[TITLES[0]].more for board in boards)
    return score, error, score_interval(score, error, degrees, metric.best, more)


def uncorrected_score(stacks: Sequence[FittedStack]) -> tuple[float, float]:
    """Return the same of the hold-out predictions as they are, before any correction."""
    each = [s.verdict.evaluation for s in stacks if s.verdict.evaluation is not None]
    if not each:
        return float("nan"), float("nan")
    return _mean(e.score for e in each), _mean(e.standard_error for e in each)


def fold_scores(stacks: Sequence[FittedStack]) -> FloatArray:
    """Return the score of each judged fold, repeat after repeat."""
    each = [
        s.metric.fold_scores(s.verdict.response, s.verdict.target)
        for s in stacks
        if s.verdict.response is not None and s.verdict.target is not None
    ]
    return np.concatenate([np.empty(0), *each])
