"""Predictions with what they should have been: from judged folds, or from rows that are given."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from foldwise.arrays import Array, FloatArray
from foldwise.wording import counted


@dataclass(frozen=True)
class Evidence:
    """Predictions of some rows."""

    y: Array  # targets, or codes of the classes
    predicted: Array  # predicted targets, or codes of the predicted classes
    # (n_samples, n_classes): for classes, where the model gives them
    probabilities: FloatArray | None
    classes: Array | None  # the classes behind the codes
    weight: FloatArray | None  # weights of the rows
    words: str  # where the rows come from


def judged_evidence(stack: Any) -> Evidence | None:
    """Return the hold-out predictions of a stack's judged rows, None if there are none."""
    verdict = stack.deals_[0].verdict
    response, target = verdict.response, verdict.target
    if response is None or target is None:
        return None
    words = f"{counted(len(target.y), 'judged row')}, each predicted by a stack that never saw it"
    if target.labels is None:
        values = response.values
        predicted = values[:, 0] if target.y.ndim == 1 else values
        return Evidence(target.y, predicted, None, None, target.weight, words)
    given = response.values if response.kind == "probability" else None
    return Evidence(target.y, response.labels, given, target.labels, target.weight, words)


def given_evidence(model: Any, X: Any, y: Any) -> Evidence:
    """Return a model's predictions of rows given to the report."""
    y = np.asarray(y)
    words = f"{counted(len(y), 'row')} given to the report; honest only if the model never saw them"
    predicted = np.asarray(model.predict(X))
    if not is_classifier(model):
        return Evidence(y.astype(np.float64), predicted.astype(np.float64), None, None, None, words)
    classes = np.asarray(model.classes_)
    code = {label: i for i, label in enumerate(classes.tolist())}
    known = np.array([label in code for label in y.tolist()])
    codes = np.array([code.get(label, 0) for label in y.tolist()], dtype=np.intp)[known]
    said = np.array([code[label] for label in predicted.tolist()], dtype=np.intp)[known]
    given = model.predict_proba(X)[known] if hasattr(model, "predict_proba") else None
    return Evidence(codes, said, given, classes, None, words)
