"""Boosters whose rounds are found at a node on the folds it leaves out, on one for each judge."""

import math
import time
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import is_classifier

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.engine.executor import without_frames
from foldwise.learners.general import Assignment, NodeInput, steps_of, whole_for
from foldwise.learners.prepare import (
    EARLY_STOPPING,
    package_of,
    respond,
    stops_early_on_given_rows,
    take_rows,
)
from foldwise.learners.tasks import NodeFit, NodeTask, TrainingData

Part = tuple[Any, Array, FloatArray | None]  # features, targets and weights
# What others call the number of rounds.
ROUNDS_NAMES = {"xgboost": "n_estimators", "catboost": "iterations"}


class Patience:
    """Says when a loss has not fallen for some rounds."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.best_round = 0
        self._lowest = math.inf
        self._seen = 0
        self._over = False

    def exhausted(self, loss: float) -> bool:
        """Take the next round's loss; return whether to stop. What comes later changes nothing."""
        self._seen += 1
        if not self._over and loss < self._lowest:
            self._lowest, self.best_round = loss, self._seen
        self._over = self._seen - self.best_round >= self.rounds
        return self._over


def finds_rounds(learner: Any) -> bool:
    """Tell whether a learner is a booster that stops early and can be watched on other rows."""
    last = steps_of(learner)[-1]
    if hasattr(last, "_fit_watching"):
        return bool(last.early_stopping)
    parameters = last.get_params(deep=False)
    known = package_of(last) in ROUNDS_NAMES and stops_early_on_given_rows(last)
    # What the user measures may be better if higher.
    return known and "early_stopping_rounds" in parameters and not parameters.get("eval_metric")


def with_rounds(learner: Any, rounds: int) -> Any:
    """Return a learner of so many rounds, or fewer if it may not have as many."""
    last = steps_of(learner)[-1]
    name = ROUNDS_NAMES.get(package_of(last), "n_estimators")
    most = last.get_params(deep=False).get(name) or rounds
    return _with_last(learner, _unstopped(last, **{name: min(rounds, most)}))


def _unstopped(last: Any, **changed: Any) -> Any:
    """Return a booster that does not stop early, with some parameters changed."""
    parameters = last.get_params(deep=False)
    if hasattr(last, "_fit_watching"):
        return type(last)(**{**parameters, "early_stopping": False, **changed})
    # Not by None, with which CatBoost stops early and cannot be cloned.
    kept = {key: value for key, value in parameters.items() if key not in EARLY_STOPPING}
    return type(last)(**{**kept, **changed})


def _with_last(learner: Any, last: Any) -> Any:
    if learner is steps_of(learner)[-1]:
        return last
    changed = copy(learner)
    changed.steps = [*learner.steps[:-1], (learner.steps[-1][0], last)]
    return changed


def _watch(
    model: Any, patience: int, X: Any, y: Array, parts: Sequence[Part], **called: Any
) -> tuple[int, ...]:
    """Fit a booster until its loss has stopped falling on each part; return the rounds of each."""
    if hasattr(model, "_fit_watching"):
        found: tuple[int, ...] = model._fit_watching(X, y, parts, **called)
        return found
    if is_classifier(model):
        parts = [_of_classes(part, np.unique(y)) for part in parts]
    waiting, sets = [Patience(patience) for _ in parts], [part[:2] for part in parts]
    if package_of(model) == "xgboost":
        if parts[0][2] is not None:
            called["sample_weight_eval_set"] = [part[2] for part in parts]
        kept = model.callbacks
        model.set_params(callbacks=[*(kept or ()), _xgboost_callback(waiting)])
        model.fit(X, y, eval_set=sets, verbose=False, **called)
        model.set_params(callbacks=kept)
    else:
        after = {"use_best_model": False, "callbacks": [_AfterEach(waiting)]}
        model.fit(X, y, eval_set=sets, **after, **called)
    return tuple(max(patience.best_round, 1) for patience in waiting)


def _of_classes(part: Part, classes: Array) -> Part:
    X, y, weight = part
    met = np.flatnonzero(np.isin(y, classes))
    if len(met) == len(y):
        return part
    return take_rows(X, met), y[met], None if weight is None else weight[met]


