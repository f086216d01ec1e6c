"""Importance sampled learning ensembles: many small trees grown, the few that are needed kept."""

from foldwise.isle.isle import ISLEClassifier, ISLERegressor

__all__ = ["ISLEClassifier", "ISLERegressor"]
