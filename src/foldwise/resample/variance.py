"""How much a bagged prediction varies, and when more learners no longer help."""

from dataclasses import dataclass

import numpy as np

from foldwise.arrays import FloatArray, IntArray

FEWEST = 3  # learners, or points, that a variance is told from


def variance_of_mean(sigma2: float, rho: float, n_learners: FloatArray) -> FloatArray:
    """Return σ²/n · (1 + (n−1) ρ), the variance of a mean of n equally correlated learners.

    Parameters
    ----------
    sigma2 : float
        Variance of one learner.
    rho : float
        Correlation of two learners.
    n_learners : ndarray
        Numbers of learners.

    Returns
    -------
    ndarray
        One variance for each number; it tends to ``rho * sigma2``.

    Examples
    --------
    >>> import numpy as np
    >>> variance_of_mean(1.0, 0.2, np.array([1.0, 4.0]))
    array([1. , 0.4])
    """
    n = np.asarray(n_learners, dtype=float)
    return sigma2 / n * (1 + (n - 1) * rho)


def infinitesimal_jackknife(
    counts: FloatArray, answers: FloatArray, factor: float = 1.0
) -> FloatArray:
    """Return the variance, over training sets, of the mean of infinitely many learners.

    Parameters
    ----------
    counts : ndarray of shape (n_learners, n_units)
        How often each learner had each row (or group).
    answers : ndarray of shape (n_learners, n_points)
        What each learner says about each point.
    factor : float, default=1.0
        For draws without replacement, see ``subsample_factor``.

    Returns
    -------
    ndarray of shape (n_points,)
        Σ_i Cov(N_i, t)², less its bias from the finite number of learners. It can be negative
        where that number is too small.

    Notes
    -----
    Costs n_learners · n_units · min(n_points, n_learners), and n_learners² · n_points. The
    estimate is of first order: too low for learners that hang on single rows, such as one nearest
    neighbour (by half, where it was measured). It is noisy unless there are about as many
    learners as rows.

    References
    ----------
    .. [1] Wager, Hastie, Efron (2014). Confidence intervals for random forests: the jackknife
       and the infinitesimal jackknife.

    Examples
    --------
    The learner "mean of the drawn rows" of n rows has variance s²/n:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(10.0)
    >>> counts = rng.multinomial(10, [0.1] * 10, size=2_000).astype(float)
    >>> estimate = infinitesimal_jackknife(counts, counts @ y[:, None] / 10)
    >>> bool(np.isclose(estimate[0], y.var() / 10, rtol=0.2))
    True
    """
    n_learners = len(counts)
    centred_counts, centred = counts - counts.mean(axis=0), answers - answers.mean(axis=0)
    if centred.shape[1] <= n_learners:
        raw = np.sum((centred_counts.T @ centred) ** 2, axis=0) / n_learners**2
    else:
        gram = centred_counts @ centred_counts.T
        raw = np.einsum("bp,bp->p", centred, gram @ centred) / n_learners**2
    bias = centred_counts.var(axis=0).sum() * centred.var(axis=0) / max(n_learners - 1, 1)
    # A squared covariance of B pairs, less its noise, is this much too small (normal pairs).
    shrunk = (n_learners + 1) * (n_learners - 2) / n_learners**2 if n_learners > 2 else 1.0
    return factor * (raw - bias) / shrunk


def jackknife_after_bootstrap(counts: FloatArray, answers: FloatArray) -> FloatArray:
    """Return the same variance from the learners that lack each unit, less its finite-bag bias.

    Where the infinitesimal jackknife is too low it is too high: their mean is close.
    """
    n_learners, n_units = counts.shape
    without = (counts == 0).astype(float)
    without = without[:, without.any(axis=0)]
    lacking = without.sum(axis=0)
    moved = (without / lacking).T @ answers - answers.mean(axis=0)
    bias = np.sum(1 / lacking - 1 / n_learners) * answers.var(axis=0, ddof=1)
    return (n_units - 1) / n_units * (np.sum(moved**2, axis=0) - bias)


