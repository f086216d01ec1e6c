"""Calibration: from a model's logits to probabilities that mean what they say."""

from foldwise.combine.calibration.choose import (
    Calibration,
    choose_calibration,
    cross_calibrated,
    default_methods,
)
from foldwise.combine.calibration.isotonic import Isotonic, VennAbers, fit_isotonic, fit_venn_abers
from foldwise.combine.calibration.logistic import (
    Beta,
    Platt,
    Quadratic,
    fit_beta,
    fit_platt,
    fit_quadratic,
)
from foldwise.combine.calibration.logits import probabilities_of
from foldwise.combine.calibration.named import OneAgainstRest, fit_calibrator
from foldwise.combine.calibration.network import Network, fit_network
from foldwise.combine.calibration.scaling import (
    AffineScaling,
    Temperature,
    fit_matrix_scaling,
    fit_temperature,
    fit_vector_scaling,
)

__all__ = [
    "AffineScaling",
    "Beta",
    "Calibration",
    "Isotonic",
    "Network",
    "OneAgainstRest",
    "Platt",
    "Quadratic",
    "Temperature",
    "VennAbers",
    "choose_calibration",
    "cross_calibrated",
    "default_methods",
    "fit_beta",
    "fit_calibrator",
    "fit_isotonic",
    "fit_matrix_scaling",
    "fit_network",
    "fit_platt",
    "fit_quadratic",
    "fit_temperature",
    "fit_vector_scaling",
    "fit_venn_abers",
    "probabilities_of",
]
