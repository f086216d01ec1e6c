"""Which columns the predictions rest on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.ensemble import ExtraTreesRegressor

from foldwise._sklearn import take
from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.diagnose import permutation_importance
from foldwise.report.bars import bars
from foldwise.report.blocks import Figure, Figures, Section
from foldwise.report.data import column_of
from foldwise.report.dependence import dependence_figures, prediction
from foldwise.report.wording import metric_name
from foldwise.scores.metric import Metric, Target
from foldwise.scores.response import Response
from foldwise.wording import counted, enumerated, shortened

MOST_ROWS = 200
FEWEST_SHUFFLED, MOST_SHUFFLED = 5, 25
MOST_SECONDS = 8.0
"""What shuffling may take, as far as the model's own times can tell."""
N_REPEATS = 3
MOST_BARS = 15
MOST_CURVES = 5
CURVE_ROWS = 100


@dataclass(frozen=True)
class Rows:
    """Rows to look at the model with."""

    X: Any  # features
    y: Any  # targets as the model's user knows them
    weight: Any = None  # weights
    seen: bool = False  # whether the model was fitted on them

    def known_to(self, model: Any) -> "Rows":
        """Return the rows whose class the model knows; all of them for numbers."""
        if not is_classifier(model):
            return self
        return self.take(np.flatnonzero(np.isin(self.y, model.classes_)))

    def take(self, rows: Any) -> "Rows":
        """Return some rows."""
        weight = None if self.weight is None else self.weight[rows]
        return Rows(take(self.X, rows), np.asarray(self.y)[rows], weight, self.seen)

    def sample(self, most: int) -> "Rows":
        """Return some of the rows, always the same ones."""
        n = self.X.shape[0]
        if n <= most:
            return self
        return self.take(np.sort(np.random.default_rng(0).choice(n, most, replace=False)))


def columns_section(
    model: Any, rows: Rows, metric: Metric, seconds_a_row: float = 0.0
) -> Section | None:
    """Return permutation importance, and partial dependence of the columns that matter most."""
    few = rows.known_to(model).sample(MOST_ROWS)
    if not few.X.shape[0]:
        return None
    n_rows, n_columns = few.X.shape
    cost = max(seconds_a_row, 1e-12) * n_rows * N_REPEATS
    affordable = int(np.clip(MOST_SECONDS / cost, FEWEST_SHUFFLED, MOST_SHUFFLED))
    places = np.arange(n_columns)
    if n_columns > affordable:
        places = influential(few.X, prediction(model, few.X), affordable)
    found = permutation_importance(
        model,
        few.X,
        few.y,
        columns=[int(place) for place in places],
        scoring=scorer_of(metric),
        n_repeats=N_REPEATS,
        sample_weight=few.weight,
        random_state=0,
    )
    order = np.argsort(-found.importance, kind="stable")
    top = [int(places[i]) for i in order if found.importance[i] > 0][:MOST_CURVES]
    names = {int(places[i]): found.names[i] for i in range(len(places))}
    shown = order[:MOST_BARS]
    drawing = bars(
        [found.names[i] for i in shown],
        [float(found.importance[i]) for i in shown],
        [float(found.importance_se[i]) for i in shown],
        title="permutation importance",
    )
    what = metric_name(metric.name)
    caption = f"How much worse the {what} gets when a column is shuffled, and its standard error."
    figure = Figure("Permutation importance", drawing, caption)
    fewer = few.sample(CURVE_ROWS)
    curves = dependence_figures(model, fewer.X, fewer.y, {place: names[place] for place in top})
    lead = _lead([names[place] for place in top], few, n_columns, len(places))
    return Section("columns", "What the predictions rest on", lead, [Figures([figure, *curves])])


def _lead(top: list[str], rows: Rows, n_columns: int, n_shuffled: int) -> str:
    said = "Shuffling any one column does no harm"
    if top:
        said = f"Most depends on {enumerated([shortened(name, 30) for name in top[:3]])}"
    kind = "training rows, so this shows what the model uses" if rows.seen else "rows given"
    said += f", by shuffling columns of {counted(rows.X.shape[0], 'row')} of the {kind}."
    if n_shuffled < n_columns:
        said += (
            f" Of {n_columns:,} columns the {n_shuffled} that follow the predictions most were "
            "shuffled."
        )
    return said + " Columns that say the same hide each other."


def scorer_of(metric: Metric) -> Callable[..., float]:
    """Return a scorer that needs no row of every class, as scikit-learn's log-loss does."""

    def score(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        n, labels = X.shape[0], None
        if is_classifier(model):
            labels = np.asarray(model.classes_)
            y = np.searchsorted(labels, y)
        wants_labels = getattr(metric.scorer, "_response_method", None) == "predict"
        if labels is None:
            response = Response("value", prediction(model, X))
        elif hasattr(model, "predict_proba") and not wants_labels:
            response = Response("probability", np.asarray(model.predict_proba(X)))
        else:
            codes = np.searchsorted(labels, model.predict(X)).astype(np.float64)
            response = Response("label", codes[:, None])
        return metric.score(
            response, Target(np.asarray(y), labels, sample_weight, np.zeros(n, int))
        )

    return score


def influential(X: Any, predicted: FloatArray, count: int) -> IntArray:
    """Return the columns that a small forest needs most to follow the predictions, in order.

    Shapes: ``predicted`` (n_samples, width).
    """
    table = X if sparse.issparse(X) else np.column_stack(
        [as_numbers(column_of(X, j)) for j in range(X.shape[1])]
    )  # fmt: skip
    forest = ExtraTreesRegressor(30, min_samples_leaf=3, max_features=0.3, random_state=0)
    forest.fit(table, np.squeeze(predicted, axis=1) if predicted.shape[1] == 1 else predicted)
    weights = forest.feature_importances_
    return np.sort(np.argsort(-weights, kind="stable")[:count])


def as_numbers(values: Array) -> FloatArray:
    """Return a column of any type as finite numbers: words by their place in the alphabet.

    Examples
    --------
    >>> as_numbers(np.array(["b", "a"], dtype=object)), as_numbers(np.array([np.nan, 1.0]))
    (array([1., 0.]), array([1., 1.]))
    """
    if values.dtype.kind in "biuf":
        numbers = values.astype(np.float64)
        finite = np.isfinite(numbers)
        middle = float(np.median(numbers[finite])) if finite.any() else 0.0
        return np.where(finite, numbers, middle)
    return np.unique([str(v) for v in values.tolist()], return_inverse=True)[1].astype(np.float64)
