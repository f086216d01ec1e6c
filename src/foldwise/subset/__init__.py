"""Best subsets, averaging cross-validation and Bayesian model averaging."""

from foldwise.subset.averaged_cv import AveragedCVRegressor
from foldwise.subset.best_subset import BestSubsetRegressor
from foldwise.subset.bma_regressor import BayesianModelAveragingRegressor

__all__ = ["AveragedCVRegressor", "BayesianModelAveragingRegressor", "BestSubsetRegressor"]