def between_to_within(
    counts: FloatArray, answers: FloatArray, units: IntArray, factor: float
) -> tuple[float, float]:
    """Return ρ/(1−ρ) over some training rows, and its standard error.

    At one point the variance between training sets can only be told with many more learners than
    rows; its ratio to the variance within the fit is told by many points together. Each row is
    judged by the learners that lack it (by all, where none does), to which it is new.

    Shapes: ``answers`` (n_learners, n_points, n_outputs), ``units`` (n_points,): the row or group
    of each point. NaN if there are too few learners.
    """
    between, within = [], []
    leaves_out = bool((counts == 0).any())
    for point, unit in enumerate(units):
        asked = np.flatnonzero(counts[:, unit] == 0) if leaves_out else np.arange(len(counts))
        if len(asked) < FEWEST:
            continue
        held, said = counts[asked], answers[asked, point]
        estimate = infinitesimal_jackknife(held, said, factor)
        if leaves_out:
            estimate = (estimate + jackknife_after_bootstrap(held, said)) / 2
        between.append(estimate.sum())
        within.append(said.var(axis=0, ddof=1).sum())
    if len(within) < FEWEST:
        return np.nan, np.nan
    mean = np.mean(within)
    ratio = float(np.mean(between) / mean) if mean > 0 else 0.0
    error = np.std(np.array(between) - ratio * np.array(within), ddof=1) / np.sqrt(len(within))
    return max(ratio, 0.0), float(error / mean) if mean > 0 else 0.0


def subsample_factor(n_units: int, size: int) -> float:
    """Return the correction for draws of ``size`` out of ``n_units`` without replacement."""
    # Wager, Athey (2018). Estimation and inference of heterogeneous treatment effects.
    return (n_units - 1) / n_units * (n_units / (n_units - size)) ** 2


@dataclass(frozen=True)
class BaggingVariance:
    """The two parts of the variance of one learner's prediction at some points."""

    # ρσ²: of the mean of infinitely many learners, over training sets. Unbiased, so that single
    # values can be negative.
    between: FloatArray
    within: FloatArray  # (1−ρ)σ²: of the learners around their mean, given the training set
    n_learners: int  # how many there are

    @property
    def sigma2(self) -> float:
        """σ², mean over the points."""
        return max(float(self.between.mean()), 0.0) + float(self.within.mean())

    @property
    def rho(self) -> float:
        """ρ, the correlation of two learners over training sets."""
        return max(float(self.between.mean()), 0.0) / self.sigma2 if self.sigma2 > 0 else 0.0

    @property
    def of_mean(self) -> FloatArray:
        """The variance of the bagged prediction at each point, not below 0."""
        return np.maximum(self.between, 0.0) + self.within / self.n_learners

    def curve(self, n_learners: IntArray | None = None) -> "VarianceCurve":
        """Return the variance of the mean against the number of learners."""
        if n_learners is None:
            n_learners = np.unique(np.geomspace(1, 10 * self.n_learners, 60).astype(int))
        variance = variance_of_mean(self.sigma2, self.rho, n_learners.astype(float))
        return VarianceCurve(n_learners, variance, self.sigma2, self.rho, self.n_learners)


@dataclass(frozen=True)
class VarianceCurve:
    """The variance ρσ² + (1−ρ)σ²/n of a bagged prediction against n."""

    n_learners: IntArray  # n
    variance: FloatArray  # mean over the points
    sigma2: float  # σ², of one learner
    rho: float  # ρ
    n_fitted: int  # how many learners there are

    @property
    def floor(self) -> float:
        """ρσ², which no number of learners goes below."""
        return self.rho * self.sigma2

    def enough(self, excess: float = 0.05) -> int:
        """Return how many learners bring the variance within ``excess`` of its floor.

        Examples
        --------
        >>> import numpy as np
        >>> VarianceCurve(np.array([1]), np.array([1.0]), 1.0, 0.5, 1).enough(0.1)
        10
        """
        if self.floor <= 0:
            return 10**9
        return max(1, int(np.ceil((self.sigma2 - self.floor) / (excess * self.floor) - 1e-9)))
