"""From predictions to one prediction: pure functions on arrays."""

from foldwise.combine.averages import (
    geometric_mean,
    logit_mean,
    majority_vote,
    median,
    plain_mean,
    soft_vote,
    trimmed_mean,
    weighted_mean,
)
from foldwise.combine.greedy import (
    BaggedSelection,
    Selection,
    bagged_selection,
    greedy_selection,
    greedy_weights,
    running_sums,
)
from foldwise.combine.linear import (
    lasso_coefficients,
    least_squares_coefficients,
    ridge_coefficients,
)
from foldwise.combine.pooling import LogitPool, logit_pool
from foldwise.combine.ranks import RankMean, rank_mean
from foldwise.combine.reliability import (
    LossParts,
    ReliabilityCurve,
    decompose_loss,
    expected_calibration_error,
    reliability_curve,
)
from foldwise.combine.simplex import log_score_weights, simplex_weights
from foldwise.combine.smaller import elimination_order
from foldwise.combine.threshold import best_threshold
from foldwise.combine.weights import (
    best_weights,
    bic_weights,
    mean_weights,
    nnls_weights,
    pseudo_bma_plus_weights,
    pseudo_bma_weights,
)

__all__ = [
    "BaggedSelection",
    "LogitPool",
    "LossParts",
    "RankMean",
    "ReliabilityCurve",
    "Selection",
    "bagged_selection",
    "best_threshold",
    "best_weights",
    "bic_weights",
    "decompose_loss",
    "elimination_order",
    "expected_calibration_error",
    "geometric_mean",
    "greedy_selection",
    "greedy_weights",
    "lasso_coefficients",
    "least_squares_coefficients",
    "log_score_weights",
    "logit_mean",
    "logit_pool",
    "majority_vote",
    "mean_weights",
    "median",
    "nnls_weights",
    "plain_mean",
    "pseudo_bma_plus_weights",
    "pseudo_bma_weights",
    "rank_mean",
    "reliability_curve",
    "ridge_coefficients",
    "running_sums",
    "simplex_weights",
    "soft_vote",
    "trimmed_mean",
    "weighted_mean",
]
