"""Stacking: the estimators, layers, tuning, the honest score, the leaderboard."""

from foldwise.stack.classifier import StackingClassifier
from foldwise.stack.regressor import StackingRegressor
from foldwise.stack.selection import EnsembleSelectionClassifier, EnsembleSelectionRegressor

__all__ = [
    "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor",
    "StackingClassifier",
    "StackingRegressor",
]
