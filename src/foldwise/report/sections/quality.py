"""Predicted against actual; reliability and confusion."""

import numpy as np
from sklearn.metrics import confusion_matrix

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.combine.reliability import reliability_curve
from foldwise.report.blocks import Block, Column, Figure, Figures, PageTable, Section
from foldwise.report.drawing.heat import heat
from foldwise.report.drawing.lines import Line, lines
from foldwise.report.drawing.points import cloud
from foldwise.report.predictions import Predictions
from foldwise.wording import percent, shortened

N_BINS = 10
MOST_CLASSES = 10
MOST_MIXED_UP = 15
MOST_TARGETS = 6


def quality_section(shown: Predictions) -> Section:
    """Return the section that shows predictions beside what they should have been."""
    title, lead, classes = "Predicted against actual", f"From {shown.words}.", shown.target.labels
    y, predicted = shown.target.y, shown.predicted
    if classes is None and y.ndim > 1 and y.shape[1] > 1:
        columns = range(min(y.shape[1], MOST_TARGETS))
        figures = [_cloud(y[:, t], predicted[:, t], f"Target {t + 1}") for t in columns]
        return Section("quality", title, lead, [Figures(figures)])
    if classes is None:
        y, predicted = y.reshape(len(y)), predicted.reshape(len(y))
        figures = [_cloud(y, predicted, title), _spread(y, predicted)]
        return Section("quality", title, lead, [Figures(figures)])
    figures, tables = _reliability(shown, classes), []
    counts = confusion_matrix(
        y, predicted, labels=np.arange(len(classes)), sample_weight=shown.target.weight
    ).astype(np.float64)
    if len(classes) <= MOST_CLASSES:
        figures.append(_confusion(counts, classes))
    else:
        tables.append(_mixed_up(counts, classes))
    blocks: list[Block] = [Figures(figures), *tables] if figures else [*tables]
    return Section("quality", "Reliability and confusion", lead, blocks)


def _cloud(y: Array, predicted: Array, title: str) -> Figure:
    drawing = cloud(predicted, y, axes=("predicted", "actual"), title=title)
    return Figure(title, drawing, "On the dashed line, predictions are exact.")


def binned(x: Array, n_bins: int = N_BINS) -> list[IntArray]:
    """Return row numbers in bins of about equal size along x, ties kept together."""
    order = np.argsort(x, kind="stable")
    last = np.linspace(0, len(x), n_bins + 1).astype(int)[1:-1] - 1
    ends = np.unique(np.searchsorted(x, x[order[last]], side="right", sorter=order))
    return [rows for rows in np.split(order, ends) if len(rows)]


def _spread(y: Array, predicted: Array) -> Figure:
    """Return how far off predictions are, along the prediction."""
    bins = binned(predicted)
    off = [np.quantile(y[rows] - predicted[rows], [0.1, 0.5, 0.9]) for rows in bins]
    low, middle, high = zip(*off, strict=True)
    middles = [float(np.median(predicted[rows])) for rows in bins]
    band, axes = Line(middle, low=low, high=high), ("predicted", "actual minus predicted")
    drawing = lines(middles, [band], axes=axes, title="errors along the prediction", level=0.0)
    caption = "Median and the middle 80 % of the errors, in ten bins. A slope is a bias."
    return Figure("Errors along the prediction", drawing, caption)


def _reliability(shown: Predictions, classes: Array) -> list[Figure]:
    y, weight, probabilities = shown.target.y, shown.target.weight, shown.probabilities
    if probabilities is None:
        return []
    what = "probability of the predicted class"
    if len(classes) == 2:
        what = f"probability of {shortened(classes[1], 20)}"
    curve = reliability_curve(probabilities, y, n_bins=N_BINS, sample_weight=weight)
    band = Line(curve.observed, low=curve.lower, high=curve.upper)
    axes, title = (what, "how often it was so"), "reliability of the probabilities"
    drawing = lines(curve.predicted, [band], axes=axes, title=title, diagonal=True, unit=True)
    off = float(curve.weight @ np.abs(curve.predicted - curve.observed))
    caption = (
        "On the dashed line, probabilities mean what they say; bins of equal size with 95 % "
        f"bands. The mean distance from it is {percent(off, 1)}."
    )
    return [Figure("Reliability", drawing, caption)]


def _confusion(counts: FloatArray, classes: Array) -> Figure:
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    names = [shortened(label, 20) for label in classes]
    title, corner = "confusion of the classes", "down: actual, across: predicted"
    drawing = heat(shares, names, title=title, corner=corner, show=lambda v: f"{100 * v:.0f}")
    return Figure("Confusion", drawing, "Percent of each actual class, by predicted class.")


def _mixed_up(counts: FloatArray, classes: Array) -> PageTable:
    """Return the commonest confusions, where there are too many classes for a picture."""
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0.0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_MIXED_UP]
    rows = []
    for i, j in zip(*np.unravel_index(order, wrong.shape), strict=True):
        if wrong[i, j] > 0:
            share = percent(wrong[i, j] / counts[i].sum())
            names = shortened(classes[i]), shortened(classes[j])
            rows.append([*names, f"{wrong[i, j]:,.0f}", share])
    words = [Column("actual"), Column("predicted as")]
    columns = [*words, Column("rows", "number"), Column("of the actual class", "number")]
    return PageTable(columns, rows, title=f"Commonest confusions among {len(classes)} classes")
