"""Bagging: bootstrap of rows, parametric bootstrap, random subspaces, forests."""

from foldwise.resample.bagging import BaggingClassifier, BaggingRegressor
from foldwise.resample.variance import infinitesimal_jackknife, variance_of_mean

__all__ = ["BaggingClassifier", "BaggingRegressor", "infinitesimal_jackknife", "variance_of_mean"]
