"""The first thing on the page: how good the model is, and against what."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from foldwise.report.blocks import Prose, Section, Tile, Tiles
from foldwise.report.predictions import Predictions, naive_response
from foldwise.report.stack_values import BEST, NAIVE, STACK, StackValues, Standing, compared
from foldwise.scores.exact import degrees_of_freedom, score_interval
from foldwise.scores.metric import Metric
from foldwise.wording import (
    CHANCE,
    article,
    closest_learner,
    counted,
    decimals_for,
    direction,
    metric_name,
    number,
    p_value,
    percent,
    shortened,
    verdict,
    who_may_be_best,
    with_error,
)

GUESS = "a naive guess"


def stack_answer_section(stack: StackValues) -> Section:
    """Return the answer: metric, honest score, its interval and what it means."""
    by_name = {standing.model: standing for standing in stack.standings}
    own = by_name[STACK]
    if not math.isfinite(own.value):
        return Section("answer", "The answer", "", [Prose(_no_score(stack), warning=True)])
    metric, units = stack.metric, "rows" if stack.groups is None else "groups"
    names = [_closest(stack), NAIVE]
    rivals = [by_name[n] for n in names if n in by_name and math.isfinite(by_name[n].value)]
    label = f"Honest {metric_name(metric.name)} of the stack"
    ends = getattr(stack.fitted, "score_interval_", (math.nan, math.nan))
    tile = _score_tile(label, own.value, own.error, ends, metric, f", over {units}")
    if note := getattr(stack.fitted, "score_note_", ""):
        tile = replace(tile, meaning=f"{tile.meaning} {note[0].upper()}{note[1:]}.")
    p = getattr(stack.fitted, "p_stack_better_", math.nan)
    against = [_rival_tile(rival, metric, p) for rival in rivals]
    tiles = Tiles([tile, *against, *_typical_tile(stack.judged)])
    return Section("answer", "The answer", _lead(own, rivals, stack), [tiles])


def _lead(own: Standing, rivals: Sequence[Standing], stack: StackValues) -> str:
    metric = stack.metric
    said = (
        f"Expect {article(metric_name(metric.name))} of about "
        f"{with_error(own.value, own.error)} on new rows like these ({direction(metric.sign)}), "
        f"judged on {counted(stack.n_judged, 'row')} by models that never saw them."
    )
    for rival in rivals:
        if rival.model == NAIVE:
            said += f" The stack is {verdict(rival.gain, rival.gain_error)} {GUESS}."
    board = stack.fitted.leaderboard_.dropna(subset=["se"])
    if "may_be_best" not in board:
        return said
    standings = (list(board[name]) for name in ("model", "may_be_best", "p_stack_better"))
    return f"{said} {who_may_be_best(*standings)}"


def _closest(stack: StackValues) -> str:
    """Return the learner that the p-value is about; the best single where there is none."""
    board = stack.fitted.leaderboard_
    if "p_stack_better" not in board:
        return BEST
    return closest_learner(list(board["model"]), list(board["p_stack_better"]))[0] or BEST


def _score_tile(
    label: str,
    value: float,
    error: float,
    ends: tuple[float, float],
    metric: Metric,
    over: str = "",
) -> Tile:
    """Return a score with its interval, whose ends are in the scorer's sign."""
    decimals = decimals_for(error)
    meaning = "Its standard error could not be found."
    if decimals is not None and all(map(math.isfinite, ends)):
        low, high = sorted(metric.natural(end) for end in ends)
        meaning = f"95 % interval {number(low, decimals)} to {number(high, decimals)}{over}."
    return Tile(label, with_error(value, error), meaning)


def _rival_tile(rival: Standing, metric: Metric, p: float) -> Tile:
    guess, value = rival.model == NAIVE, with_error(rival.value, rival.error)
    label = f"Against {GUESS}" if guess else "Against the closest learner"
    if rival.gain == 0:
        return Tile(label, "the same", f"Both predict alike: {value}.")
    apart = f"a paired difference of {with_error(abs(rival.gain), rival.gain_error)}"
    meaning = f"{_how_sure(rival)}: {GUESS} has {value}, {apart}."
    if not guess:
        chance = f"; {p_value(p)}" if math.isfinite(p) else ""
        meaning = f"{shortened(rival.model)} has {value}, {apart}{chance}."
    if abs(rival.gain) < rival.gain_error:
        return Tile(label, "about the same", meaning)
    sign = "+" if rival.gain >= 0 else ""
    difference = sign + number(rival.gain, decimals_for(rival.gain_error))
    tone = _tone(rival, math.nan if guess else p)
    return Tile(label, _share_of_loss(rival, metric) or difference, meaning, tone)


