"""The ten diversity measures of Kuncheva and Whitaker: four of pairs, six of all models at once.

All are functions of a matrix that says which model is right on which row. Two columns that
are the same have Q = correlation = 1; where else they are not defined, because a model is
right (or wrong) on every row, they are 0: a constant is independent of everything. One model, or
models that are right everywhere, have no diversity: entropy, variance and both failure measures
are 0 and the agreement is 1.
"""

from dataclasses import dataclass

import numpy as np

from foldwise.arrays import BoolArray, FloatArray


@dataclass(frozen=True)
class JointShares:
    """How often each pair of models is right and wrong together."""

    # Shares of the rows, (n_models, n_models) each; entry (i, k) has i as the first.
    both: FloatArray
    first_only: FloatArray
    second_only: FloatArray
    neither: FloatArray


def joint_shares(correct: BoolArray, share: FloatArray) -> JointShares:
    """Count each pair's agreements. Shapes: ``correct`` (n_rows, n_models)."""
    right = correct.astype(np.float64)
    wrong = 1.0 - right
    # Each is a sum of what is not negative, so that a share of nothing is exactly zero.
    weighted_right, weighted_wrong = right * share[:, None], wrong * share[:, None]
    both, first_only = right.T @ weighted_right, right.T @ weighted_wrong
    return JointShares(both, first_only, first_only.T.copy(), wrong.T @ weighted_wrong)


def q_statistic(shares: JointShares) -> FloatArray:
    """Return Yule's Q of each pair: 0 for independent, 1 for the same errors.

    Shapes: returns (n_models, n_models).
    """
    same, apart = shares.both * shares.neither, shares.first_only * shares.second_only
    return _or_defined(same - apart, same + apart, shares)


def correlation(shares: JointShares) -> FloatArray:
    """Return the correlation of being right of each pair. Shapes: returns (n_models, n_models)."""
    first_right = shares.both + shares.first_only
    first_wrong = shares.second_only + shares.neither
    spread = np.sqrt(first_right * first_wrong)
    covariance = shares.both * shares.neither - shares.first_only * shares.second_only
    return _or_defined(covariance, spread * spread.T, shares)


def disagreement(shares: JointShares) -> FloatArray:
    """Return the share of rows on which exactly one of each pair is right."""
    return shares.first_only + shares.second_only


def double_fault(shares: JointShares) -> FloatArray:
    """Return the share of rows on which both of each pair are wrong."""
    return shares.neither


def mean_of_pairs(matrix: FloatArray) -> float:
    """Return the mean over distinct pairs; with one model, its value against itself."""
    n = len(matrix)
    return float(matrix[np.triu_indices(n, 1)].mean()) if n > 1 else float(matrix[0, 0])


def _or_defined(above: FloatArray, below: FloatArray, shares: JointShares) -> FloatArray:
    identical = (shares.first_only == 0) & (shares.second_only == 0)
    ratio = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    return np.where(identical, 1.0, np.clip(ratio, -1.0, 1.0))


def entropy(correct: BoolArray, share: FloatArray) -> float:
    """Return how evenly votes split: 0 if all models agree, 1 if as many are right as wrong.

    Shapes: ``correct`` (n_rows, n_models).
    """
    n_models = correct.shape[1]
    right = correct.sum(axis=1)
    most = n_models - (n_models + 1) // 2
    return float(share @ np.minimum(right, n_models - right) / most) if most else 0.0


def kohavi_wolpert_variance(correct: BoolArray, share: FloatArray) -> float:
    """Return the variance of being right between the models: half the mean disagreement, shrunk."""
    n_models = correct.shape[1]
    right = correct.sum(axis=1)
    return float(share @ (right * (n_models - right)) / n_models**2)


def interrater_agreement(correct: BoolArray, share: FloatArray) -> float:
    """Return Fleiss's kappa of being right: 1 for the same errors, 0 for errors by chance."""
    n_models = correct.shape[1]
    accuracy = float(share @ correct.mean(axis=1))
    chance = accuracy * (1.0 - accuracy)
    variance = kohavi_wolpert_variance(correct, share)
    if n_models == 1 or variance == 0.0 or chance <= 0.0:
        return 1.0
    return 1.0 - n_models / (n_models - 1) * variance / chance


def difficulty(correct: BoolArray, share: FloatArray) -> float:
    """Return the variance over rows of the share of models that are right: low is diverse."""
    right = correct.mean(axis=1)
    return float(share @ (right - share @ right) ** 2)


def generalised_diversity(correct: BoolArray, share: FloatArray) -> float:
    """Return 1 if a failing model is never joined by another drawn at random, 0 if always."""
    n_models = correct.shape[1]
    failures = n_models - correct.sum(axis=1)
    one = float(share @ failures) / n_models
    if one == 0.0 or n_models == 1:
        return 0.0
    two = float(share @ (failures * (failures - 1))) / (n_models * (n_models - 1))
    return 1.0 - two / one


def coincident_failure_diversity(correct: BoolArray, share: FloatArray) -> float:
    """Return 1 if failures are of one model at a time, 0 if of all models together or never."""
    n_models = correct.shape[1]
    failures = n_models - correct.sum(axis=1)
    failing = failures > 0
    some = float(share[failing].sum())
    if some == 0.0 or n_models == 1:
        return 0.0
    apart = (n_models - failures[failing]) / (n_models - 1)
    return float(share[failing] @ apart / some)
