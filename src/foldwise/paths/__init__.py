"""Lasso, ridge, elastic-net and stagewise paths over a dictionary: pure functions."""

from foldwise.paths.cross_validation import CVPath, cross_validated_path
from foldwise.paths.gram import Gram, fold_grams
from foldwise.paths.path import Path, penalised_path

__all__ = ["CVPath", "Gram", "Path", "cross_validated_path", "fold_grams", "penalised_path"]
