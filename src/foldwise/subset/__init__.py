"""Best subsets, averaging cross-validation and Bayesian model averaging."""
