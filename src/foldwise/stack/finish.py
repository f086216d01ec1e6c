"""What is done to a stacker's response before it is the stack's: calibration and a threshold."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from foldwise.arrays import FloatArray
from foldwise.combine.calibration import (
    Calibration,
    choose_calibration,
    cross_calibrated,
    probabilities_of,
)
from foldwise.combine.calibration.choose import NONE
from foldwise.combine.threshold import (
    METRICS,
    best_threshold,
    pick_threshold,
    thresholds_between,
)
from foldwise.scores.metric import Metric, Target
from foldwise.scores.response import Response
from foldwise.stack.features import as_logits, clip_amount, compact

MOST_THRESHOLDS = 200


@dataclass(frozen=True, eq=False)
class Finish:
    """A fitted calibration and a decision threshold, either of which may be missing."""

    calibration: Calibration | None = None  # what maps logits to probabilities
    # the probability of the second of two classes from which on it is predicted
    threshold: float | None = None
    clip: float = 0.0  # how near to 0 and 1 a probability may come before its logarithm is taken
    scale: float = 1.0  # decision values are divided by it

    def apply(self, response: Response) -> Response:
        """Return the finished response: its labels are the most probable classes."""
        if self.calibration is not None:
            response = self._calibrated(response, self.calibration)
        if self.threshold is None:
            return response
        labels = (response.values[:, 1] >= self.threshold).astype(np.intp)
        return replace(response, own_labels=labels)

    def _calibrated(self, response: Response, calibration: Calibration) -> Response:
        if calibration.map is None and response.kind == "probability":
            return Response("probability", response.values)
        logits = logits_of(response, self.clip, self.scale)
        predict = probabilities_of if calibration.map is None else calibration.map.predict
        return Response("probability", predict(logits))


UNTOUCHED = Finish()


def logits_of(response: Response, clip: float, scale: float) -> FloatArray:
    """Return what calibration reads: log-odds, or scaled decision values."""
    if response.kind == "probability":
        return as_logits(compact(response.values, "probability"), clip)
    return response.values / scale


@dataclass(frozen=True)
class Finisher:
    """Finds a finish from out-of-fold responses."""

    # calibration methods to choose from, the simplest first; empty for no calibration
    methods: tuple[str, ...]
    threshold: Any  # none, the threshold, or what it is to maximise
    # number of rows the stack was fitted on; it decides how probabilities are clipped
    amount: float
    in_order: bool = False  # whether choices must be made forward in time

    def find(self, held: tuple[Response, Target] | None) -> Finish:
        """Return the finish learned from out-of-fold responses and their targets."""
        if held is None or (held[1].weight is not None and held[1].weight.sum() == 0):
            nothing = Calibration(NONE, None, {}) if self.methods else None
            fixed = 0.5 if isinstance(self.threshold, Metric) else self.threshold
            return Finish(nothing, fixed, clip_amount(self.amount))
        response, target = held
        finish = self._calibrate(response, target)
        if not isinstance(self.threshold, Metric):
            return replace(finish, threshold=self.threshold)
        values, target = self._cross_finished(finish, response, target)
        return replace(finish, threshold=tuned_threshold(values, target, self.threshold))

    def _calibrate(self, response: Response, target: Target) -> Finish:
        clip = clip_amount(self.amount)
        if not self.methods:
            return Finish(clip=clip)
        methods, scale = self.methods, 1.0
        if response.kind == "decision":
            methods = tuple(m for m in methods if m != NONE)
            squares = np.mean(response.values**2, axis=1)
            scale = float(np.sqrt(np.average(squares, weights=target.weight))) or 1.0
        calibration = choose_calibration(
            logits_of(response, clip, scale),
            target.y,
            methods,
            target.fold,
            plain=response.values,
            sample_weight=target.weight,
            unit=target.unit,
            in_order=self.in_order,
        )
        return Finish(calibration, None, clip, scale)

    def _cross_finished(
        self, finish: Finish, response: Response, target: Target
    ) -> tuple[FloatArray, Target]:
        """Return probabilities calibrated without the row's own fold, and their targets."""
        if finish.calibration is None or finish.calibration.map is None:
            return finish.apply(response).values, target
        rows, values = cross_calibrated(
            finish.calibration.method,
            logits_of(response, finish.clip, finish.scale),
            target.y,
            target.fold,
            sample_weight=target.weight,
            in_order=self.in_order,
        )
        return (values, target.take(rows)) if len(rows) else (finish.apply(response).values, target)


def tuned_threshold(values: FloatArray, target: Target, metric: Metric) -> float:
    """Return the threshold that maximises a metric of labels.

    ``metric``: What is maximised; where it is not known as a function of the four counts, at most
    200 thresholds are tried.

    Shapes: ``values`` (n_samples, 2).
    """
    positive = values[:, 1]
    name = metric.name
    known = name in METRICS and metric.function is not None
    if known and not getattr(metric.scorer, "_kwargs", None) and _plain_codes(target, name):
        return best_threshold(positive, target.y, name, target.weight)[0]
    thresholds = thresholds_between(positive)
    if len(thresholds) > MOST_THRESHOLDS:
        spread = np.linspace(0, len(thresholds) - 1, MOST_THRESHOLDS)
        thresholds = np.unique(np.append(thresholds[spread.astype(np.intp)], 0.5))
    scores = [
        metric.score(Response("probability", values, (positive >= t).astype(np.intp)), target)
        for t in thresholds
    ]
    return pick_threshold(thresholds, np.array(scores))[0]


def _plain_codes(target: Target, name: str) -> bool:
    """Tell whether scikit-learn's positive class, 1, is the second one for this metric."""
    symmetric = name in ("accuracy", "balanced_accuracy", "matthews_corrcoef")
    return symmetric or (target.labels is not None and target.labels[1] == 1)
