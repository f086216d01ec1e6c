"""Two losses with the mean that belongs to each: the ensemble that makes diversity a term.

For the squared loss that is the weighted mean, for the log-loss the normalised geometric
mean [1]_: the loss of that ensemble is the mean loss of its members less their mean distance
from it, exactly, row by row.

References
----------
.. [1] Wood, Mu, Webb, Reeve, Luján and Brown (2023). A unified theory of diversity in
   ensemble learning. JMLR 24.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from foldwise.arrays import FloatArray
from foldwise.diagnose.table import OutOfFoldTable, classes_needed
from foldwise.errors import did_you_mean, invalid_parameter


@dataclass(frozen=True)
class CentroidLoss:
    """A loss, its distance and its mean; the last axis holds one prediction."""

    name: str  # "squared" or "log"
    # maps (target, prediction) to the loss of each row
    loss: Callable[[FloatArray, FloatArray], FloatArray]
    # maps (centre, prediction) to how far the prediction is from the centre
    distance: Callable[[FloatArray, FloatArray], FloatArray]
    # maps (predictions, weights, axis) to their centre along the axis
    centre: Callable[[FloatArray, FloatArray, int], FloatArray]


def _squared(first: FloatArray, second: FloatArray) -> FloatArray:
    return ((first - second) ** 2).sum(axis=-1)


def _mean(values: FloatArray, weights: FloatArray, axis: int) -> FloatArray:
    return np.average(values, axis=axis, weights=weights)


def _cross_entropy(target: FloatArray, prediction: FloatArray) -> FloatArray:
    return -(target * np.log(prediction)).sum(axis=-1)


def _divergence(centre: FloatArray, prediction: FloatArray) -> FloatArray:
    return (centre * (np.log(centre) - np.log(prediction))).sum(axis=-1)


def _geometric_mean(values: FloatArray, weights: FloatArray, axis: int) -> FloatArray:
    logs = np.average(np.log(values), axis=axis, weights=weights)
    raised = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


SQUARED = CentroidLoss("squared", _squared, _squared, _mean)
LOG = CentroidLoss("log", _cross_entropy, _divergence, _geometric_mean)


def loss_and_values(
    table: OutOfFoldTable, loss: str, owner: str
) -> tuple[CentroidLoss, FloatArray, FloatArray]:
    """Return the loss, the predictions it can take, and the targets.

    For "log", kept off 0 by ``0.5 / (n_rows + 1)`` and normalised. For several targets scaled, so
    that sums of squares are means over targets.

    Shapes: returns (n_repeats, n_rows, n_models, width), returns (n_rows, width).
    """
    known = ("auto", "squared", "log")
    if loss not in known:
        raise invalid_parameter(
            owner,
            "loss",
            must="be 'auto', 'squared' or 'log'",
            got=loss,
            fix=did_you_mean(loss, known),
        )
    if loss == "log" or (loss == "auto" and table.classes is not None):
        classes_needed(table, f"{owner}(loss='log')", "Use loss='squared'.")
        clipped: Any = np.maximum(table.predictions, 0.5 / (table.n_rows + 1))
        return LOG, clipped / clipped.sum(axis=-1, keepdims=True), table.target
    scale = 1.0 if table.classes is not None else 1.0 / np.sqrt(table.target.shape[1])
    return SQUARED, table.predictions * scale, table.target * scale
