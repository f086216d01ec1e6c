"""The general way: clone, fit on the node's rows, predict; transformers in front are shared."""

import copy
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import joblib
import numpy as np
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.model_selection import GroupShuffleSplit, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.engine.executor import MAPPED, let_go, without_frames, worn
from foldwise.learners.encoded import EncodedRows, freed_when_read, numbers_in_rows
from foldwise.learners.prepare import (
    package_of,
    prepared,
    respond,
    stops_early_on_given_rows,
    take_rows,
    weight_argument,
)
from foldwise.learners.tasks import NodeFit, NodeTask, TrainingData

INNER_SHARE = 0.1
# Of rows to predict, how many cells are taken at a time.
BLOCK_CELLS = 4_000_000
# The same where each row is answered by itself, as of trees.
FEW_CELLS = 1_000_000
# From which on it is worth a new process to be rid of what CatBoost keeps.
MANY_CELLS = 16_000_000
EVALUATION_WEIGHTS = ("eval_sample_weight", "sample_weight_eval_set")


@dataclass(frozen=True)
class Assignment:
    """A learner, what to ask it for, and the seed of this node.

    Attributes
    ----------
    learner : estimator
        What to fit; it is cloned.
    method : str
        What to ask the fitted model for.
    seed : int or None
        Fills every ``random_state`` that is None.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> Assignment(Ridge(), "predict").seed is None
    True
    """

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
        The learners, each with its seed.
    data : TrainingData
        All rows.
    task : NodeTask
        Which of them to fit on and which to predict.

    Returns
    -------
    list of NodeFit or Exception
        One for each assignment, in order; what a learner raised in the place of its fit.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from foldwise.learners import NodeTask, TrainingData
    >>> data = TrainingData(np.arange(5.0)[:, None], np.arange(5.0))
    >>> task = NodeTask(np.arange(4), np.array([4]))
    >>> (fit,) = fit_at_node([Assignment(LinearRegression(), "predict")], data, task)
    >>> fit.predictions.round(6)
    array([[4.]])
    """
    fits: list[NodeFit | Exception] = []
    with config_context(enable_metadata_routing=False):
        node = NodeInput(data, task, alone=len(assignments) == 1)
        for assignment in assignments:
            try:
                fits.append(node.fit(assignment))
            except Exception as error:
                fits.append(without_frames(error))
    return fits


def fit_generally(learner: Any, data: TrainingData, task: NodeTask, method: str) -> NodeFit:
    """Fit one learner at one node the general way, and raise what it raises."""
    (fit,) = fit_at_node([Assignment(learner, method, task.seed)], data, task)
    if isinstance(fit, Exception):
        raise fit
    return fit


def fit_together(
    learner: Any,
    data: TrainingData,
    tasks: Sequence[NodeTask],
    method: str,
    fit_all: Callable[[list[Any], list[dict[str, Any]]], Any],
) -> list[NodeFit | None]:
    """Fit one learner at all nodes at once, behind transformers that are fitted node by node.

    Parameters
    ----------
    learner : estimator
        Cloned for each node; a Pipeline's last step is what is fitted at once.
    data : TrainingData
        All rows.
    tasks : sequence of NodeTask
        The nodes.
    method : str
        What to ask the fitted models for.
    fit_all : callable
        Fits models in place, each with the arguments its ``fit`` would be called with.

    Returns
    -------
    list of NodeFit
        One for each task, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from foldwise.learners import NodeTask, TrainingData
    >>> data = TrainingData(np.arange(5.0)[:, None], np.arange(5.0))
    >>> def fit_all(models, arguments):
    ...     for model, given in zip(models, arguments, strict=True):
    ...         model.fit(**given)
    >>> tasks = [NodeTask(np.arange(4), np.array([4]))]
    >>> fits = fit_together(LinearRegression(), data, tasks, "predict", fit_all)
    >>> fits[0].predictions.round(6)
    array([[4.]])
    """
    start = time.perf_counter()
    with config_context(enable_metadata_routing=False):
        nodes = [NodeInput(data, task, alone=True) for task in tasks]
        begun = [
            node.begin(Assignment(learner, method, task.seed))
            for node, task in zip(nodes, tasks, strict=True)
        ]
        fit_all([one.last for one in begun], [one.called for one in begun])
        seconds = (time.perf_counter() - start) / len(tasks)
        return [node.finish(one, method, seconds) for node, one in zip(nodes, begun, strict=True)]


@dataclass(frozen=True)
class _Begun:
    """A model whose last step is still to be fitted, and with what."""

    model: Any
    last: Any
    called: dict[str, Any]


class NodeInput:
    """The rows of one node, and the transformers already fitted on them.

    ``alone``: Whether one learner only is fitted, so that nothing need be kept for another.
    """

    def __init__(self, data: TrainingData, task: NodeTask, *, alone: bool) -> None:
        self.data, self.task, self.alone = data, task, alone
        self.y = take_rows(data.y, task.train)
        weight = data.sample_weight
        self.weight = None if weight is None else take_rows(weight, task.train)
        # Rows that are many are asked about a block at a time.
        in_parts = alone and not issparse(data.X) and not task.watched
        self.blocks = self.cut(BLOCK_CELLS if in_parts else len(task.test) * data.X.shape[1])
        # Fitted transformers and what they made of the training rows, which are taken when wanted.
        self.transformed: dict[str, tuple[Any, Any]] = {"": (None, None)}
        # Rows encoded by the first step as they are read; and if nothing else is done to them.
        self.first: EncodedRows | None = None
        self.encoded: EncodedRows | None = None

    @cached_property
    def shared_test(self) -> "AskedRows":
        """The rows to predict, for several learners."""
        return AskedRows(take_rows(self.data.X, self.task.test))

    def cut(self, cells: int) -> list[IntArray]:
        """Return the rows to predict in blocks of so many cells."""
        step, test = max(1, cells // max(self.data.X.shape[1], 1)), self.task.test
        return [test[i : i + step] for i in range(0, len(test), step)]

    def fit(self, assignment: Assignment) -> NodeFit:
        """Fit a learner and ask it."""
        start = time.perf_counter()
        begun = self.begin(assignment)
        called = begun.called
        with self.taken_over(begun.last, called["X"]):
            begun.last.fit(called.pop("X"), called.pop("y"), **called)
        # The rows are let go of before others are asked about.
        called.clear()
        return self.finish(begun, assignment.method, time.perf_counter() - start)

    def begin(self, assignment: Assignment) -> "_Begun":
        """Do all but the fit of the last step."""
        model = prepared(assignment.learner, assignment.seed)
        last, key = self.fit_transformers(model)
        X_train = self.in_parts(last) if self.alone and not key else None
        if X_train is not None:
            self.blocks = self.cut(FEW_CELLS)
        elif isinstance(self.transformed[key][1], EncodedRows):
            # Nothing stands between the encoder and the learner.
            self.encoded = self.transformed[key][1]
            X_train = self.given_to(last, self.encoded)
            in_trees = self.task.watched or not isinstance(X_train, np.ndarray)
            self.blocks = self.cut(FEW_CELLS if in_trees else BLOCK_CELLS)
        else:
            X_train = self.rows_for(last, key)
        if self.alone:
            self.transformed.clear()
        groups = None if self.data.groups is None else self.data.groups[self.task.train]
        data = TrainingData(X_train, self.y, self.weight, self.data.n_classes, groups)
        called = fit_arguments(last, data, assignment.seed, in_order=self.task.in_order)
        return _Begun(model, last, called)

    def finish(self, begun: "_Begun", method: str, seconds: float) -> NodeFit:
        """Ask the fitted last step."""
        start = time.perf_counter()
        predictions = np.empty((0, 0))
        if self.blocks:
            ask = (method, self.data, len(self.task.train))
            each = [respond(begun.last, block, *ask) for block in self.asked(begun.model)]
            predictions = each[0] if len(each) == 1 else np.concatenate(each)
        model = begun.model if self.task.keep_model else None
        return NodeFit(predictions, model, seconds, time.perf_counter() - start)

    def asked(self, model: Any) -> Iterator[Any]:
        """Yield the rows to predict as the last step wants them."""
        for rows in self.blocks:
            if not self.alone:
                yield self.shared_test.before_last(model)
                continue
            steps = steps_of(model)[:-1]
            if self.first is None:
                X = take_rows(self.data.X, rows)
            else:
                X, steps = self.first.of(rows).whole(), steps[1:]
            for step in steps:
                X = step.transform(X)
            let_go()
            yield X

    def fit_transformers(self, model: Any) -> tuple[Any, str]:
        """Fit all but the last step of a Pipeline, or take them from a learner before."""
        if steps_of(model) == [model]:
            return model, ""
        key = ""
        for index, (name, step) in enumerate(model.steps[:-1]):
            if _idle(step):
                continue
            parent, key = key, _key(key, step)
            if key not in self.transformed:
                X_train = self.encoded_by(step, parent)
                if X_train is None:
                    X_train = self.fit_transform(step, parent)
                self.transformed[key] = (step, X_train)
            if self.alone:
                del self.transformed[parent]
            model.steps[index] = (name, self.transformed[key][0])
        return model.steps[-1][1], key

    def fit_transform(self, step: Any, parent: str) -> Any:
        """Fit a transformer and return what it makes of the training rows."""
        X = self.rows_for(step, parent)
        if hasattr(step, "fit_transform"):
            return step.fit_transform(X, self.y)
        return step.fit(X, self.y).transform(X)

    def encoded_by(self, step: Any, parent: str) -> EncodedRows | None:
        """Return the training rows encoded as they are read, if the first step can; it is fitted.

        None where it must be given a copy.
        """
        rows = self.task.train
        if not self.alone or parent or not hasattr(step, "_fit_in_parts"):
            return None
        values = numbers_in_rows(self.data.X, rows)
        encode = None if values is None else step._fit_in_parts(self.data.X, values, rows)
        if values is not None and encode is not None:
            self.first = EncodedRows(values, rows, encode)
        return self.first

    def given_to(self, learner: Any, rows: EncodedRows) -> Any:
        """Return encoded rows as a learner takes them in the least memory."""
        # Of those without weight some would have to be left out.
        all_count = self.weight is None or bool(self.weight.all())
        if all_count and hasattr(learner, "_reads_parts"):
            in_parts = learner._reads_parts(rows, watched=bool(self.task.watched))
            return rows.whole() if in_parts is None else in_parts
        return whole_for(learner, rows)

    def taken_over(self, learner: Any, *rows: Any) -> AbstractContextManager[None]:
        """Let a learner free rows that were encoded for it alone, once it has read them."""
        if package_of(learner) == "catboost" and self.y.size * self.data.X.shape[1] > MANY_CELLS:
            # It keeps what it has freed for itself, about half of what it was given.
            worn.set()
        if self.encoded is None or package_of(learner) != "xgboost":
            return nullcontext()
        return freed_when_read(learner, rows)

    def rows_for(self, step: Any, key: str) -> Any:
        """Return the training rows, copied for a step that may overwrite them."""
        fitted, X = self.transformed[key]
        if X is None:
            X = take_rows(self.data.X, self.task.train)
            let_go()
        elif isinstance(X, EncodedRows):
            X = X.whole()
        self.transformed[key] = fitted, X
        return X if self.alone or not overwrites(step) else copy.copy(X)

    def in_parts(self, learner: Any) -> Any:
        """Return what LightGBM takes for a copy of the training rows; None where one is needed."""
        if not MAPPED or package_of(learner) != "lightgbm":
            return None
        from foldwise.learners.in_parts import stand_in  # noqa: PLC0415 - with it LightGBM

        return stand_in(learner, self.data.X, self.task.train)


def whole_for(learner: Any, rows: EncodedRows) -> Array:
    """Return encoded rows as an array, in the single precision that some boosters work in."""
    package = package_of(learner)
    if package == "catboost":
        # Columns of single precision it reads where they lie, all else it copies.
        return rows.whole(np.float32, "F")
    return rows.whole(np.float32 if package == "xgboost" else np.float64)


def steps_of(model: Any) -> list[Any]:
    """Return what a model does, one after the other: its transformers, and last what answers.

    Parameters
    ----------
    model : estimator
        Of any kind.

    Returns
    -------
    list
        The steps of a Pipeline that do something; the model itself if it is none.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> [type(step).__name__ for step in steps_of(make_pipeline(StandardScaler(), Ridge()))]
    ['StandardScaler', 'Ridge']
    """
    # A class of its own may do more than one step after the other.
    if type(model) is not Pipeline or model.memory is not None or model.verbose:
        return [model]
    *before, last = [step for _, step in model.steps]
    return [*(step for step in before if not _idle(step)), last]


def _idle(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def share_steps(models: Sequence[Any]) -> None:
    """Let models fitted at one node share transformers that are the same to the last bit.

    Those fitted in other processes are copies of each other; shared, they are asked and kept once.

    Parameters
    ----------
    models : sequence of estimator
        Fitted ones; Pipelines among them are changed in place.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = [[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0]
    >>> models = [make_pipeline(StandardScaler(), Ridge(a)).fit(X, y) for a in (1.0, 2.0)]
    >>> share_steps(models)
    >>> models[0][0] is models[1][0]
    True
    """
    known: dict[str, Any] = {}
    for model in models:
        key, shared = "", {}
        for step in steps_of(model)[:-1]:
            key = _key(key, step)
            shared[id(step)] = known.setdefault(key, step)
        if shared:
            model.steps = [(name, shared.get(id(step), step)) for name, step in model.steps]


class AskedRows:
    """New rows that models of one node are asked about; what a shared transformer said is kept.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from foldwise.learners import TrainingData
    >>> data = TrainingData(np.eye(2), np.array([1.0, 3.0]))
    >>> model = LinearRegression().fit(data.X, data.y)
    >>> AskedRows(data.X).respond(model, "predict", data, 2).round(6)
    array([[1.],
           [3.]])
    """

    def __init__(self, X: Any) -> None:
        self.transformed: dict[tuple[int, ...], Any] = {(): X}
        self.seconds: dict[tuple[int, ...], float] = {}  # by step, with those before it

    def parts(self, model: Any) -> list[tuple[int, ...]]:
        """Return what the steps of a model are called here."""
        places = [id(step) for step in steps_of(model)]
        return [tuple(places[: n + 1]) for n in range(len(places))]

    def respond(self, model: Any, method: str, data: TrainingData, n_train: int) -> FloatArray:
        """Return a model's response, see :func:`respond`."""
        X = self.before_last(model)
        start = time.perf_counter()
        response = respond(steps_of(model)[-1], X, method, data, n_train)
        self.seconds[self.parts(model)[-1]] = time.perf_counter() - start
        return response

    def before_last(self, model: Any) -> Any:
        """Return the rows as the last step of a model is asked about them."""
        *before, last = zip(steps_of(model), self.parts(model), strict=True)
        for step, part in before:
            if part not in self.transformed:
                start = time.perf_counter()
                self.transformed[part] = step.transform(self._rows(step, part))
                self.seconds[part] = time.perf_counter() - start
        return self._rows(*last)

    def _rows(self, step: Any, part: tuple[int, ...]) -> Any:
        rows = self.transformed[part[:-1]]
        return copy.copy(rows) if overwrites(step) else rows


def fit_prepared(
    model: Any, data: TrainingData, seed: int | None = None, *, in_order: bool = False
) -> Any:
    """Fit a model in place; one that stops early on given rows gets some of these.

    Parameters
    ----------
    model : estimator
        Made by :func:`prepared`, or of one's own.
    data : TrainingData
        The rows to fit on: all of them, with their weights and groups.
    seed : int or None
        Draws the rows to stop on.
    in_order : bool, default=False
        Whether rows follow each other in time: then the last of them are stopped on.

    Returns
    -------
    estimator
        The model.

    Examples
    --------
    >>> import numpy as np
    >>> from lightgbm import LGBMRegressor
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> model = prepared(LGBMRegressor(n_iter_no_change=5), 0)
    >>> fit_prepared(model, TrainingData(X, X.ravel()), 0).best_iteration_ < 100
    True
    """
    called = fit_arguments(model, data, seed, in_order=in_order)
    return model.fit(called.pop("X"), called.pop("y"), **called)


def fit_arguments(
    model: Any, data: TrainingData, seed: int | None, *, in_order: bool
) -> dict[str, Any]:
    """Return what the ``fit`` of a model is called with, the rows as X and y."""
    X, y, weight = data.X, data.y, data.sample_weight
    named = weight_argument(model) or "sample_weight"
    if not stops_early_on_given_rows(model):
        return {"X": X, "y": y} | ({} if weight is None else {named: weight})
    kept, held = rows_to_stop_on(data, seed, in_order=in_order)
    stop_on = take_rows(X, held), y[held]
    if has_fit_parameter(model, "eval_X"):
        arguments: dict[str, Any] = dict(zip(("eval_X", "eval_y"), stop_on, strict=True))
    else:
        arguments = {"eval_set": [stop_on]}
    if package_of(model) == "xgboost":
        # It prints its loss on these rows after every round unless told here.
        arguments["verbose"] = False
    if weight is not None:
        arguments[named] = weight[kept]
        for name in EVALUATION_WEIGHTS:
            if has_fit_parameter(model, name):
                arguments[name] = [weight[held]]
    return {"X": take_rows(X, kept), "y": y[kept], **arguments}


def rows_to_stop_on(
    data: TrainingData, seed: int | None, *, in_order: bool = False
) -> tuple[IntArray, IntArray]:
    """Set aside rows to stop on, so that no predicted row is used for it.

    Parameters
    ----------
    data : TrainingData
        The rows to fit on.
    seed : int or None
        Draws the rows.
    in_order : bool, default=False
        Whether rows follow each other in time: then the last of them are set aside.

    Returns
    -------
    kept, held : ndarray of int
        Rows to fit on and rows to stop on; groups are not torn, and no class is held only. Where
        that leaves none to set aside, the rows to fit on are those to stop on.

    Examples
    --------
    >>> import numpy as np
    >>> from foldwise.learners import TrainingData
    >>> kept, held = rows_to_stop_on(TrainingData(np.eye(20), np.arange(20.0)), seed=0)
    >>> len(kept), len(held)
    (18, 2)
    """
    rows, groups = np.arange(len(data.y)), data.groups
    if len(rows) == 1:
        return rows, rows
    if in_order:
        kept, held = np.split(rows, [len(rows) - math.ceil(INNER_SHARE * len(rows))])
    elif groups is not None and len(np.unique(groups)) > 1:
        splitter = GroupShuffleSplit(1, test_size=INNER_SHARE, random_state=seed)
        kept, held = next(splitter.split(rows, groups=groups))
    else:
        like = data.y if _can_stratify(data) else None
        kept, held = train_test_split(rows, test_size=INNER_SHARE, random_state=seed, stratify=like)
    if data.n_classes is not None:
        # A class must not be seen for the first time when it is time to stop.
        known = np.isin(data.y[held], data.y[kept])
        kept, held = np.concatenate([kept, held[~known]]), held[known]
    return kept, held if len(held) else kept


def _can_stratify(data: TrainingData) -> bool:
    if data.n_classes is None:
        return False
    counts = np.bincount(data.y)
    counts = counts[counts > 0]
    return bool(counts.min() >= 2 and len(data.y) * INNER_SHARE >= len(counts))


def _key(parent: str, step: Any) -> str:
    """Return a name that equal steps after equal steps share."""
    try:
        # Not the engine's fingerprint: within one process a class is known by its name.
        return str(joblib.hash((parent, step)))
    except Exception:
        # A step that cannot be pickled, such as one with a lambda, is not shared.
        return f"{parent}/{id(step)}"


def overwrites(model: Any) -> bool:
    """Tell whether the model was allowed to change the rows it is given."""
    kind: Any = type(model)
    own: dict[str, Any] = {}
    if getattr(kind, "get_params", None) is BaseEstimator.get_params:
        own = {name: getattr(model, name, None) for name in _parameters(kind)}
    if hasattr(model, "get_params") and (
        not own or any(hasattr(value, "get_params") for value in own.values())
    ):
        own = model.get_params(deep=True)
    return any(
        value is False and name.split("__")[-1].lower() in ("copy", "copy_x")
        for name, value in own.items()
    )


@cache
def _parameters(kind: type[BaseEstimator]) -> tuple[str, ...]:
    # Looked up in a signature, which takes longer than small models do.
    return tuple(kind._get_param_names())
