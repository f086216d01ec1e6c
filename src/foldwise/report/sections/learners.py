"""What each learner brings to the stack, and how alike the learners' errors are."""

from collections.abc import Sequence

import numpy as np

from foldwise.arrays import FloatArray
from foldwise.diagnose import OutOfFoldTable, error_correlation, model_values
from foldwise.engine.budget import ENDLESS, Clock
from foldwise.report.blocks import Figure, Figures, Section
from foldwise.report.drawing.bars import bars
from foldwise.report.drawing.heat import heat
from foldwise.report.drawing.lines import Line, lines
from foldwise.report.drawing.points import named_points
from foldwise.report.stack_values import StackValues, Standing
from foldwise.wording import enumerated, metric_name, shortened

MOST_BARS = 20
MOST_IN_MAP = 12
MOST_IN_HEAT = 20
ALIKE = 0.95
EXACT = 5
N_ORDERS = 6
# Rows times columns times fits that values may take; another than a linear stacker is dearer.
MOST_WORK = 2_000_000
DEARER = 20
# Of the time that is left, where it is limited.
VALUES_SHARE = 0.4
# For judging smaller stacks: predictions, in units of five folds, and a share of the time.
MOST_JUDGED = 50_000
FRONTIER_SHARE = 0.2


def learners_section(stack: StackValues, clock: Clock = ENDLESS) -> Section:
    """Return the learners' weights and values, how alike their errors are, and the map of both."""
    title, table = "What each learner brings", stack.table
    figures = _weight_figure(stack.standings)
    if table is None:
        return Section("learners", title, "Nothing was judged.", [Figures(figures)])
    if table.n_models == 1:
        return Section("learners", title, "The stack has one learner only.", [Figures(figures)])
    figures += _value_figure(table, stack, clock) + _frontier_figure(table, stack, clock)
    found = error_correlation(table)
    ranked = [s.model for s in stack.standings if s.model in found.names]
    order = [found.names.index(name) for name in ranked]
    matrix = found.matrix[np.ix_(order, order)]
    figures += [_heat_figure(ranked, matrix), *_map_figure(ranked, matrix, stack)]
    return Section("learners", title, _lead(ranked, matrix), [Figures(figures)])


def _lead(names: Sequence[str], matrix: FloatArray) -> str:
    above = np.triu_indices(len(names), 1)
    said = f"The learners' errors are correlated by {matrix[above].mean():.2f} on average"
    twins = [
        f"{shortened(names[i], 30)} with {shortened(names[j], 30)}"
        for i, j in zip(*(side.tolist() for side in above), strict=True)
        if matrix[i, j] > ALIKE
    ]
    if twins:
        return f"{said}. Nearly the same model twice: {enumerated(twins, 3)}."
    return f"{said}; the less alike they are, the more a stack can gain."


def _weight_figure(standings: Sequence[Standing]) -> list[Figure]:
    weighed = [s for s in standings if s.learns and np.isfinite(s.weight)]
    weighed = sorted(weighed, key=lambda s: -abs(s.weight))[:MOST_BARS]
    if not weighed:
        return []
    names, weights = [s.model for s in weighed], [s.weight for s in weighed]
    drawing = bars(names, weights, title="weights of the learners")
    return [Figure("Weights in the stack", drawing, "As the stacker combines them.")]


def _value_figure(table: OutOfFoldTable, stack: StackValues, clock: Clock) -> list[Figure]:
    """Return what each learner is worth, where that takes seconds."""
    n = table.n_models
    n_fits = 2**n if n <= EXACT else N_ORDERS * n
    work = n_fits * table.n_rows * n * table.predictions.shape[3] * table.n_repeats
    if work > (MOST_WORK if stack.cheap else MOST_WORK // DEARER):
        return []
    before = clock.left()
    if before < np.inf and table.score_of is not None:
        table.score_of(tuple(range(n)))
        if n_fits * (before - clock.left()) > VALUES_SHARE * before:
            return []
    method = "exact" if n <= EXACT else "sampled"
    values = model_values(table, method=method, n_orders=N_ORDERS, random_state=0)
    order = np.argsort(-values.shapley, kind="stable")[:MOST_BARS]
    names, errors = [values.names[i] for i in order], values.shapley_se[order]
    drawing = bars(names, values.shapley[order], errors, title="value of the learners")
    how = "all orders of joining"
    if method == "sampled":
        how = "a few random orders of joining, with its standard error"
    gain = f"the mean gain in {metric_name(table.metric)} when the learner joins"
    caption = f"Shapley value: {gain}, over {how}."
    return [Figure("Value to the stack", drawing, caption)]


def _frontier_figure(table: OutOfFoldTable, stack: StackValues, clock: Clock) -> list[Figure]:
    """Return what smaller stacks lose and save, where that takes seconds."""
    work = table.predictions.size * (len(stack.reading.judgements) / 5) ** 2
    if stack.frontier is None or work > MOST_JUDGED:
        return []
    left = clock.left()
    found = stack.frontier(None if left == np.inf else FRONTIER_SHARE * left)
    if len(found) < 2:
        return []
    metric = stack.metric.name
    seconds, curve = found["predict_seconds"][::-1].tolist(), found[metric][::-1].to_numpy()
    axes = "seconds for 1,000 rows", metric_name(metric)
    drawing = lines(seconds, [Line(curve)], axes=axes, title="smaller stacks")
    last = found.iloc[-1]
    less = "" if last["learners"] == 1 else " The smallest ones were left out for time."
    caption = (
        f"From {table.n_models} learners down to {last['learners']}, each stack honestly judged; "
        f"compact(predict_seconds=...) takes one of them.{less}"
    )
    return [Figure("Smaller stacks", drawing, caption)]


def _heat_figure(names: Sequence[str], matrix: FloatArray) -> Figure:
    shown = names[:MOST_IN_HEAT]
    part = matrix[: len(shown), : len(shown)]
    title = "correlation of errors"
    drawing = heat(part, shown, title=title, show=lambda v: f"{v:.2f}".replace("-", "−"))
    more = f" The best {len(shown)} of {len(names)}." if len(shown) < len(names) else ""
    return Figure("How alike the errors are", drawing, f"Correlation of hold-out errors.{more}")


def _map_figure(names: Sequence[str], matrix: FloatArray, stack: StackValues) -> list[Figure]:
    value = {s.model: s.value for s in stack.standings}
    shown = [name for name in names if np.isfinite(value[name])][:MOST_IN_MAP]
    if len(shown) < 2:
        return []
    alike = (matrix.sum(axis=1) - 1) / (len(names) - 1)
    likeness = [float(alike[names.index(name)]) for name in shown]
    scores = [value[name] for name in shown]
    axes = "mean correlation with the others' errors", metric_name(stack.metric.name)
    drawing = named_points(likeness, scores, shown, axes=axes, title="error against likeness")
    corner = "Top left" if stack.metric.sign > 0 else "Bottom left"
    caption = f"{corner} is what a stack looks for: good alone, and wrong in other places."
    return [Figure("Diversity map", drawing, caption)]
