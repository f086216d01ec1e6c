"""Predicted against actual; reliability and confusion."""

import numpy as np

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.combine.reliability import reliability_curve
from foldwise.report.blocks import Block, Column, Figure, Figures, Section, Table
from foldwise.report.clouds import cloud
from foldwise.report.curves import Line, lines
from foldwise.report.evidence import Evidence
from foldwise.report.heat import heat
from foldwise.wording import percent, shortened

N_BINS = 10
MOST_CLASSES = 10
MOST_MIXED_UP = 15


def quality_section(evidence: Evidence) -> Section:
    """Return the section that shows predictions beside what they should have been."""
    lead = f"From {evidence.words}."
    if evidence.classes is None:
        title = "Predicted against actual"
        if evidence.y.ndim > 1 and evidence.y.shape[1] > 1:
            figures = [
                _cloud(evidence.y[:, t], evidence.predicted[:, t], f"Target {t + 1}")
                for t in range(min(evidence.y.shape[1], 6))
            ]
            return Section("quality", title, lead, [Figures(figures)])
        y = evidence.y.reshape(len(evidence.y))
        predicted = evidence.predicted.reshape(len(y))
        figures = [_cloud(y, predicted, "Predicted against actual"), _spread(y, predicted)]
        return Section("quality", title, lead, [Figures(figures)])
    figures = _reliability(evidence)
    blocks: list[Block] = []
    counts = confusion(evidence.y, evidence.predicted, len(evidence.classes), evidence.weight)
    if len(evidence.classes) <= MOST_CLASSES:
        figures.append(_confusion(counts, evidence.classes))
    else:
        blocks.append(_mixed_up(counts, evidence.classes))
    blocks = [Figures(figures), *blocks] if figures else blocks
    return Section("quality", "Reliability and confusion", lead, blocks)


def _cloud(y: Array, predicted: Array, title: str) -> Figure:
    drawing = cloud(predicted, y, x_title="predicted", y_title="actual", title=title)
    return Figure(title, drawing, "On the dashed line, predictions are exact.")


def binned(x: Array, n_bins: int = N_BINS) -> list[IntArray]:
    """Return row numbers in bins of about equal size along x, ties kept together.

    Examples
    --------
    >>> [rows.tolist() for rows in binned(np.array([3.0, 1.0, 2.0, 1.0]), 2)]
    [[1, 3], [2, 0]]
    """
    order = np.argsort(x, kind="stable")
    cuts = np.unique(np.linspace(0, len(x), n_bins + 1).astype(int)[1:-1])
    while True:
        tied = [c for c in cuts if 0 < c < len(x) and x[order[c]] == x[order[c - 1]]]
        if not tied:
            break
        cuts = np.unique([c + 1 if c in tied else c for c in cuts])
    return [rows for rows in np.split(order, cuts) if len(rows)]


def _spread(y: Array, predicted: Array) -> Figure:
    """Return how far off predictions are, along the prediction."""
    bins = binned(predicted)
    middle = [float(np.median(predicted[rows])) for rows in bins]
    off = [np.quantile(y[rows] - predicted[rows], [0.1, 0.5, 0.9]) for rows in bins]
    band = Line([q[1] for q in off], low=[q[0] for q in off], high=[q[2] for q in off])
    drawing = lines(
        middle,
        [band],
        x_title="predicted",
        y_title="actual minus predicted",
        title="errors along the prediction",
        level=0.0,
    )
    caption = "Median and the middle 80 % of the errors, in ten bins. A slope is a bias."
    return Figure("Errors along the prediction", drawing, caption)


def _reliability(evidence: Evidence) -> list[Figure]:
    if evidence.probabilities is None or evidence.classes is None:
        return []
    what = "probability of the predicted class"
    if len(evidence.classes) == 2:
        what = f"probability of {shortened(evidence.classes[1], 20)}"
    curve = reliability_curve(
        evidence.probabilities, evidence.y, n_bins=N_BINS, sample_weight=evidence.weight
    )
    band = Line(curve.observed.tolist(), low=curve.lower.tolist(), high=curve.upper.tolist())
    drawing = lines(
        curve.predicted.tolist(),
        [band],
        x_title=what,
        y_title="how often it was so",
        title="reliability of the probabilities",
        diagonal=True,
        unit=True,
    )
    off = float(curve.weight @ np.abs(curve.predicted - curve.observed))
    caption = (
        "On the dashed line, probabilities mean what they say; bins of equal size with 95 % "
        f"bands. The mean distance from it is {percent(off, 1)}."
    )
    return [Figure("Reliability", drawing, caption)]


def confusion(
    y: Array, predicted: Array, n_classes: int, weight: Array | None = None
) -> FloatArray:
    """Return how much of each actual class (row) was predicted as which (column).

    Examples
    --------
    >>> confusion(np.array([0, 0, 1]), np.array([0, 1, 1]), 2)
    array([[1., 1.],
           [0., 1.]])
    """
    flat = np.bincount(y * n_classes + predicted, weights=weight, minlength=n_classes**2)
    return flat.reshape(n_classes, n_classes).astype(np.float64)


def _confusion(counts: FloatArray, classes: Array) -> Figure:
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    names = [shortened(label, 20) for label in classes]
    drawing = heat(
        shares,
        names,
        names,
        title="confusion of the classes",
        corner="down: actual, across: predicted",
        show=lambda v: f"{100 * v:.0f}",
    )
    return Figure("Confusion", drawing, "Percent of each actual class, by predicted class.")


def _mixed_up(counts: FloatArray, classes: Array) -> Table:
    """Return the commonest confusions, where there are too many classes for a picture."""
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0.0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_MIXED_UP]
    rows = []
    for place in order:
        i, j = divmod(int(place), len(classes))
        if wrong[i, j] > 0:
            share = wrong[i, j] / counts[i].sum()
            rows.append([shortened(classes[i]), shortened(classes[j]), f"{wrong[i, j]:,.0f}",
                         percent(share)])  # fmt: skip
    columns = [
        Column("actual"),
        Column("predicted as"),
        Column("rows", "number"),
        Column("of the actual class", "number"),
    ]
    return Table(columns, rows, title=f"Commonest confusions among {len(classes)} classes")
