"""Fitted scikit-learn models made from numbers instead of rows."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from foldwise.arrays import FloatArray, IntArray
from foldwise.learners.blocks import predict_blocks
from foldwise.learners.general import respond, take_rows
from foldwise.learners.prepare import prepared
from foldwise.learners.tasks import NodeFit, NodeTask, TrainingData


def fitted(learner: Any, X: Any, seed: int | None, learned: dict[str, Any]) -> Any:
    """Return a clone of the learner that has learned these attributes."""
    return learned_by(prepared(learner, seed), X, learned)


def learned_by(model: Any, X: Any, learned: dict[str, Any]) -> Any:
    """Give an unfitted model its fitted attributes, the features' names among them."""
    validate_data(model, take_rows(X, np.arange(1)), skip_check_array=True)
    for name, value in learned.items():
        setattr(model, name, value)
    return model


def predicted_by_models(
    models: Sequence[Any],
    data: TrainingData,
    tasks: Sequence[NodeTask],
    method: str,
    seconds: Sequence[float],
) -> list[NodeFit | None]:
    """Ask each task's model for its response; None stays where there is no model."""
    done = [number for number, model in enumerate(models) if model is not None]
    start = time.perf_counter()

    def respond_block(rows: IntArray, numbers: list[int]) -> list[FloatArray]:
        X = take_rows(data.X, rows)
        return [
            respond(models[done[i]], X, method, data, len(tasks[done[i]].train)) for i in numbers
        ]

    predictions = predict_blocks([tasks[i] for i in done], data.X.shape, respond_block)
    spent = (time.perf_counter() - start) / max(len(done), 1)
    results: list[NodeFit | None] = [None] * len(tasks)
    for number, values in zip(done, predictions, strict=True):
        model = models[number] if tasks[number].keep_model else None
        results[number] = NodeFit(values, model, seconds[number], spent)
    return results
