"""How predictions depend on a column, all others as they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from sklearn.base import is_classifier

from foldwise._sklearn import take
from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.diagnose.shuffling import shuffled
from foldwise.report.bars import bars
from foldwise.report.blocks import Figure
from foldwise.report.curves import Line, lines
from foldwise.report.data import column_of
from foldwise.wording import shortened

N_VALUES = 12
MOST_LEVELS = 8
MOST_CLASSES = 3


def prediction(model: Any, X: Any) -> FloatArray:
    """Return what a model predicts, as numbers: values, or probabilities of the classes."""
    if not is_classifier(model):
        return np.asarray(model.predict(X), np.float64).reshape(X.shape[0], -1)
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), np.float64)
    classes = np.asarray(model.classes_)
    said: FloatArray = (np.asarray(model.predict(X))[:, None] == classes).astype(np.float64)
    return said


@dataclass(frozen=True)
class Dependence:
    """The mean prediction when a column is set to some of its values."""

    values: list[Any]  # numbers in order, or names
    means: FloatArray  # (n_values, width): mean predictions


def partial_dependence(model: Any, X: Any, places: Sequence[int]) -> list[Dependence]:
    """Return how the mean prediction depends on each of some columns."""
    tried = [_representatives(column_of(X, place)) for place in places]
    n = X.shape[0]
    starts = np.cumsum([0, *(n * len(donors) for donors, _ in tried)])
    # The rows once for each value of each column; below them, the rows that lend their values.
    table = take(X, np.concatenate([np.tile(np.arange(n), starts[-1] // n), np.arange(n)]))
    for place, start, (donors, _) in zip(places, starts, tried, strict=False):
        lent = np.arange(starts[-1] + n)
        lent[start : start + n * len(donors)] = np.repeat(starts[-1] + donors, n)
        table = shuffled(table, [place], lent)
    predicted = prediction(model, table)
    return [
        Dependence(
            values,
            predicted[start : start + n * len(values)].reshape(len(values), n, -1).mean(axis=1),
        )
        for start, (_, values) in zip(starts, tried, strict=False)
    ]


def _representatives(column: Array) -> tuple[IntArray, list[Any]]:
    """Return rows that hold the values to try, and these values."""
    if column.dtype.kind in "iuf":
        finite = np.flatnonzero(np.isfinite(column.astype(np.float64)))
        order = finite[np.argsort(column[finite], kind="stable")]
        if len(np.unique(column[finite])) > N_VALUES:
            places = np.linspace(0.02, 0.98, N_VALUES) * (len(order) - 1)
            cut = order[places.round().astype(int)]
        else:
            cut = order
        _, first = np.unique(column[cut], return_index=True)
        return cut[first], [float(v) for v in column[cut[first]]]
    words, first, counts = np.unique(
        [str(v) for v in column.tolist()], return_index=True, return_counts=True
    )
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
    for name, found_here in found:
        drawing = _drawing(name, found_here, shown, labels, said, everything)
        figures.append(Figure(f"Dependence on {shortened(name, 40)}", drawing))
    return figures


def _drawing(
    name: str,
    found: Dependence,
    shown: Sequence[int],
    labels: Sequence[str],
    said: str,
    within: Sequence[float],
) -> Markup:
    title = f"{said}, by {shortened(name)}"
    if isinstance(found.values[0], str) and len(shown) == 1:
        means = [float(v) for v in found.means[:, shown[0]]]
        return bars(found.values, means, title=title, heading=shortened(said, 40))
    each = [
        Line(found.means[:, i].tolist(), label, tone=tone)
        for tone, (i, label) in enumerate(zip(shown, labels, strict=True), 1)
    ]
    return lines(
        found.values,
        each,
        x_title=name,
        y_title=shortened(said, 40),
        title=title,
        within=within,
    )
