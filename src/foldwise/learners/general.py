"""The general way: clone, fit on the node's rows, predict; transformers in front are shared."""

import copy
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from sklearn import config_context
from sklearn.model_selection import GroupShuffleSplit, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from foldwise._sklearn import n_samples, take
from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.engine.executor import without_frames
from foldwise.learners.prepare import (
    over_all_classes,
    prepared,
    stops_early_on_given_rows,
    weight_argument,
)
from foldwise.learners.tasks import NodeFit, NodeTask, TrainingData

INNER_SHARE = 0.1
ALIGNMENT = 64
EVALUATION_WEIGHTS = ("eval_sample_weight", "sample_weight_eval_set")


@dataclass(frozen=True)
class Assignment:
    """A learner, what to ask it for, and the seed of this node."""

    learner: Any
    method: str
    seed: int | None = None


def fit_at_node(
    assignments: Sequence[Assignment], data: TrainingData, task: NodeTask
) -> list[NodeFit | Exception]:
    """Fit several learners at one node; equal leading transformers are fitted once."""
    with config_context(enable_metadata_routing=False):
        node = _Node(data, task)
        return [node.attempt(assignment) for assignment in assignments]


def fit_generally(learner: Any, data: TrainingData, task: NodeTask, method: str) -> NodeFit:
    """Fit one learner at one node the general way, and raise what it raises."""
    (fit,) = fit_at_node([Assignment(learner, method, task.seed)], data, task)
    if isinstance(fit, Exception):
        raise fit
    return fit


def take_rows(X: Any, rows: IntArray) -> Any:
    """Return a fresh copy of some rows of an array, sparse matrix or data frame.

    An array's begins at a multiple of 64 bytes, wherever the rows come from: compiled loops
    may round differently on memory that is aligned otherwise.
    """
    if not isinstance(X, np.ndarray):
        return take(X, rows)
    if X.dtype.hasobject or not X.flags.c_contiguous:
        return _at_boundary(X[rows])
    copied = _room(X.dtype, (len(rows), *X.shape[1:]))
    return np.take(X, rows, axis=0, out=copied, mode="clip")


def _at_boundary(array: Array) -> Array:
    if array.dtype.hasobject or array.ctypes.data % ALIGNMENT == 0 or not array.flags.c_contiguous:
        return array
    copied = _room(array.dtype, array.shape)
    copied[...] = array
    return copied


