"""What each learner brings to the stack, and how alike the learners' errors are."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foldwise.report.bars import bars
from foldwise.report.blocks import Figure, Figures, Section
from foldwise.report.clouds import named_points
from foldwise.report.heat import heat
from foldwise.report.standings import Standing
from foldwise.report.text import enumerated, shortened
from foldwise.report.wording import metric_name
from foldwise.stack.build import Deal
from foldwise.stack.features import as_probabilities
from foldwise.stack.metric import Metric
from foldwise.stack.reader import rows_of

MOST_BARS = 20
MOST_IN_MAP = 12
MOST_IN_HEAT = 20
ALIKE = 0.95


def errors_of(deal: Deal) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64] | None]:
    """Return each learner's out-of-fold errors.

    Parameters
    ----------
    deal : Deal
        A fitted deal.

    Returns
    -------
    names : list of str
        The learners the stacker reads.
    errors : ndarray of shape (n_samples, n_learners)
        Residuals; for classes one minus the probability given to the row's class.
    weight : ndarray or None
        Weights of the rows.
    """
    problem, blocks = deal.top.problem, deal.reading.final
    rows = rows_of(blocks)
    y, n_classes = problem.data.y[rows], problem.data.n_classes
    columns = []
    for entry in deal.top.entries:
        values = np.concatenate([deal.top.table.read(entry.name, block) for block in blocks])
        if n_classes is None:
            columns.append((values - y.reshape(len(y), -1)).mean(axis=1))
            continue
        given = as_probabilities(values, entry.kind, n_classes)
        if given.shape[1] == 1:
            given = np.column_stack([1.0 - given, given])
        columns.append(1.0 - given[np.arange(len(y)), y])
    weight = None if problem.data.sample_weight is None else problem.data.sample_weight[rows]
    return [entry.name for entry in deal.top.entries], np.column_stack(columns), weight


def correlations(
    errors: NDArray[np.float64], weight: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the correlation matrix of columns; a constant column is correlated with none.

    Examples
    --------
    >>> correlations(np.array([[1.0, -1.0, 5.0], [2.0, -2.0, 5.0], [4.0, -4.0, 5.0]]))
    array([[ 1., -1.,  0.],
           [-1.,  1.,  0.],
           [ 0.,  0.,  1.]])
    """
    covariance = np.atleast_2d(np.cov(errors, rowvar=False, aweights=weight))
    spread = np.sqrt(np.diag(covariance))
    inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    matrix = covariance * np.outer(inverse, inverse)
    np.fill_diagonal(matrix, 1.0)
    rounded: NDArray[np.float64] = np.clip(matrix, -1.0, 1.0)
    return rounded


def members_section(stack: Any, standings: Sequence[Standing]) -> Section:
    """Return the learners' weights, how alike their errors are, and the map of both.

    Parameters
    ----------
    stack : StackingRegressor or StackingClassifier
        Fitted.
    standings : sequence of Standing
        Its leaderboard.

    Returns
    -------
    Section
        Figures; with one learner only, what there is to say.
    """
    figures = _weight_figure(standings)
    names, errors, weight = errors_of(stack.deals_[0])
    title = "What each learner brings"
    if len(names) == 1:
        return Section("learners", title, "The stack has one learner only.", [Figures(figures)])
    ranked = [s.model for s in standings if s.model in names]
    order = [names.index(name) for name in ranked]
    matrix = correlations(errors, weight)[np.ix_(order, order)]
    figures += [
        _heat_figure(ranked, matrix),
        *_map_figure(ranked, matrix, standings, stack._metric),
    ]
    return Section("learners", title, _lead(ranked, matrix), [Figures(figures)])


def _lead(names: Sequence[str], matrix: NDArray[np.float64]) -> str:
    apart = matrix[np.triu_indices(len(names), 1)]
    said = f"The learners' errors are correlated by {apart.mean():.2f} on average"
    twins = [
        f"{shortened(names[i], 30)} and {shortened(names[j], 30)}"
        for i, j in zip(*np.triu_indices(len(names), 1), strict=True)
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
    drawing = bars(
        [s.model for s in weighed], [s.weight for s in weighed], title="weights of the learners"
    )
    return [Figure("Weights in the stack", drawing, "As the stacker combines them.")]


def _heat_figure(names: Sequence[str], matrix: NDArray[np.float64]) -> Figure:
    shown = names[:MOST_IN_HEAT]
    part = matrix[: len(shown), : len(shown)]
    drawing = heat(
        part,
        shown,
        shown,
        title="correlation of errors",
        show=lambda v: f"{v:.2f}".replace("-", "−"),
    )
    more = f" The best {len(shown)} of {len(names)}." if len(shown) < len(names) else ""
    return Figure("How alike the errors are", drawing, f"Correlation of out-of-fold errors.{more}")


def _map_figure(
    names: Sequence[str],
    matrix: NDArray[np.float64],
    standings: Sequence[Standing],
    metric: Metric,
) -> list[Figure]:
    value = {s.model: s.value for s in standings}
    shown = [name for name in names if np.isfinite(value[name])][:MOST_IN_MAP]
    if len(shown) < 2:
        return []
    alike = (matrix.sum(axis=1) - 1) / (len(names) - 1)
    drawing = named_points(
        [float(alike[names.index(name)]) for name in shown],
        [value[name] for name in shown],
        shown,
        x_title="mean correlation with the others' errors",
        y_title=metric_name(metric.name),
        title="error against likeness",
    )
    corner = "Top left" if metric.sign > 0 else "Bottom left"
    caption = f"{corner} is what a stack looks for: good alone, and wrong in other places."
    return [Figure("Diversity map", drawing, caption)]
