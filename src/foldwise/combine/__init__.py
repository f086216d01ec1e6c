"""From predictions to one prediction: pure functions on arrays."""

from foldwise.combine.reliability import (
    LossParts,
    ReliabilityCurve,
    decompose_loss,
    expected_calibration_error,
    reliability_curve,
)
from foldwise.combine.ridge import ridge_coefficients
from foldwise.combine.threshold import best_threshold
from foldwise.combine.weights import best_weights, mean_weights, nnls_weights

__all__ = [
    "LossParts",
    "ReliabilityCurve",
    "best_threshold",
    "best_weights",
    "decompose_loss",
    "expected_calibration_error",
    "mean_weights",
    "nnls_weights",
    "reliability_curve",
    "ridge_coefficients",
]