def _room(dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Return an empty array that begins at a multiple of 64 bytes."""
    size = dtype.itemsize * math.prod(shape)
    raw = np.empty(size + ALIGNMENT, dtype=np.uint8)
    skip = -raw.ctypes.data % ALIGNMENT
    return raw[skip : skip + size].view(dtype).reshape(shape)


class _Node:
    """The rows of one node, and the transformers already fitted on them."""

    def __init__(self, data: TrainingData, task: NodeTask) -> None:
        self.data, self.task = data, task
        self.y = take_rows(data.y, task.train)
        weight = data.sample_weight
        self.weight = None if weight is None else take_rows(weight, task.train)
        raw = (
            take_rows(data.X, task.train),
            take_rows(data.X, task.test) if len(task.test) else None,
        )
        self.transformed: dict[str, tuple[Any, Any, Any]] = {"": (None, *raw)}

    def attempt(self, assignment: Assignment) -> NodeFit | Exception:
        try:
            return self.fit(assignment)
        except Exception as error:
            return without_frames(error)

    def fit(self, assignment: Assignment) -> NodeFit:
        start = time.perf_counter()
        model = prepared(assignment.learner, assignment.seed)
        last, key = self.fit_transformers(model)
        X_train, X_test = self.rows_for(last, key)
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
            parent, key = key, _key(key, step)
            if key not in self.transformed:
                X_train, X_test = self.rows_for(step, parent)
                X_train = step.fit_transform(X_train, self.y)
                X_test = None if X_test is None else step.transform(X_test)
                self.transformed[key] = (step, X_train, X_test)
            model.steps[index] = (name, self.transformed[key][0])
        return model.steps[-1][1], key

    def rows_for(self, step: Any, key: str) -> tuple[Any, Any]:
        """Return training and test rows, copied for a step that may overwrite them."""
        _, X_train, X_test = self.transformed[key]
        if not overwrites(step):
            return X_train, X_test
        return copy.copy(X_train), copy.copy(X_test)

    def fit_last(self, model: Any, X: Any, seed: int | None) -> None:
        named = weight_argument(model) or "sample_weight"
        if not stops_early_on_given_rows(model):
            model.fit(X, self.y, **({} if self.weight is None else {named: self.weight}))
            return
        kept, held = self.inner_split(seed)
        stop_on = take_rows(X, held), self.y[held]
        if has_fit_parameter(model, "eval_X"):
            arguments: dict[str, Any] = dict(zip(("eval_X", "eval_y"), stop_on, strict=True))
        else:
            arguments = {"eval_set": [stop_on]}
        if type(model).__module__.startswith("xgboost"):
            # It prints its loss on these rows after every round unless told here.
            arguments["verbose"] = False
        if self.weight is not None:
            arguments[named] = self.weight[kept]
            for name in EVALUATION_WEIGHTS:
                if has_fit_parameter(model, name):
                    arguments[name] = [self.weight[held]]
        model.fit(take_rows(X, kept), self.y[kept], **arguments)

    def inner_split(self, seed: int | None) -> tuple[IntArray, IntArray]:
        """Set aside rows of this node to stop on, so that no predicted row is used for it."""
        rows = np.arange(len(self.y))
        groups = None if self.data.groups is None else self.data.groups[self.task.train]
        if groups is not None and len(np.unique(groups)) > 1:
            splitter = GroupShuffleSplit(1, test_size=INNER_SHARE, random_state=seed)
            kept, held = next(splitter.split(rows, groups=groups))
        else:
            stratify = self.y if self.can_stratify() else None
            kept, held = train_test_split(
                rows, test_size=INNER_SHARE, random_state=seed, stratify=stratify
            )
        if self.data.n_classes is not None:
            # A class must not be seen for the first time when it is time to stop.
            known = np.isin(self.y[held], self.y[kept])
            kept, held = np.concatenate([kept, held[~known]]), held[known]
        return kept, held

    def can_stratify(self) -> bool:
        if self.data.n_classes is None:
            return False
        counts = np.bincount(self.y)
        counts = counts[counts > 0]
        return bool(counts.min() >= 2 and len(self.y) * INNER_SHARE >= len(counts))


def _key(parent: str, step: Any) -> str:
    """Return a name that equal steps after equal steps share."""
    try:
        return str(joblib.hash((parent, step)))
    except Exception:
        # A step that cannot be pickled, such as one with a lambda, is not shared.
        return f"{parent}/{id(step)}"


def overwrites(model: Any) -> bool:
    """Tell whether the model was allowed to change the rows it is given."""
    parameters = model.get_params(deep=True) if hasattr(model, "get_params") else {}
    return any(
        value is False and name.split("__")[-1].lower() in ("copy", "copy_x")
        for name, value in parameters.items()
    )


def respond(model: Any, X: Any, method: str, data: TrainingData, n_train: int) -> FloatArray:
    """Return a fitted model's response as a finite matrix, columns aligned to all classes."""
    values = np.asarray(getattr(model, method)(X), dtype=np.float64)
    n_rows = n_samples(X)
    if values.ndim == 0 or len(values) != n_rows:
        raise ValueError(
            f"{type(model).__name__}.{method} returned shape {values.shape} for {n_rows} rows"
        )
    values = values.reshape(n_rows, -1)
    n_targets = 1 if data.y.ndim == 1 else data.y.shape[1]
    if data.n_classes is None and values.shape[1] != n_targets:
        raise ValueError(
            f"{type(model).__name__}.{method} returned {values.shape[1]} columns for "
            f"{n_targets} target{'s' if n_targets > 1 else ''}"
        )
    if method != "predict" and data.n_classes is not None and hasattr(model, "classes_"):
        values = over_all_classes(values, model.classes_, data.n_classes, n_train, method)
    if not np.isfinite(values).all():
        raise ValueError(f"{type(model).__name__}.{method} returned values that are not finite")
    return values
