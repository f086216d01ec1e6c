"""Best subsets, averaging cross-validation and Bayesian model averaging."""

from foldwise.subset.averaged_cv import AveragedCVClassifier, AveragedCVRegressor
from foldwise.subset.best_subset import BestSubsetRegressor
from foldwise.subset.bma_classifier import BayesianModelAveragingClassifier
from foldwise.subset.bma_regressor import BayesianModelAveragingRegressor

__all__ = [
    "AveragedCVClassifier",
    "AveragedCVRegressor",
    "BayesianModelAveragingClassifier",
    "BayesianModelAveragingRegressor",
    "BestSubsetRegressor",
]
