"""Lasso, ridge, elastic-net and stagewise paths over a dictionary: functions and estimators."""

from foldwise.paths.adaptive import adaptive_factors, cross_validated_adaptive_path
from foldwise.paths.cross_validation import CVPath, cross_validated_path
from foldwise.paths.forward_stagewise import (
    ForwardStagewiseClassifier,
    ForwardStagewiseRegressor,
)
from foldwise.paths.gram import Gram, fold_grams
from foldwise.paths.lasso import LassoPathClassifier, LassoPathRegressor
from foldwise.paths.path import Path
from foldwise.paths.penalised import (
    elastic_net_path,
    lasso_path,
    penalised_path,
    ridge_path,
)
from foldwise.paths.relaxed import RelaxedCVPath, cross_validated_relaxed_path, relaxed_path
from foldwise.paths.stagewise import (
    CVStagewisePath,
    StagewisePath,
    arc_length,
    cross_validated_stagewise_path,
    monotone_lasso_path,
    stagewise_path,
)

__all__ = [
    "CVPath",
    "CVStagewisePath",
    "ForwardStagewiseClassifier",
    "ForwardStagewiseRegressor",
    "Gram",
    "LassoPathClassifier",
    "LassoPathRegressor",
    "Path",
    "RelaxedCVPath",
    "StagewisePath",
    "adaptive_factors",
    "arc_length",
    "cross_validated_adaptive_path",
    "cross_validated_path",
    "cross_validated_relaxed_path",
    "cross_validated_stagewise_path",
    "elastic_net_path",
    "fold_grams",
    "lasso_path",
    "monotone_lasso_path",
    "penalised_path",
    "relaxed_path",
    "ridge_path",
    "stagewise_path",
]
