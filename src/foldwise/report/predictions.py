"""Predictions beside what they should have been, and the guess that knows the targets alone."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import mean_absolute_error, median_absolute_error

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.scores.metric import Metric, Response, Target
from foldwise.wording import counted

MIDDLES = (mean_absolute_error, median_absolute_error)


@dataclass(frozen=True)
class Predictions:
    """Predictions of some rows, and their targets."""

    response: Response
    target: Target
    words: str  # where the rows come from

    @property
    def predicted(self) -> Array:
        """Predicted targets in the targets' shape, or codes of the predicted classes."""
        if self.target.labels is not None:
            return self.response.labels
        return self.response.values.reshape(self.target.y.shape)

    @property
    def probabilities(self) -> FloatArray | None:
        """Probabilities of the classes, where the model gives them."""
        return self.response.values if self.response.kind == "probability" else None


def response_of(model: Any, X: Any, *, labels: bool = False) -> Response:
    """Return what a model says of some rows; of classes their probabilities, unless asked not."""
    if not is_classifier(model):
        return Response("value", np.asarray(model.predict(X), np.float64).reshape(X.shape[0], -1))
    if hasattr(model, "predict_proba") and not labels:
        return Response("probability", np.asarray(model.predict_proba(X), np.float64))
    codes = _codes(model.predict(X), model.classes_)
    return Response("label", codes.astype(np.float64)[:, None])


def _codes(labels: Any, classes: Any) -> IntArray:
    """Return the places of labels among the classes, -1 for one that is none of them."""
    place = {label: i for i, label in enumerate(np.asarray(classes).tolist())}
    return np.array([place.get(label, -1) for label in np.asarray(labels).tolist()], dtype=np.intp)


def given_predictions(model: Any, X: Any, y: Any) -> Predictions:
    """Return a model's predictions of rows given to the report; classes it knows alone."""
    y = np.asarray(y)
    words = f"{counted(len(y), 'row')} given to the report; honest only if the model never saw them"
    response, folds = response_of(model, X), np.zeros(len(y), dtype=np.intp)
    if not is_classifier(model):
        return Predictions(response, Target(y.astype(np.float64), None, None, folds), words)
    if response.kind == "probability":
        response = replace(response, own_labels=_codes(model.predict(X), model.classes_))
    codes = _codes(y, model.classes_)
    known = np.flatnonzero(codes >= 0)
    target = Target(codes[known], np.asarray(model.classes_), None, folds[known])
    return Predictions(response.take(known), target, words)


def naive_response(target: Target, metric: Metric, n_rows: int) -> Response:
    """Return the guess for some rows that knows nothing but other rows' targets."""
    if target.labels is not None:
        n_classes = len(target.labels)
        counts = np.bincount(target.y, weights=target.weight, minlength=n_classes) + 1.0 / n_classes
        return Response("probability", np.tile(counts / counts.sum(), (n_rows, 1)))
    columns = np.asarray(target.y, np.float64).reshape(len(target.y), -1)
    guess = np.average(columns, axis=0, weights=target.weight)
    if metric.function in MIDDLES:
        guess = np.median(columns, axis=0)
    return Response("value", np.tile(guess, (n_rows, 1)))
