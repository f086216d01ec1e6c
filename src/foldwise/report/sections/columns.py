"""Which columns the predictions rest on, and how they depend on each, all others as they are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.ensemble import ExtraTreesRegressor

from foldwise._sklearn import take
from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.diagnose import permutation_importance
from foldwise.diagnose.shuffling import stacked
from foldwise.engine.budget import ENDLESS, Clock
from foldwise.report.blocks import Figure, Figures, Section
from foldwise.report.drawing.bars import bars
from foldwise.report.drawing.lines import Line, lines
from foldwise.report.predictions import response_of
from foldwise.report.sections.data import column_of
from foldwise.report.stack_values import StackValues
from foldwise.scores.metric import Metric, Target
from foldwise.wording import counted, enumerated, metric_name, shortened

MOST_ROWS = 200
FEWEST_SHUFFLED, MOST_SHUFFLED = 5, 25
# What shuffling may take, as far as the model's own times can tell.
MOST_SECONDS = 8.0
N_REPEATS = 3
MOST_BARS = 15
MOST_CURVES = 5
CURVE_ROWS = 100
N_VALUES = 12
MOST_LEVELS = 8
MOST_CLASSES = 3
# In predictions of all rows looked at, as shuffling a column once is one.
CURVES_COST = MOST_CURVES * N_VALUES * CURVE_ROWS // MOST_ROWS
TITLE = "What the predictions rest on"
NO_TIME = (
    "Left out: asking the model often enough would have taken longer than the time budget. "
    "To have it: foldwise report MODEL --table TABLE, or write_report without time_budget."
)


@dataclass(frozen=True)
class ReportRows:
    """Rows to look at the model with."""

    X: Any  # features
    y: Any  # targets as the model's user knows them
    weight: Any = None  # weights
    seen: bool = False  # whether the model was fitted on them

    def known_to(self, model: Any) -> "ReportRows":
        """Return the rows whose class the model knows; all of them for numbers."""
        if not is_classifier(model):
            return self
        return self.take(np.flatnonzero(np.isin(self.y, model.classes_)))

    def take(self, rows: Any) -> "ReportRows":
        """Return some rows."""
        weight = None if self.weight is None else self.weight[rows]
        return ReportRows(take(self.X, rows), np.asarray(self.y)[rows], weight, self.seen)

    def sample(self, most: int) -> "ReportRows":
        """Return some of the rows, always the same ones."""
        n = self.X.shape[0]
        if n <= most:
            return self
        return self.take(np.sort(np.random.default_rng(0).choice(n, most, replace=False)))


def training_rows(stack: StackValues) -> ReportRows | None:
    """Return the rows a stack was fitted on, where they are still there."""
    if stack.X is None:
        return None
    y, labels = stack.target.y, stack.target.labels
    return ReportRows(stack.X, y if labels is None else labels[y], stack.target.weight, seen=True)


def columns_section(
    model: Any, rows: ReportRows, metric: Metric, seconds_a_row: float = 0.0, clock: Clock = ENDLESS
) -> Section | None:
    """Return permutation importance, and partial dependence of the columns that matter most."""
    few = rows.known_to(model).sample(MOST_ROWS)
    if not few.X.shape[0]:
        return None
    n_rows, n_columns = few.X.shape
    cost = max(seconds_a_row, 1e-12) * n_rows * N_REPEATS
    affordable = int(np.clip(MOST_SECONDS / cost, FEWEST_SHUFFLED, MOST_SHUFFLED))
    n_asked = N_REPEATS * min(affordable, n_columns) + CURVES_COST
    if not _in_time(model, few.X, n_asked, seconds_a_row, clock):
        return Section("columns", TITLE, NO_TIME, [])
    places = np.arange(n_columns)
    if n_columns > affordable:
        places = influential(few.X, prediction(model, few.X), affordable)
    asked: dict[str, Any] = {"columns": places.tolist(), "scoring": scorer_of(metric)}
    asked |= {"n_repeats": N_REPEATS, "sample_weight": few.weight, "random_state": 0}
    found = permutation_importance(model, few.X, few.y, **asked)
    order = np.argsort(-found.importance, kind="stable")
    best = [i for i in order[:MOST_CURVES] if found.importance[i] > 0]
    top = {int(places[i]): found.names[i] for i in best}
    shown = order[:MOST_BARS]
    labels, errors = [found.names[i] for i in shown], found.importance_se[shown]
    drawing = bars(labels, found.importance[shown], errors, title="permutation importance")
    what = metric_name(metric.name)
    caption = f"How much worse the {what} gets when a column is shuffled, and its standard error."
    figure = Figure("Permutation importance", drawing, caption)
    fewer = few.sample(CURVE_ROWS)
    curves = dependence_figures(model, fewer.X, fewer.y, top)
    lead = _lead(list(top.values()), few, n_columns, len(places))
    return Section("columns", TITLE, lead, [Figures([figure, *curves])])


def _in_time(model: Any, X: Any, n_asked: int, seconds_a_row: float, clock: Clock) -> bool:
    """Whether so many predictions of X fit into the time that is left, by trying one."""
    before = clock.left()
    if before == np.inf:
        return True
    if seconds_a_row * X.shape[0] > before:
        return False
    prediction(model, X)
    return n_asked * (before - clock.left()) < clock.left()


def _lead(top: list[str], rows: ReportRows, n_columns: int, n_shuffled: int) -> str:
    said = "Shuffling any one column does no harm"
    if top:
        said = f"Most depends on {enumerated([shortened(name, 30) for name in top[:3]])}"
    kind = "training rows, so this shows what the model uses" if rows.seen else "rows given"
    said += f", by shuffling columns of {counted(rows.X.shape[0], 'row')} of the {kind}."
    if n_shuffled < n_columns:
        followed = f"the {n_shuffled} that follow the predictions most"
        said += f" Of {n_columns:,} columns {followed} were shuffled."
    return said + " Columns that say the same hide each other."


def scorer_of(metric: Metric) -> Callable[..., float]:
    """Return a scorer that needs no row of every class, as scikit-learn's log-loss does."""

    def score(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        labels, codes = None, np.asarray(y)
        if is_classifier(model):
            labels = np.asarray(model.classes_)
            codes = np.searchsorted(labels, y)
        wants_labels = getattr(metric.scorer, "_response_method", None) == "predict"
        n = X.shape[0]
        target = Target(codes, labels, sample_weight, np.zeros(n, int), None, X, np.arange(n))
        return metric.score(response_of(model, X, labels=wants_labels), target)

    return score


def influential(X: Any, predicted: FloatArray, count: int) -> IntArray:
    """Return the columns that a small forest needs most to follow the predictions, in order.

    Shapes: ``predicted`` (n_samples, width).
    """
    table = X
    if not sparse.issparse(X):
        table = np.column_stack([as_numbers(column_of(X, j)) for j in range(X.shape[1])])
    forest = ExtraTreesRegressor(30, min_samples_leaf=3, max_features=0.3, random_state=0)
    forest.fit(table, np.squeeze(predicted, axis=1) if predicted.shape[1] == 1 else predicted)
    return np.sort(np.argsort(-forest.feature_importances_, kind="stable")[:count])


def as_numbers(values: Array) -> FloatArray:
    """Return a column of any type as finite numbers: words by their place in the alphabet."""
    if values.dtype.kind in "biuf":
        numbers = values.astype(np.float64)
        finite = np.isfinite(numbers)
        middle = float(np.median(numbers[finite])) if finite.any() else 0.0
        return np.where(finite, numbers, middle)
    return np.unique([str(v) for v in values.tolist()], return_inverse=True)[1].astype(np.float64)


def prediction(model: Any, X: Any) -> FloatArray:
    """Return what a model predicts, as numbers: values, or probabilities of the classes."""
    response = response_of(model, X)
    if response.kind == "label":
        return np.eye(len(model.classes_))[response.labels]
    return response.values


@dataclass(frozen=True)
class Dependence:
    """The mean prediction when a column is set to some of its values."""

    values: list[Any]  # numbers in order, or names
    means: FloatArray  # (n_values, width): mean predictions


def partial_dependence(model: Any, X: Any, places: Sequence[int]) -> list[Dependence]:
    """Return how the mean prediction depends on each of some columns."""
    tried = [_representatives(column_of(X, place)) for place in places]
    n_rows = X.shape[0]
    # Every row once for each value, which the row that holds it lends to all others.
    lent = [
        ([place], np.full(n_rows, donor))
        for place, (donors, _) in zip(places, tried, strict=True)
        for donor in donors
    ]
    predicted = prediction(model, stacked(X, lent)).reshape(len(lent), n_rows, -1).mean(axis=1)
    ends = np.cumsum([len(values) for _, values in tried])
    parts = np.split(predicted, ends[:-1])
    return [Dependence(values, part) for part, (_, values) in zip(parts, tried, strict=True)]


def _representatives(column: Array) -> tuple[IntArray, list[Any]]:
    """Return rows that hold the values to try, and these values."""
    if column.dtype.kind in "iuf":
        finite = np.flatnonzero(np.isfinite(column.astype(np.float64)))
        order = finite[np.argsort(column[finite], kind="stable")]
        if len(np.unique(column[finite])) > N_VALUES:
            places = np.linspace(0.02, 0.98, N_VALUES) * (len(order) - 1)
            order = order[places.round().astype(int)]
        values, first = np.unique(column[order], return_index=True)
        return order[first], [float(v) for v in values]
    levels = [str(v) for v in column.tolist()]
    words, first, counts = np.unique(levels, return_index=True, return_counts=True)
    common = np.sort(np.argsort(-counts, kind="stable")[:MOST_LEVELS])
    return first[common], [str(words[i]) for i in common]


def dependence_figures(model: Any, X: Any, y: Any, names: Mapping[int, str]) -> list[Figure]:
    """Return one curve a column, all on one scale."""
    if not names:
        return []
    found = list(zip(names.values(), partial_dependence(model, X, list(names)), strict=True))
    if not is_classifier(model):
        shown, labels, said = [0], [""], "mean prediction"
        if found[0][1].means.shape[1] > 1:
            return []
    elif len(model.classes_) == 2:
        shown, labels, said = [1], [""], f"probability of {model.classes_[1]}"
    else:
        counts = np.array([(np.asarray(y) == label).sum() for label in model.classes_])
        shown = np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES]).tolist()
        labels, said = [shortened(model.classes_[i], 14) for i in shown], "mean probability"
    everything = [float(v) for _, d in found for v in d.means[:, shown].ravel()]
    figures = []
    for name, one in found:
        each = [
            Line(one.means[:, i], label, tone=tone)
            for tone, (i, label) in enumerate(zip(shown, labels, strict=True), 1)
        ]
        title, heading = f"{said}, by {shortened(name)}", shortened(said, 40)
        if isinstance(one.values[0], str) and len(each) == 1:
            drawing = bars(one.values, each[0].y, title=title, heading=heading)
        else:
            drawing = lines(one.values, each, axes=(name, heading), title=title, within=everything)
        figures.append(Figure(f"Dependence on {shortened(name, 40)}", drawing))
    return figures
