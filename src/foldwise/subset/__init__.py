"""Best subsets, averaging cross-validation and Bayesian model averaging."""

from foldwise.subset.averaged_cv import AveragedCVRegressor
from foldwise.subset.best_subset import BestSubsetRegressor

__all__ = ["AveragedCVRegressor", "BestSubsetRegressor"]
