"""Posteriors: of models, by their marginal likelihoods and priors, and of new observations."""

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln, stdtr, stdtrit

from foldwise.arrays import BoolArray, FloatArray, IntArray
from foldwise.subset.criteria import Score, TargetSummary, criterion
from foldwise.subset.moments import PERFECT

LogPrior = Callable[[IntArray], FloatArray]


def model_prior(name: str, n_columns: int) -> LogPrior:
    """Return the log prior probability of one model, given how many columns it has.

    ``name``: "uniform" gives all models the same, so most of it to models of middling size;
    "beta_binomial" gives all sizes the same.
    """

    def log_prior(size: IntArray) -> FloatArray:
        if name == "uniform":
            return np.full(np.shape(size), -n_columns * np.log(2.0))
        size = np.asarray(size)
        log_ways = gammaln(n_columns + 1) - gammaln(size + 1) - gammaln(n_columns - size + 1)
        return np.asarray(-log_ways - np.log(n_columns + 1))

    return log_prior


def bic_score(sample: TargetSummary, log_prior: LogPrior, n_always: int) -> Score:
    """Return minus twice the log posterior, the marginal likelihood taken from the BIC."""
    bic = criterion("bic", sample)

    def score(rss: FloatArray, size: IntArray) -> FloatArray:
        return bic(rss, size) - 2 * log_prior(np.asarray(size) - n_always)

    return score


def g_score(
    g: float | None, base_rss: float, spare: float, log_prior: LogPrior, n_always: int
) -> Score:
    """Return minus twice the log posterior under Zellner's g-prior."""

    def score(rss: FloatArray, size: IntArray) -> FloatArray:
        k = np.asarray(size) - n_always
        left = np.maximum(rss / base_rss, PERFECT)
        used = g if g is not None else local_g(left, k, spare)
        twice = (spare - k) * np.log1p(used) - spare * np.log1p(used * left)
        twice = np.where(k > 0, twice, 0.0)
        return np.where(k < spare, -twice - 2 * log_prior(k), np.inf)

    return score


def local_g(left: FloatArray, k: IntArray, spare: float) -> FloatArray:
    """Return the g that makes the data most likely: F - 1, or 0 where F is below 1."""
    rest = np.maximum(spare - k, 1e-12)
    return np.maximum((1 - left) * rest / (np.maximum(k, 1) * left) - 1, 0.0)


def occams_window(
    kept: BoolArray, scores: FloatArray, ratio: float | None, *, strict: bool
) -> IntArray:
    """Return the models in Occam's window, best first.

    Shapes: ``kept`` (n_models, n_columns).

    References
    ----------
    .. [1] Madigan and Raftery (1994). Model selection and accounting for model uncertainty in
       graphical models using Occam's window.
    """
    order = np.argsort(scores, kind="stable")
    if ratio is not None:
        order = order[scores[order] <= scores[order[0]] + 2 * np.log(ratio) + 1e-9]
    if not strict:
        return order
    inside = kept[order]
    stays = [
        not (~inside[:i] | inside[i]).all(axis=1)[scores[order[:i]] < scores[order[i]]].any()
        for i in range(len(order))
    ]
    return order[np.array(stays)]


def mixture_quantile(
    level: float, weights: FloatArray, means: FloatArray, scales: FloatArray, df: FloatArray
) -> FloatArray:
    """Return a quantile of one mixture a row. Shapes: ``means, scales`` (n_rows, n_parts)."""
    ends = means + scales * stdtrit(df, level)
    low, high = ends.min(axis=1), ends.max(axis=1)
    at = ends @ weights
    for _ in range(60):
        z = (at[:, None] - means) / scales
        excess = stdtr(df, z) @ weights - level
        low, high = np.where(excess < 0, at, low), np.where(excess > 0, at, high)
        new = at - excess / np.maximum((density(z, df) / scales) @ weights, 1e-300)
        new = np.where((low <= new) & (new <= high), new, (low + high) / 2)
        moved = np.abs(new - at)
        at = new
        if (moved <= 1e-12 * scales.max(axis=1)).all():
            break
    return at


def density(z: FloatArray, df: FloatArray) -> FloatArray:
    """Return the density of Student's t distribution."""
    constant = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(df * np.pi)
    return np.asarray(np.exp(constant - 0.5 * (df + 1) * np.log1p(z**2 / df)))
