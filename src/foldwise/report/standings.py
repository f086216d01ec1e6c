"""The leaderboard as the report reads it, with a naive guess that knows the target alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import mean_absolute_error, median_absolute_error

from foldwise.arrays import Array, FloatArray
from foldwise.scores.metric import Evaluation, Metric
from foldwise.scores.response import Response, joined
from foldwise.stack.fit import FittedStack
from foldwise.stack.problem import TITLES
from foldwise.stack.table.table import rows_of

STACK, BEST, MEAN = TITLES
NAIVE = "naive guess"
MIDDLES = (mean_absolute_error, median_absolute_error)


@dataclass(frozen=True)
class Standing:
    """One model on the leaderboard."""

    model: str  # its name
    value: float  # the metric in its natural sign, and its standard error
    error: float  # the metric in its natural sign, and its standard error
    # how much better the stack is, greater is better, with the error of the paired difference
    gain: float
    # how much better the stack is, greater is better, with the error of the paired difference
    gain_error: float
    fit_seconds: float = float("nan")  # naN where there is none
    predict_seconds: float = float("nan")  # naN where there is none
    weight: float = float("nan")  # naN where there is none

    @property
    def learns(self) -> bool:
        """Whether this is a learner of the stack."""
        return self.model not in (*TITLES, NAIVE)


def standings(stack: Any) -> list[Standing]:
    """Return the stack's leaderboard with the naive guess, the best first."""
    metric: Metric = stack._metric
    known = [
        Standing(
            model=str(row["model"]),
            value=float(row[metric.name]),
            error=float(row["se"]),
            gain=-metric.sign * float(row["difference"]),
            gain_error=float(row["difference_se"]),
            fit_seconds=float(row["fit_seconds"]),
            predict_seconds=float(row["predict_seconds"]),
            weight=float(row["weight"]),
        )
        for row in stack.leaderboard_.to_dict("records")
    ]
    naive = naive_standing(stack.deals_, metric)
    every = known if naive is None else [*known, naive]
    return sorted(every, key=lambda s: np.nan_to_num(-metric.sign * s.value, nan=np.inf))


def naive_standing(deals: Sequence[FittedStack], metric: Metric) -> Standing | None:
    """Return how a guess from the training targets alone does on the judged rows."""
    pairs: list[tuple[Evaluation, Evaluation]] = []
    for deal in deals:
        verdict = deal.verdict
        if verdict.response is None or verdict.target is None:
            return None
        try:
            guess = metric.evaluate(_guess(deal, metric), verdict.target)
        except ValueError:
            return None
        pairs.append((guess, metric.evaluate(verdict.response, verdict.target)))
    if not pairs:
        return None
    return Standing(
        model=NAIVE,
        value=metric.natural(float(np.mean([guess.score for guess, _ in pairs]))),
        error=float(np.mean([guess.standard_error for guess, _ in pairs])),
        gain=float(np.mean([own.score - guess.score for guess, own in pairs])),
        gain_error=float(np.mean([guess.error_of_difference(own) for guess, own in pairs])),
    )


def _guess(deal: FittedStack, metric: Metric) -> Response:
    data, labels = deal.top.problem.data, deal.top.problem.labels
    each = []
    for judgement in deal.reading.judgements:
        rows = np.unique(rows_of(judgement.train))
        weight = None if data.sample_weight is None else data.sample_weight[rows]
        row, kind = naive_row(data.y[rows], weight, labels, metric.function)
        each.append(Response(kind, np.tile(row, (len(judgement.test.rows), 1))))
    return joined(each)


def naive_row(
    y: Array, weight: Array | None, labels: Any, function: Any = None
) -> tuple[FloatArray, str]:
    """Return the prediction that knows the targets alone, and its kind.

    Shapes: returns (1, width).
    """
    if labels is not None:
        counts = np.bincount(y, weights=weight, minlength=len(labels)) + 1.0 / len(labels)
        return (counts / counts.sum())[None, :], "probability"
    columns = np.asarray(y, np.float64).reshape(len(y), -1)
    if function in MIDDLES:
        return np.median(columns, axis=0)[None, :], "value"
    return np.average(columns, axis=0, weights=weight)[None, :], "value"
