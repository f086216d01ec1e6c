"""The four pairwise diversity measures of Kuncheva and Whitaker, for all pairs at once.

All are functions of a matrix that says which model is right on which row. Two columns that
are the same have Q = correlation = 1; where else they are not defined, because a model is
right (or wrong) on every row, they are 0: a constant is independent of everything.
"""

from dataclasses import dataclass

import numpy as np

from foldwise.arrays import BoolArray, FloatArray


@dataclass(frozen=True)
class JointShares:
    """How often each pair of models is right and wrong together."""

    # (n_models, n_models): shares of the rows; entry (i, k) has i as the first. They add up to
    # one.
    both: FloatArray
    # (n_models, n_models): shares of the rows; entry (i, k) has i as the first. They add up to
    # one.
    first_only: FloatArray
    # (n_models, n_models): shares of the rows; entry (i, k) has i as the first. They add up to
    # one.
    second_only: FloatArray
    # (n_models, n_models): shares of the rows; entry (i, k) has i as the first. They add up to
    # one.
    neither: FloatArray


def joint_shares(correct: BoolArray, share: FloatArray) -> JointShares:
    """Count each pair's agreements.

    Shapes: ``correct`` (n_rows, n_models).

    Examples
    --------
    >>> import numpy as np
    >>> right = np.array([[True, True], [True, False], [False, False], [True, True]])
    >>> joint_shares(right, np.full(4, 0.25)).both
    array([[0.75, 0.5 ],
           [0.5 , 0.5 ]])
    """
    right = correct.astype(np.float64)
    wrong = 1.0 - right
    # Each is a sum of what is not negative, so that a share of nothing is exactly zero.
    weighted_right, weighted_wrong = right * share[:, None], wrong * share[:, None]
    first_only = right.T @ weighted_wrong
    return JointShares(
        right.T @ weighted_right, first_only, first_only.T.copy(), wrong.T @ weighted_wrong
    )


def q_statistics(shares: JointShares) -> FloatArray:
    """Return Yule's Q of each pair: 0 for independent, 1 for the same errors.

    Shapes: returns (n_models, n_models).
    """
    same, apart = shares.both * shares.neither, shares.first_only * shares.second_only
    return _or_defined(same - apart, same + apart, shares)


def correlations(shares: JointShares) -> FloatArray:
    """Return the correlation of being right of each pair.

    Shapes: returns (n_models, n_models).
    """
    first_right = shares.both + shares.first_only
    first_wrong = shares.second_only + shares.neither
    spread = np.sqrt(first_right * first_wrong)
    covariance = shares.both * shares.neither - shares.first_only * shares.second_only
    return _or_defined(covariance, spread * spread.T, shares)


def disagreements(shares: JointShares) -> FloatArray:
    """Return the share of rows on which exactly one of each pair is right."""
    return shares.first_only + shares.second_only


def double_faults(shares: JointShares) -> FloatArray:
    """Return the share of rows on which both of each pair are wrong."""
    return shares.neither


def mean_of_pairs(matrix: FloatArray) -> float:
    """Return the mean over distinct pairs; with one model, its value against itself.

    Examples
    --------
    >>> import numpy as np
    >>> mean_of_pairs(np.array([[1.0, 0.2], [0.2, 1.0]]))
    0.2
    """
    n = len(matrix)
    return float(matrix[np.triu_indices(n, 1)].mean()) if n > 1 else float(matrix[0, 0])


def _or_defined(above: FloatArray, below: FloatArray, shares: JointShares) -> FloatArray:
    identical = (shares.first_only == 0) & (shares.second_only == 0)
    ratio = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    return np.where(identical, 1.0, np.clip(ratio, -1.0, 1.0))
