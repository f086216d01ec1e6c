"""Calibration: from a model's logits to probabilities that mean what they say."""

from foldwise.combine.calibration.beta import Beta, fit_beta
from foldwise.combine.calibration.choose import (
    Calibration,
    choose_calibration,
    cross_calibrated,
    default_methods,
)
from foldwise.combine.calibration.isotonic import Isotonic, fit_isotonic
from foldwise.combine.calibration.logits import probabilities_of
from foldwise.combine.calibration.named import OneAgainstRest, fit_calibrator
from foldwise.combine.calibration.network import Network, fit_network
from foldwise.combine.calibration.platt import Platt, fit_platt
from foldwise.combine.calibration.quadratic import Quadratic, fit_quadratic
from foldwise.combine.calibration.scaling import (
    AffineScaling,
    fit_matrix_scaling,
    fit_vector_scaling,
)
from foldwise.combine.calibration.temperature import Temperature, fit_temperature
from foldwise.combine.calibration.venn_abers import VennAbers, fit_venn_abers

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
