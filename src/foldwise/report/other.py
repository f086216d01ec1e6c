"""The shorter report on estimators that are not stacks: what they know, and how they do on rows."""

import math
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from foldwise.report.answer import NORMAL_95
from foldwise.report.blocks import Block, Prose, Section, Tile, Tiles
from foldwise.report.columns import Rows, columns_section
from foldwise.report.data import data_section
from foldwise.report.evidence import Evidence, given_evidence
from foldwise.report.known import known_section
from foldwise.report.quality import quality_section
from foldwise.report.reproduce import reproduce_section
from foldwise.report.rules import rule_table
from foldwise.report.standings import naive_row
from foldwise.report.wording import article, direction, interval, metric_name, verdict
from foldwise.scores.metric import Evaluation, Metric, Target, as_metric
from foldwise.scores.response import Response
from foldwise.wording import counted, decimals_for, percent, with_error


def other_sections(model: Any, X: Any, y: Any) -> list[Section]:
    """Return the sections of the report on an estimator that is not a stack."""
    evidence = None if X is None else given_evidence(model, X, y)
    rules = getattr(model, "rules_", None)
    found = [
        _answer(model, evidence),
        None if evidence is None else quality_section(evidence),
        None
        if evidence is None
        else columns_section(model, Rows(X, np.asarray(y)), _metric(model, evidence)),
        _rules(rules) if isinstance(rules, pd.DataFrame) else None,
        known_section(model),
        None if evidence is None else _data(model, evidence, X),
        reproduce_section(model),
    ]
    return [section for section in found if section is not None]


def _rules(rules: pd.DataFrame) -> Section:
    lead = f"The model is a sum of {counted(len(rules), 'term')}, the most important first."
    return Section("rules", "The rules", lead, [rule_table(rules)])


def _data(model: Any, evidence: Evidence, X: Any) -> Section:
    names = getattr(model, "feature_names_in_", None)
    return data_section(evidence.y, evidence.classes, None, X, names)


def _answer(model: Any, evidence: Evidence | None) -> Section:
    tiles = _own_score(model)
    blocks: list[Block] = []
    lead = ""
    if evidence is not None:
        metric = _metric(model, evidence)
        own, naive = evaluate(evidence, metric)
        tiles = [*_score_tiles(own, naive, metric), *tiles]
        value = metric.natural(own.score)
        lead = (
            f"On {evidence.words}, the model has {article(metric_name(metric.name))} of "
            f"{with_error(value, own.standard_error)} ({direction(metric.sign)})."
        )
    elif not tiles:
        blocks.append(
            Prose(
                f"This {type(model).__name__} does not judge itself. Give rows it has not seen as "
                "X and y, or stack it: a stack's score is honest.",
                warning=True,
            )
        )
    return Section("answer", "The answer", lead, [*([Tiles(tiles)] if tiles else []), *blocks])


def _metric(model: Any, evidence: Evidence) -> Metric:
    return as_metric(
        None,
        owner=type(model).__name__,
        classify=is_classifier(model),
        has_probabilities=evidence.probabilities is not None,
    )


def evaluate(evidence: Evidence, metric: Metric) -> tuple[Evaluation, Evaluation]:
    """Return the evaluation of a model on given rows, and that of a naive guess."""
    n = len(evidence.y)
    target = Target(evidence.y, evidence.classes, evidence.weight, np.zeros(n, dtype=np.intp))
    if evidence.classes is None:
        response = Response("value", evidence.predicted.reshape(n, -1))
    elif evidence.probabilities is not None:
        response = Response("probability", evidence.probabilities, evidence.predicted)
    else:
        response = Response("label", evidence.predicted.astype(np.float64)[:, None])
    row, kind = naive_row(evidence.y, evidence.weight, evidence.classes, metric.function)
    guess = Response(kind, np.tile(row, (n, 1)))
    return metric.evaluate(response, target), metric.evaluate(guess, target)


def _score_tiles(own: Evaluation, naive: Evaluation, metric: Metric) -> list[Tile]:
    value, error = metric.natural(own.score), own.standard_error
    meaning = "Its standard error could not be found."
    if decimals_for(error) is not None:
        half = NORMAL_95 * error
        meaning = f"95 % interval {interval(value - half, value + half, decimals_for(error))}."
    gain, apart = own.score - naive.score, own.error_of_difference(naive)
    said = verdict(gain, apart).removesuffix(" than").removesuffix(" as")
    them = metric.natural(naive.score)
    shown = with_error(abs(gain), apart)
    if metric.sign < 0 and them > 0 and math.isfinite(gain):
        shown = f"{percent(abs(gain) / them)} {'lower' if gain >= 0 else 'higher'}"
    return [
        Tile(f"{metric_name(metric.name)} on the rows given", with_error(value, error), meaning),
        Tile(
            "Against a naive guess",
            shown,
            f"{said[0].upper()}{said[1:]}: a naive guess has "
            f"{with_error(them, naive.standard_error)}.",
            ("good" if gain > 0 else "bad") if abs(gain) >= apart else "",
        ),
    ]


def _own_score(model: Any) -> list[Tile]:
    """Return the score the model has found for itself, out of bag."""
    score = getattr(model, "oob_score_", None)
    if score is None:
        return []
    name = "accuracy" if is_classifier(model) else "R²"
    value = with_error(float(score), float(getattr(model, "oob_score_se_", math.nan)))
    return [
        Tile(f"Out-of-bag {name}", value, "Each row judged by the members that did not see it.")
    ]
