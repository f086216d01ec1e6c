"""How the rows of one learner are drawn: bootstrap, subsample, Bayesian bootstrap, by group."""

from dataclasses import dataclass

import numpy as np

from foldwise.arrays import FloatArray, IntArray

ROW_SCHEMES = ("bootstrap", "subsample", "bayesian")
TARGET_SCHEMES = ("parametric", "residual", "noise")


def draw_counts(
    scheme: str,
    n_units: int,
    size: int,
    rng: np.random.Generator,
    probability: FloatArray | None = None,
) -> FloatArray:
    """Return how often each unit was drawn.

    ``scheme``: "bootstrap" draws with replacement, "subsample" without, "bayesian" gives
    exponential weights with mean one; any other scheme takes every unit once.

    Examples
    --------
    >>> import numpy as np
    >>> draw_counts("bootstrap", 5, 5, np.random.default_rng(0)).sum()
    np.float64(5.0)
    """
    if scheme == "bootstrap":
        if probability is None:
            drawn = rng.integers(n_units, size=size)
        else:
            drawn = rng.choice(n_units, size=size, p=probability)
        return np.bincount(drawn, minlength=n_units).astype(float)
    if scheme == "subsample":
        counts = np.zeros(n_units)
        counts[rng.permutation(n_units)[:size]] = 1
        return counts
    if scheme == "bayesian":
        weights = rng.standard_exponential(n_units)
        return weights * (n_units / weights.sum())
    return np.ones(n_units)


@dataclass(frozen=True)
class Draws:
    """The draws of all learners, each from its own seed, so that they need not be kept."""

    scheme: str  # one of the row or target schemes
    n_units: int  # rows, or groups
    size: int  # units drawn for each learner
    group: IntArray | None  # the group of each row; its rows are drawn together
    probability: FloatArray | None  # of each unit in one draw of the bootstrap

    def units(self, seed: int) -> FloatArray:
        """Return how often the learner of this seed has each unit."""
        rng = np.random.default_rng(seed)
        return draw_counts(self.scheme, self.n_units, self.size, rng, self.probability)

    def rows(self, seed: int) -> FloatArray:
        """Return how often the learner of this seed has each row."""
        counts = self.units(seed)
        return counts if self.group is None else counts[self.group]


def learner_rng(seed: int) -> np.random.Generator:
    """Return the source of all a learner's other draws (columns, targets, its own seed)."""
    return np.random.default_rng([seed, 1])


def draw_columns(n_features: int, n_columns: int, rng: np.random.Generator) -> IntArray | None:
    """Return the sorted columns of a random subspace, drawn without replacement; None for all.

    Examples
    --------
    >>> import numpy as np
    >>> len(draw_columns(10, 3, np.random.default_rng(0)))
    3
    """
    if n_columns >= n_features:
        return None
    return np.sort(rng.permutation(n_features)[:n_columns])
