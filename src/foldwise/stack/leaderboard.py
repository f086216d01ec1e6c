"""The leaderboard: the stack, its learners, the best single one and the plain mean."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from foldwise.scores.metric import Evaluation, Metric, Target
from foldwise.scores.response import Response
from foldwise.stack.build import Deal
from foldwise.stack.entries import TITLES
from foldwise.stack.features import column_names
from foldwise.stack.judge import Judge, Verdict, joined
from foldwise.stack.own_stackers import WeightedMean
from foldwise.stack.stackers import Candidate, linear_weights


def evaluations_of(deal: Deal, metric: Metric) -> dict[str, Evaluation]:
    """Return the evaluation of the stack, each learner, the best single and the plain mean.

    Names mapped to evaluations, all on the same rows and equally honest: the best single learner is
    chosen for each fold without looking at it.
    """
    verdict, labels = deal.verdict, deal.top.problem.labels
    assert verdict.response is not None
    assert verdict.target is not None
    evaluate = metric.evaluate
    rows = {TITLES[0]: evaluate(verdict.response, verdict.target)}
    tests = [judgement.test for judgement in deal.reading.judgements]
    members = deal.top.features(tests).members
    for m, entry in enumerate(deal.top.entries):
        alone = WeightedMean("mean", metric, labels).fit(members[:, [m]], np.empty(0))
        rows[entry.name] = evaluate(alone.respond(members[:, [m]]), verdict.target)
    for title, rule in ((TITLES[1], "best"), (TITLES[2], "mean")):
        candidate = Candidate(rule, WeightedMean(rule, metric, labels))
        rows[title] = _judged_alone(deal, candidate, metric, verdict.target)
    return rows


def _judged_alone(deal: Deal, candidate: Candidate, metric: Metric, target: Target) -> Evaluation:
    judge = Judge(deal.top, deal.reading, (candidate,), metric, 0)
    (option,) = judge.options
    held = [judge.try_all(judgement)[1][option] for judgement in deal.reading.judgements]
    return metric.evaluate(joined(held), target)


def leaderboard(deals: Sequence[Deal], metric: Metric) -> pd.DataFrame:
    """Return one row a model, the best first.

    Columns ``model``, the metric, ``se``, ``difference`` to the stack in the metric's natural sign,
    ``difference_se`` (paired), ``fit_seconds``, ``predict_seconds``, ``weight``.
    """
    judged = [evaluations_of(deal, metric) for deal in deals if deal.reading.judgements]
    tables = [reader.table for deal in deals for reader in deal.readers]
    top = [entry.name for entry in deals[0].top.entries]
    weights = _weights(deals)
    every = [entry.name for reader in deals[0].readers for entry in reader.entries]
    titles = [TITLES[0], *top, *TITLES[1:]]
    titles += [name for name in every if name not in top]
    total_fit = sum(sum(table.fit_seconds.values()) for table in tables)
    total_predict = sum(sum(table.predict_seconds.values()) for table in tables)
    records = []
    for title in titles:
        known = title in every
        records.append(
            {
                "model": title,
                **_scores(title, judged, metric),
                "fit_seconds": sum(t.fit_seconds.get(title, 0.0) for t in tables)
                if known
                else total_fit,
                "predict_seconds": sum(t.predict_seconds.get(title, 0.0) for t in tables)
                if known
                else total_predict,
                "weight": weights.get(title, np.nan),
            }
        )
    frame = pd.DataFrame(records)
    return frame.sort_values(
        metric.name, ascending=metric.sign < 0, kind="stable", na_position="last"
    ).reset_index(drop=True)


def _scores(
    title: str, judged: Sequence[dict[str, Evaluation]], metric: Metric
) -> dict[str, float]:
    if not judged or title not in judged[0]:
        return dict.fromkeys([metric.name, "se", "difference", "difference_se"], np.nan)
    own = [rows[title] for rows in judged]
    stack = [rows[TITLES[0]] for rows in judged]
    return {
        metric.name: metric.natural(float(np.mean([e.score for e in own]))),
        "se": float(np.mean([e.standard_error for e in own])),
        "difference": metric.natural(
            float(np.mean([e.score - s.score for e, s in zip(own, stack, strict=True)]))
        ),
        "difference_se": float(
            np.mean([e.error_of_difference(s) for e, s in zip(own, stack, strict=True)])
        ),
    }


def _weights(deals: Sequence[Deal]) -> dict[str, float]:
    each = []
    for deal in deals:
        widths = deal.top.features(deal.reading.final[:1]).widths
        names = [entry.name for entry in deal.top.entries]
        each.append(dict(zip(names, linear_weights(deal.verdict.stacker, widths), strict=True)))
    return {
        name: float(np.mean([weights.get(name, np.nan) for weights in each])) for name in each[0]
    }


def out_of_fold(deal: Deal, X_index: Any, names: Sequence[str]) -> pd.DataFrame:
    """Return each row's out-of-fold prediction by each learner, NaN where no split tests it.

    Shapes: returns (n_samples, n_columns).
    """
    n_rows = deal.lattice.n_rows
    total = np.zeros((n_rows, len(names)))
    count = np.zeros(n_rows)
    for block in deal.reading.final:
        values = np.hstack([deal.top.table.read(e.name, block) for e in deal.top.entries])
        total[block.rows] += values
        count[block.rows] += 1
    with np.errstate(invalid="ignore"):
        mean = total / count[:, None]
    return pd.DataFrame(mean, columns=list(names), index=X_index)


def honest_score(verdicts: Sequence[Verdict], metric: Metric) -> tuple[float, float]:
    """Return the mean score over repeats and its standard error, not shrunk for repeats."""
    each = [
        metric.evaluate(v.response, v.target)
        for v in verdicts
        if isinstance(v.response, Response) and v.target is not None
    ]
    if not each:
        return float("nan"), float("nan")
    return (
        float(np.mean([e.score for e in each])),
        float(np.mean([e.standard_error for e in each])),
    )


def columns_of(deal: Deal) -> list[str]:
    """Return the names of the columns of out-of-fold predictions."""
    labels = deal.top.problem.labels
    block = deal.reading.final[0]
    return [
        column
        for entry in deal.top.entries
        for column in column_names(
            entry.name, deal.top.table.read(entry.name, block).shape[1], labels
        )
    ]
