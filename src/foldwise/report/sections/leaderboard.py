"""The leaderboard, with intervals drawn on one scale."""

from collections.abc import Sequence

from foldwise.report.blocks import Column, PageTable, Section
from foldwise.report.drawing.bars import interval_axis, interval_cell, interval_scale
from foldwise.report.stack_values import BEST, MEAN, NAIVE, STACK, StackValues, Standing
from foldwise.scores.metric import Metric
from foldwise.wording import (
    article,
    decimals_for,
    direction,
    duration,
    metric_name,
    number,
    shortened,
    with_error,
)

MOST_ROWS = 60
NORMAL_95 = 1.959964
# Intervals beyond this many times the span of the better half are drawn at the edge.
FAR = 6.0


def leaderboard_section(stack: StackValues) -> Section:
    """Return the leaderboard."""
    standings, metric = stack.standings, stack.metric
    shown = list(standings[:MOST_ROWS])
    judged = [s for s in shown if s.value == s.value]
    own = next(s for s in standings if s.model == STACK)
    scale = interval_scale(*_ends(judged)) if judged else None
    columns = [Column("model"), Column(f"{metric_name(metric.name)} ± se", "number")]
    if scale is not None:
        columns.append(Column(interval_axis(scale), "drawing"))
    others = ("stack is better by", "weight", "fitting", "predicting")
    columns += [Column(title, "number") for title in others]
    rows, decimals = [], decimals_for(own.error)
    for s in shown:
        text = f"{number(s.value, decimals)} ± {number(s.error, decimals)}"
        row = [shortened(s.model), text if s.error == s.error else number(s.value)]
        if scale is not None:
            half = NORMAL_95 * s.error
            row.append(interval_cell(s.value, half, scale, reference=own.value, strong=s is own))
        apart = "" if s.model == STACK else with_error(s.gain, s.gain_error)
        row += [apart, number(s.weight), duration(s.fit_seconds), duration(s.predict_seconds)]
        rows.append(row)
    strong, left_out = shown.index(own) if own in shown else None, len(standings) - len(shown)
    note = _note(standings)
    table = PageTable(columns, rows, note=note, left_out=left_out, strong=strong, wide=True)
    return Section("leaderboard", "Leaderboard", _lead(standings, metric), [table])


def _ends(judged: Sequence[Standing]) -> tuple[list[float], list[float]]:
    """Return what the scale must hold: a hopeless model must not squeeze all others."""
    values = [s.value for s in judged]
    errors = [NORMAL_95 * s.error if s.error == s.error else 0.0 for s in judged]
    half = max(2, (len(values) + 1) // 2)
    best = [v + d * e for v, e in zip(values[:half], errors[:half], strict=True) for d in (-1, 1)]
    reach = FAR * (max(best) - min(best))
    kept = [i for i, v in enumerate(values) if abs(v - values[0]) <= reach or reach == 0]
    return [values[i] for i in kept], [errors[i] for i in kept]


def _lead(standings: Sequence[Standing], metric: Metric) -> str:
    learners = [s for s in standings if s.learns and s.value == s.value]
    if not learners:
        return "Nothing was judged."
    best = learners[0]
    return (
        f"The best learner in hindsight is {shortened(best.model)} with "
        f"{article(metric_name(metric.name))} of {with_error(best.value, best.error)}; "
        f"{direction(metric.sign)}. All models are judged on the same rows with the same honesty."
    )


def _note(standings: Sequence[Standing]) -> str:
    said = (
        "± is one standard error, bars are 1.96 of them each way, the dashed line is the stack. "
        f"“Stack is better by” compares row by row, so its error is smaller than the two "
        f"intervals suggest. “{BEST}” is chosen for each fold without looking at it, "
        f"“{MEAN}” weighs all learners the same"
    )
    if any(s.model == NAIVE for s in standings):
        return said + f", “{NAIVE}” knows the targets of the training rows and nothing else."
    return said + "."
