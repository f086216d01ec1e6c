"""Stacking: the estimators, layers, tuning, the honest score, the leaderboard."""

from foldwise.stack.calibrated import CalibratedClassifier
from foldwise.stack.classifier import StackingClassifier
from foldwise.stack.regressor import StackingRegressor
from foldwise.stack.selection import EnsembleSelectionClassifier, EnsembleSelectionRegressor

__all__ = [
    "CalibratedClassifier",
    "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor",
    "StackingClassifier",
    "StackingRegressor",
]
