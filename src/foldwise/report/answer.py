"""The first thing on the page: how good the model is, and against what."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from foldwise.report.blocks import Block, Prose, Section, Tile, Tiles
from foldwise.report.standings import BEST, NAIVE, STACK, Standing
from foldwise.report.wording import article, direction, interval, metric_name, verdict
from foldwise.scores.metric import Metric
from foldwise.wording import counted, decimals_for, number, percent, with_error

NORMAL_95 = 1.959964


def answer_section(stack: Any, standings: Sequence[Standing]) -> Section:
    """Return the answer: metric, honest score, its interval and what it means."""
    metric: Metric = stack._metric
    by_name = {standing.model: standing for standing in standings}
    own = by_name[STACK]
    if not math.isfinite(own.value):
        return Section("answer", "The answer", "", [Prose(_no_score(stack), warning=True)])
    rivals = [
        (by_name[name], words)
        for name, words in ((BEST, "the best single model"), (NAIVE, "a naive guess"))
        if name in by_name and math.isfinite(by_name[name].value)
    ]
    tiles = [_score_tile(own, metric, stack)]
    tiles += [_rival_tile(rival, words, metric) for rival, words in rivals]
    tiles += _typical_tile(stack)
    blocks: list[Block] = [Tiles(tiles)]
    return Section("answer", "The answer", _lead(own, rivals, metric, stack), blocks)


def _lead(own: Standing, rivals: Sequence[tuple[Standing, str]], metric: Metric, stack: Any) -> str:
    n_rows = sum(len(fold.test.rows) for fold in stack.deals_[0].reading.judgements)
    said = (
        f"Expect {article(metric_name(metric.name))} of about "
        f"{with_error(own.value, own.error)} on new rows like these ({direction(metric.sign)}), "
        f"judged on {counted(n_rows, 'row')} by models that never saw them."
    )
    words = [f"{verdict(r.gain, r.gain_error)} {name}" for r, name in rivals]
    return f"{said} The stack is {' and '.join(words)}." if words else said


def _score_tile(own: Standing, metric: Metric, stack: Any) -> Tile:
    decimals = decimals_for(own.error)
    half = NORMAL_95 * own.error
    meaning = "Its standard error could not be found."
    if decimals is not None:
        ends = interval(own.value - half, own.value + half, decimals)
        units = "groups" if stack.deals_[0].top.problem.data.groups is not None else "rows"
        meaning = f"95 % interval {ends}, over {units}."
    return Tile(
        f"Honest {metric_name(metric.name)} of the stack", with_error(own.value, own.error), meaning
    )


def _rival_tile(rival: Standing, words: str, metric: Metric) -> Tile:
    value = with_error(rival.value, rival.error)
    if rival.gain == 0:
        return Tile(f"Against {words}", "the same", f"Both predict alike: {value}.")
    said = verdict(rival.gain, rival.gain_error).removesuffix(" than").removesuffix(" as")
    apart = f"a paired difference of {with_error(abs(rival.gain), rival.gain_error)}"
    meaning = f"{said[0].upper()}{said[1:]}: {words} has {value}, {apart}."
    if abs(rival.gain) < rival.gain_error:
        return Tile(f"Against {words}", "about the same", meaning)
    tone = "" if math.isnan(rival.gain_error) else "good" if rival.gain > 0 else "bad"
    return Tile(f"Against {words}", _gain(rival, metric), meaning, tone)


def _gain(rival: Standing, metric: Metric) -> str:
    """Return how much better the stack is: a share of a loss, else a difference."""
    if metric.sign < 0 and rival.value > 0 and math.isfinite(rival.gain):
        side = "lower" if rival.gain >= 0 else "higher"
        return f"{percent(abs(rival.gain) / rival.value)} {side}"
    sign = "+" if rival.gain >= 0 else ""
    return sign + number(rival.gain, decimals_for(rival.gain_error))


def _typical_tile(stack: Any) -> list[Tile]:
    """Return one number a person can picture: a typical error, or how often the class is right."""
    judged = stack.deals_[0].verdict
    if judged.response is None or judged.target is None:
        return []
    y = judged.target.y
    if judged.target.labels is None:
        if y.ndim > 1 and y.shape[1] > 1:
            return []
        off = np.abs(judged.response.values[:, 0] - y.reshape(len(y)))
        half, most = np.quantile(off, [0.5, 0.9])
        meaning = (
            f"Half of the rows are off by less than this, nine in ten by less than {number(most)}."
        )
        return [Tile("A typical miss", number(half), meaning)]
    right = float(np.mean(judged.response.labels == y))
    share = np.bincount(y).max() / len(y)
    meaning = f"Always saying the most frequent class would be right for {percent(share, 1)}."
    return [Tile("Right class", percent(right, 1), meaning)]


def _no_score(stack: Any) -> str:
    if isinstance(stack.cv, str):
        why = "its learners were fitted elsewhere and may have seen these rows (cv='prefit')"
    else:
        why = "the folds leave nothing to judge the stack on"
    return f"There is no honest score: {why}. Fit with cv=5 to get one."