def _first(model: Any, rounds: int) -> Any:
    """Return the fitted model of the first rounds."""
    if hasattr(model, "_first"):
        return model._first(rounds)
    if package_of(model) == "xgboost":
        cut = copy(model)
        cut._Booster = model.get_booster()[:rounds]
        return cut
    cut = model.copy()
    cut.shrink(rounds)
    return cut


@dataclass(frozen=True)
class _AfterEach:
    """Looks at the losses on all parts after each round of CatBoost."""

    waiting: Sequence[Patience]

    def after_iteration(self, info: Any) -> bool:
        """Tell whether to go on."""
        return not self.over({k: v for k, v in info.metrics.items() if k != "learn"})

    def over(self, losses: Mapping[str, Mapping[str, Sequence[float]]]) -> bool:
        """Tell whether the loss on every part has stopped falling."""
        last = [list(losses[name].values())[-1][-1] for name in sorted(losses)]
        over = [w.exhausted(loss) for w, loss in zip(self.waiting, last, strict=True)]
        return all(over)


def _xgboost_callback(waiting: Sequence[Patience]) -> Any:
    from xgboost.callback import TrainingCallback  # noqa: PLC0415 - an extra

    class AfterEach(TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            return _AfterEach(waiting).over(evals_log)

    return AfterEach()


def scaled_rounds(best: Sequence[int], n_training: Sequence[int], n_samples: int) -> int:
    """Return the rounds for a refit on all rows: the mean of best · n_samples / n_training.

    A model of more rows can afford more rounds; to first order in proportion.
    """
    ratios = [b * n_samples / n for b, n in zip(best, n_training, strict=True)]
    return max(1, math.floor(sum(ratios) / len(ratios) + 0.5))


def fit_watched(
    assignment: Assignment, data: TrainingData, task: NodeTask
) -> list[NodeFit | Exception]:
    """Fit a booster once at a node, and answer once for each part that it was watched on."""
    try:
        with config_context(enable_metadata_routing=False):
            return list(_fit_watched(assignment, data, task))
    except Exception as error:
        return [without_frames(error)] * len(task.watched)


def _fit_watched(assignment: Assignment, data: TrainingData, task: NodeTask) -> list[NodeFit]:
    start, weight, patience = time.perf_counter(), data.sample_weight, 0
    last = steps_of(assignment.learner)[-1]
    if not hasattr(last, "_fit_watching"):
        patience = int(last.get_params()["early_stopping_rounds"])
        learner = _with_last(assignment.learner, _unstopped(last))
        assignment = replace(assignment, learner=learner)
    node = NodeInput(data, task, alone=True)
    begun = node.begin(assignment)
    last = begun.last
    # Rows that are encoded as they are read need not wait for the end.
    whole = None if node.encoded is not None else next(node.asked(begun.model))

    def part(rows: IntArray) -> Part:
        if node.encoded is not None:
            X = whole_for(last, node.encoded.of(rows))
        else:
            X = take_rows(whole, np.searchsorted(task.test, rows))
        return X, take_rows(data.y, rows), None if weight is None else take_rows(weight, rows)

    called, parts = begun.called, [part(rows) for rows in task.watched]
    with node.taken_over(last, called["X"], *(X for X, _, _ in parts)):
        found = _watch(last, patience, called.pop("X"), called.pop("y"), parts, **called)
    called.clear()
    seconds, start = time.perf_counter() - start, time.perf_counter()
    told, models = dict[int, list[FloatArray]](), dict[int, Any]()
    # Quicker, but good for the rows they are made for only.
    at_once = hasattr(last, "_answering") and not task.keep_model
    for X in node.asked(begun.model) if whole is None else [whole]:
        if at_once:
            models = last._answering(found, X)
        elif not models:
            models = {rounds: _first(last, rounds) for rounds in found}
        for rounds, cut in models.items():
            answer = respond(cut, X, assignment.method, data, len(task.train))
            told.setdefault(rounds, []).append(answer)
    took = (time.perf_counter() - start) / len(told)
    fits = dict[int, NodeFit]()
    for rounds, each in told.items():
        model = _with_last(begun.model, models[rounds]) if task.keep_model else None
        predictions = each[0] if len(each) == 1 else np.concatenate(each)
        fits[rounds] = NodeFit(predictions, model, seconds / len(found), took, rounds)
    return [fits[rounds] for rounds in found]
