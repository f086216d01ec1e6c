"""The general way: clone, fit on the node's rows, predict; transformers in front are shared."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.model_selection import GroupShuffleSplit, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from foldwise.learners.prepare import (
    aligned,
    prepared,
    stops_early_on_given_rows,
    weight_argument,
)
from foldwise.learners.tasks import NodeFit, NodeTask, Rows, TrainingData

INNER_SHARE = 0.1


@dataclass(frozen=True)
class Assignment:
    """A learner, what to ask it for, and the seed of this node."""

    learner: Any
    method: str
    seed: int | None = None


def fit_at_node(
    assignments: Sequence[Assignment], data: TrainingData, task: NodeTask
) -> list[NodeFit | Exception]:
    """Fit several learners at one node; equal leading transformers are fitted once.

    Parameters
    ----------
    assignments : sequence of Assignment
        Learners with the response asked of each.
    data : TrainingData
        All rows.
    task : NodeTask
        Which rows to fit on and to predict.

    Returns
    -------
    list of NodeFit or Exception
        In the order of the assignments; an Exception where the learner raised it.
    """
    with config_context(enable_metadata_routing=False):
        node = _Node(data, task)
        return [node.attempt(assignment) for assignment in assignments]


def fit_generally(learner: Any, data: TrainingData, task: NodeTask, method: str) -> NodeFit:
    """Fit one learner at one node the general way, and raise what it raises."""
    (fit,) = fit_at_node([Assignment(learner, method, task.seed)], data, task)
    if isinstance(fit, Exception):
        raise fit
    return fit


def take_rows(X: Any, rows: Rows) -> Any:
    """Return a fresh copy of some rows of an array, sparse matrix or data frame."""
    return X[rows] if isinstance(X, np.ndarray) else _safe_indexing(X, rows)


class _Node:
    """The rows of one node, and the transformers already fitted on them."""

    def __init__(self, data: TrainingData, task: NodeTask) -> None:
        self.data, self.task = data, task
        self.y = data.y[task.train]
        self.weight = None if data.sample_weight is None else data.sample_weight[task.train]
        raw = (
            take_rows(data.X, task.train),
            take_rows(data.X, task.test) if len(task.test) else None,
        )
        self.transformed: dict[str, tuple[Any, Any, Any]] = {"": (None, *raw)}

    def attempt(self, assignment: Assignment) -> NodeFit | Exception:
        try:
            return self.fit(assignment)
        except Exception as error:
            return error

    def fit(self, assignment: Assignment) -> NodeFit:
        start = time.perf_counter()
        model = prepared(assignment.learner, assignment.seed)
        last, key = self.fit_transformers(model)
        _, X_train, X_test = self.transformed[key]
        self.fit_last(last, X_train, assignment.seed)
        fitted = time.perf_counter()
        if X_test is None:
            predictions = np.empty((0, 0))
        else:
            predictions = respond(last, X_test, assignment.method, self.data, len(self.task.train))
        return NodeFit(
            predictions,
            model if self.task.keep_model else None,
            fitted - start,
            time.perf_counter() - fitted,
        )

    def fit_transformers(self, model: Any) -> tuple[Any, str]:
        """Fit all but the last step of a Pipeline, or take them from a learner before."""
        if not isinstance(model, Pipeline) or model.memory is not None:
            return model, ""
        key = ""
        for index, (name, step) in enumerate(model.steps[:-1]):
            if step is None or step == "passthrough":
                continue
            parent, key = key, joblib.hash((key, type(step), step.get_params()))
            if key not in self.transformed:
                _, X_train, X_test = self.transformed[parent]
                X_train = step.fit_transform(X_train, self.y)
                X_test = None if X_test is None else step.transform(X_test)
                self.transformed[key] = (step, X_train, X_test)
            model.steps[index] = (name, self.transformed[key][0])
        return model.steps[-1][1], key

    def fit_last(self, model: Any, X: Any, seed: int | None) -> None:
        arguments: dict[str, Any] = {}
        if self.weight is not None:
            arguments[weight_argument(model) or "sample_weight"] = self.weight
        y = self.y
        if stops_early_on_given_rows(model):
            fit_rows, stop_rows = self.inner_split(seed)
            arguments["eval_set"] = [(take_rows(X, stop_rows), y[stop_rows])]
            arguments = {
                k: v[fit_rows] if isinstance(v, np.ndarray) else v for k, v in arguments.items()
            }
            X, y = take_rows(X, fit_rows), y[fit_rows]
        model.fit(X, y, **arguments)

    def inner_split(self, seed: int | None) -> tuple[Rows, Rows]:
        """Set aside rows of this node to stop on, so that no predicted row is used for it."""
        rows = np.arange(len(self.y))
        if self.data.groups is not None:
            splitter = GroupShuffleSplit(1, test_size=INNER_SHARE, random_state=seed)
            return next(splitter.split(rows, groups=self.data.groups[self.task.train]))
        stratify = None
        if self.data.n_classes is not None and np.bincount(self.y).min(initial=2) >= 2:
            stratify = self.y
        kept, held = train_test_split(
            rows, test_size=INNER_SHARE, random_state=seed, stratify=stratify
        )
        return kept, held


def respond(
    model: Any, X: Any, method: str, data: TrainingData, n_train: int
) -> NDArray[np.float64]:
    """Return a fitted model's response as a finite matrix, columns aligned to all classes."""
    values = np.asarray(getattr(model, method)(X), dtype=np.float64)
    values = values.reshape(len(values), -1)
    seen = getattr(model, "classes_", None)
    if method != "predict" and data.n_classes is not None and seen is not None:
        if values.shape[1] == 1 and len(seen) == 2 and data.n_classes > 2:
            values = np.column_stack([-values[:, 0], values[:, 0]])
        if values.shape[1] == len(seen):
            values = aligned(
                values, np.asarray(seen, dtype=np.intp), data.n_classes, n_train, method
            )
    if not np.isfinite(values).all():
        raise ValueError(f"{method} returned values that are not finite")
    return values