def _tone(rival: Standing, p: float = math.nan) -> str:
    """Return the colour of a difference; one that chance may have made has none."""
    clear = verdict(rival.gain, rival.gain_error).startswith("clearly")
    if rival.gain > 0:
        return "good" if (clear if math.isnan(p) else p <= CHANCE) else ""
    return "bad" if clear else ""


def _how_sure(rival: Standing) -> str:
    said = verdict(rival.gain, rival.gain_error).removesuffix(" than").removesuffix(" as")
    return said[0].upper() + said[1:]


def _share_of_loss(rival: Standing, metric: Metric) -> str:
    """Return how much better a model is as a share of its rival's loss; nothing for a gain."""
    if metric.sign > 0 or rival.value <= 0 or not math.isfinite(rival.gain):
        return ""
    return f"{percent(abs(rival.gain) / rival.value)} {'lower' if rival.gain >= 0 else 'higher'}"


def _typical_tile(judged: Predictions | None) -> list[Tile]:
    """Return one number a person can picture: a typical error, or how often the class is right."""
    if judged is None:
        return []
    y, predicted = judged.target.y, judged.predicted
    if judged.target.labels is not None:
        share = np.bincount(y).max() / len(y)
        meaning = f"Always saying the most frequent class would be right for {percent(share, 1)}."
        return [Tile("Right class", percent(float(np.mean(predicted == y)), 1), meaning)]
    if y.ndim > 1 and y.shape[1] > 1:
        return []
    half, most = map(number, np.quantile(np.abs(predicted - y), [0.5, 0.9]))
    meaning = f"Half of the rows are off by less than this, nine in ten by less than {most}."
    return [Tile("A typical miss", half, meaning)]


def _no_score(stack: StackValues) -> str:
    why = "the folds leave nothing to judge the stack on"
    if isinstance(stack.fitted.cv, str):
        why = "its learners were fitted elsewhere and may have seen these rows (cv='prefit')"
    return f"There is no honest score: {why}. Fit with cv=5 to get one."


def given_answer_section(
    model: Any, given: Predictions | None, metric: Metric | None = None
) -> Section:
    """Return how a model that is no stack does on rows given, and what it says of itself."""
    tiles, lead = _own_score(model), ""
    if given is not None and metric is not None:
        own = metric.evaluate(given.response, given.target)
        naive = naive_response(given.target, metric, len(given.target.y))
        rival = compared([(own, metric.evaluate(naive, given.target))], metric)
        name, value, error = metric_name(metric.name), metric.natural(own.score), own.standard_error
        ends = score_interval(own.score, error, degrees_of_freedom(own.contributions), metric.best)
        tile = _score_tile(f"{name} on the rows given", value, error, ends, metric)
        shown = _share_of_loss(rival, metric) or with_error(abs(rival.gain), rival.gain_error)
        meaning = f"{_how_sure(rival)}: {GUESS} has {with_error(rival.value, rival.error)}."
        tiles = [tile, Tile(f"Against {GUESS}", shown, meaning, _tone(rival)), *tiles]
        lead = (
            f"On {given.words}, the model has {article(name)} of {with_error(value, error)} "
            f"({direction(metric.sign)})."
        )
    if tiles:
        return Section("answer", "The answer", lead, [Tiles(tiles)])
    advice = (
        f"This {type(model).__name__} does not judge itself. Give rows it has not seen as X and "
        "y, or stack it: a stack's score is honest."
    )
    return Section("answer", "The answer", lead, [Prose(advice, warning=True)])


def _own_score(model: Any) -> list[Tile]:
    """Return the score the model has found for itself, out of bag."""
    score = getattr(model, "oob_score_", None)
    if score is None:
        return []
    label = f"Out-of-bag {'accuracy' if is_classifier(model) else 'R²'}"
    value = with_error(float(score), float(getattr(model, "oob_score_se_", math.nan)))
    return [Tile(label, value, "Each row judged by the members that did not see it.")]
