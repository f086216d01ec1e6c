"""Who may be best: the models that cannot be told from the best one, chance taken into account."""

import numpy as np
from scipy.stats import norm

from foldwise.arrays import BoolArray, FloatArray, IntArray

N_DRAWS = 5_000
TINY = 1e-12


def covariance_of(contributions: FloatArray, fold: IntArray | None = None) -> FloatArray:
    """Return the covariance of scores from what each row or cluster contributes to them.

    ``contributions`` (n_units, n_models); ``fold`` of the units: each fold has a mean of its own.
    """
    n = len(contributions)
    own = contributions
    if fold is not None:
        _, place, sizes = np.unique(fold, return_inverse=True, return_counts=True)
        sums = np.zeros((len(sizes), own.shape[1]))
        np.add.at(sums, place, own)
        own = own - (sums / sizes[:, None])[place]
    return own.T @ own * n / max(n - 1, 1)


def may_be_best(
    scores: FloatArray,
    covariance: FloatArray,
    *,
    level: float = 0.95,
    widen: FloatArray | float = 1.0,
) -> BoolArray:
    """Return which models cannot be told from the best, all comparisons taken together.

    A model is out if some rival beats it by more than the best of all rivals would by chance
    [1]_: a Gaussian multiplier bootstrap of rows, whose draws have the covariance that the rows
    give, of the largest studentised difference. ``widen`` multiplies standard errors: one number,
    or one for each pair of models.

    References
    ----------
    .. [1] Lei (2020). Cross-validation with confidence. Journal of the American Statistical
       Association 115.

    Examples
    --------
    >>> import numpy as np
    >>> may_be_best(np.array([0.0, -0.1, -9.0]), np.eye(3))
    array([ True,  True, False])
    """
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    draws = np.random.default_rng(0).standard_normal((N_DRAWS, len(scores))) @ root.T
    errors = np.sqrt(differences(covariance))
    wider = widen * np.ones_like(errors)
    inside = np.ones(len(scores), dtype=bool)
    for m in range(len(scores)):
        rivals = np.flatnonzero(errors[m] > TINY * np.sqrt(np.trace(covariance)))
        if not len(rivals):
            continue
        lead = np.max((scores[rivals] - scores[m]) / (wider[m, rivals] * errors[m, rivals]))
        chance = np.max((draws[:, rivals] - draws[:, [m]]) / errors[m, rivals], axis=1)
        inside[m] = np.mean(chance >= lead) > 1.0 - level
    inside[int(np.argmax(scores))] = True
    return inside


def differences(covariance: FloatArray) -> FloatArray:
    """Return the variances of all differences of two scores."""
    own = np.diag(covariance)
    return np.maximum(own[:, None] + own - 2.0 * covariance, 0.0)


def p_better(gain: float, error: float) -> float:
    """Return the one-sided p-value of a gain: how likely it is where there is none.

    Examples
    --------
    >>> round(p_better(1.645, 1.0), 3), p_better(0.0, 0.0)
    (0.05, 1.0)
    """
    if error > 0:
        return float(norm.sf(gain / error))
    return 0.0 if gain > 0 else 1.0
