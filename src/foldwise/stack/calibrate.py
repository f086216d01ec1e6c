"""The parameters ``calibrate`` and ``threshold``, checked before anything is fitted."""

from collections.abc import Sequence
from typing import Any

from foldwise.combine.calibration import default_methods
from foldwise.combine.calibration.choose import NONE
from foldwise.combine.calibration.named import METHODS
from foldwise.errors import Plain, did_you_mean, invalid_parameter, unsupported
from foldwise.scores.metric import Metric, as_metric
from foldwise.stack.stackers import Candidate, response_kind

AUTO = "auto"


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
            raise invalid_parameter(
                owner,
                "calibrate",
                must="be None, 'auto', the name of a method or a list of names",
                got=method,
                fix=did_you_mean(method, (AUTO, *known)),
            )
    if not methods:
        raise invalid_parameter(
            owner,
            "calibrate",
            must="name at least one method",
            got=calibrate,
            fix="Use None for no calibration.",
        )
    return tuple(dict.fromkeys(methods))


def checked_threshold(owner: str, threshold: Any, n_classes: int) -> float | Metric | None:
    """Return the threshold, or the metric it is to maximise."""
    if threshold is None:
        return None
    if n_classes != 2:
        raise invalid_parameter(
            owner,
            "threshold",
            must="be None for other than two classes",
            got=threshold,
            fix=f"There are {n_classes} classes; leave threshold out.",
        )
    if isinstance(threshold, str) or callable(threshold):
        metric = as_metric(threshold, owner=owner, classify=True, has_probabilities=True)
        if getattr(metric.scorer, "_response_method", "predict") != "predict":
            raise invalid_parameter(
                owner,
                "threshold",
                must="name a scorer of labels, which a threshold can change",
                got=threshold,
                fix="Use 'balanced_accuracy', 'f1' or another scorer of labels.",
            )
        return metric
    if isinstance(threshold, bool) or not isinstance(threshold, int | float):
        raise invalid_parameter(
            owner,
            "threshold",
            must="be None, a number, the name of a scorer or a scorer",
            got=threshold,
            fix="Use 'balanced_accuracy'.",
        )
    if not 0.0 <= threshold <= 1.0:
        raise invalid_parameter(
            owner, "threshold", must="be between 0 and 1", got=threshold, fix="Use 0.5."
        )
    return float(threshold)


def check_kinds(
    owner: str, candidates: Sequence[Candidate], calibrate: Any, threshold: Any
) -> None:
    """Raise unless every stacker gives what calibration and threshold need."""
    kinds = {candidate.name: response_kind(candidate.estimator) for candidate in candidates}
    if calibrate is not None and (set(kinds.values()) not in ({"probability"}, {"decision"})):
        raise unsupported(
            owner,
            "final_estimator",
            must="give probabilities, or decision values throughout, for calibrate",
            got=_told(kinds),
            fix="Use 'logistic', or leave calibrate out.",
        )
    if calibrate is None and threshold is not None and set(kinds.values()) != {"probability"}:
        raise unsupported(
            owner,
            "final_estimator",
            must="give probabilities for threshold",
            got=_told(kinds),
            fix="Use 'logistic', or calibrate='platt' with decision values.",
        )
    only_none = calibrate in (NONE, [NONE], (NONE,))
    if only_none and "decision" in kinds.values():
        raise invalid_parameter(
            owner,
            "calibrate",
            must="name a method that makes probabilities of decision values",
            got=calibrate,
            fix="Use 'platt'.",
        )


def _told(kinds: dict[str, str]) -> Plain:
    words = {"probability": "probabilities", "decision": "decision values", "label": "labels"}
    return Plain(", ".join(f"{words[kind]} of {name}" for name, kind in kinds.items()))
