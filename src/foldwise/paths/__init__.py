"""Lasso, ridge, elastic-net and stagewise paths over a dictionary: pure functions."""

from foldwise.paths.cross_validation import CVPath, cross_validated_path
from foldwise.paths.gram import Gram, fold_grams
from foldwise.paths.monotone import monotone_lasso_path
from foldwise.paths.path import Path
from foldwise.paths.penalised import (
    elastic_net_path,
    lasso_path,
    penalised_path,
    ridge_path,
)
from foldwise.paths.stagewise import StagewisePath, arc_length, stagewise_path

__all__ = [
    "CVPath",
    "Gram",
    "Path",
    "StagewisePath",
    "arc_length",
    "cross_validated_path",
    "elastic_net_path",
    "fold_grams",
    "lasso_path",
    "monotone_lasso_path",
    "penalised_path",
    "ridge_path",
    "stagewise_path",
]
