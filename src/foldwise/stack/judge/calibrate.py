"""Calibration and threshold: what is done to a stacker's response before it is the stack's."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from foldwise.arrays import FloatArray
from foldwise.checks import check_number, unknown_word
from foldwise.combine.calibration import (
    Calibration,
    choose_calibration,
    cross_calibrated,
    default_methods,
    probabilities_of,
)
from foldwise.combine.calibration.choose import NONE
from foldwise.combine.calibration.named import METHODS
from foldwise.combine.threshold import METRICS, best_threshold, pick_threshold, thresholds_between
from foldwise.errors import Plain, invalid_parameter, unsupported
from foldwise.scores.metric import Metric, Response, Target, as_metric
from foldwise.stack.stackers.candidates import Candidate, response_kind
from foldwise.stack.table.read import as_logits, clip_amount, compact

AUTO = "auto"
MOST_THRESHOLDS = 200


@dataclass(frozen=True, eq=False)
class Correction:
    """A fitted calibration and a decision threshold, either of which may be missing."""

    calibration: Calibration | None = None  # what maps logits to probabilities
    # the probability of the second of two classes from which on it is predicted
    threshold: float | None = None
    clip: float = 0.0  # how near to 0 and 1 a probability may come before its logarithm is taken
    scale: float = 1.0  # decision values are divided by it

    def apply(self, response: Response) -> Response:
        """Return the corrected response: its labels are the most probable classes."""
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


def logits_of(response: Response, clip: float, scale: float) -> FloatArray:
    """Return what calibration reads: log-odds, or scaled decision values."""
    if response.kind == "probability":
        return as_logits(compact(response.values, "probability"), clip)
    return response.values / scale


@dataclass(frozen=True)
class Corrector:
    """Finds a correction from out-of-fold responses."""

    # calibration methods to choose from, the simplest first; empty for no calibration
    methods: tuple[str, ...]
    threshold: Any  # none, the threshold, or what it is to maximise
    # number of rows the stack was fitted on; it decides how probabilities are clipped
    amount: float
    in_order: bool = False  # whether choices must be made forward in time

    def find(self, held: tuple[Response, Target] | None) -> Correction:
        """Return the correction learned from out-of-fold responses and their targets."""
        if held is None or (held[1].weight is not None and held[1].weight.sum() == 0):
            nothing = Calibration(NONE, None, {}) if self.methods else None
            fixed = 0.5 if isinstance(self.threshold, Metric) else self.threshold
            return Correction(nothing, fixed, clip_amount(self.amount))
        response, target = held
        correction = self._calibrate(response, target)
        if not isinstance(self.threshold, Metric):
            return replace(correction, threshold=self.threshold)
        values, target = self._cross_corrected(correction, response, target)
        return replace(correction, threshold=tuned_threshold(values, target, self.threshold))

    def _calibrate(self, response: Response, target: Target) -> Correction:
        clip = clip_amount(self.amount)
        if not self.methods:
            return Correction(clip=clip)
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
        return Correction(calibration, None, clip, scale)

    def _cross_corrected(
        self, correction: Correction, response: Response, target: Target
    ) -> tuple[FloatArray, Target]:
        """Return probabilities calibrated without the row's own fold, and their targets."""
        if correction.calibration is None or correction.calibration.map is None:
            return correction.apply(response).values, target
        rows, values = cross_calibrated(
            correction.calibration.method,
            logits_of(response, correction.clip, correction.scale),
            target.y,
            target.fold,
            sample_weight=target.weight,
            in_order=self.in_order,
        )
        if not len(rows):
            return correction.apply(response).values, target
        return values, target.take(rows)


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


def checked_methods(owner: str, calibrate: Any, n_classes: int) -> tuple[str, ...]:
    """Return the calibration methods to choose from, the simplest first."""
    if calibrate is None:
        return ()
    if isinstance(calibrate, str) and calibrate == AUTO:
        return default_methods(n_classes)
    methods = list(calibrate) if isinstance(calibrate, list | tuple) else [calibrate]
    known = (NONE, *METHODS)
    for method in methods:
        if not isinstance(method, str) or method not in known:
            must = "be None, 'auto', the name of a method or a list of names"
            raise unknown_word(owner, "calibrate", method, (AUTO, *known), must)
    if not methods:
        must, fix = "name at least one method", "Use None for no calibration."
        raise invalid_parameter(owner, "calibrate", must=must, got=calibrate, fix=fix)
    return tuple(dict.fromkeys(methods))


def checked_threshold(owner: str, threshold: Any, n_classes: int) -> float | Metric | None:
    """Return the threshold, or the metric it is to maximise."""
    if threshold is None:
        return None
    must, fix = None, "Use 'balanced_accuracy', 'f1' or another scorer of labels."
    if n_classes != 2:
        must = "be None for other than two classes"
        fix = f"There are {n_classes} classes; leave threshold out."
    elif isinstance(threshold, str) or callable(threshold):
        metric = as_metric(threshold, owner=owner, classify=True, has_probabilities=True)
        if getattr(metric.scorer, "_response_method", "predict") == "predict":
            return metric
        must = "name a scorer of labels, which a threshold can change"
    elif isinstance(threshold, bool) or not isinstance(threshold, int | float):
        must = "be None, a number, the name of a scorer or a scorer"
        fix = "Use 'balanced_accuracy'."
    if must is not None:
        raise invalid_parameter(owner, "threshold", must=must, got=threshold, fix=fix)
    check_number(owner, "threshold", threshold, least=0, most=1, try_=0.5)
    return float(threshold)


def check_kinds(
    owner: str, candidates: Sequence[Candidate], calibrate: Any, threshold: Any
) -> None:
    """Raise unless every stacker gives what calibration and threshold need."""
    kinds = {candidate.name: response_kind(candidate.estimator) for candidate in candidates}
    found = set(kinds.values())
    words = {"probability": "probabilities", "decision": "decision values"}
    must = None
    if calibrate is not None and found not in ({"probability"}, {"decision"}):
        must = "give probabilities, or decision values throughout, for calibrate"
        fix = "Use 'logistic', or leave calibrate out."
    elif calibrate is None and threshold is not None and found != {"probability"}:
        must = "give probabilities for threshold"
        fix = "Use 'logistic', or calibrate='platt' with decision values."
    if must is not None:
        told = [f"{words.get(kind, 'labels')} of {name}" for name, kind in kinds.items()]
        raise unsupported(owner, "final_estimator", must=must, got=Plain(", ".join(told)), fix=fix)
    if calibrate in (NONE, [NONE], (NONE,)) and "decision" in found:
        must = "name a method that makes probabilities of decision values"
        raise invalid_parameter(owner, "calibrate", must=must, got=calibrate, fix="Use 'platt'.")
