"""What one learner is fitted on: drawn rows and columns, or new targets for the rows there are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.learners.one_learner import LearnerInput, ask, fit_learner, seeded

ROW_SCHEMES = ("bootstrap", "subsample", "bayesian")
TARGET_SCHEMES = ("parametric", "residual", "noise")


@dataclass(frozen=True)
class Draws:
    """The draws of all learners, each from its own seed, so that they need not be kept."""

    scheme: str  # one of the row or target schemes
    n_units: int  # rows, or groups
    size: int  # units drawn for each learner
    group: IntArray | None  # the group of each row; its rows are drawn together
    probability: FloatArray | None  # of each unit in one draw of the bootstrap

    def units(self, seed: int) -> FloatArray:
        """Return how often the learner of this seed has each unit.

        "bootstrap" draws with replacement, "subsample" without, "bayesian" gives exponential
        weights with mean one; any other scheme takes every unit once.
        """
        rng, counts = np.random.default_rng(seed), np.zeros(self.n_units)
        if self.scheme == "bootstrap":
            if self.probability is None:
                drawn = rng.integers(self.n_units, size=self.size)
            else:
                drawn = rng.choice(self.n_units, size=self.size, p=self.probability)
            return np.bincount(drawn, minlength=self.n_units).astype(float)
        if self.scheme == "subsample":
            counts[rng.permutation(self.n_units)[: self.size]] = 1
            return counts
        if self.scheme == "bayesian":
            weights = rng.standard_exponential(self.n_units)
            return weights * (self.n_units / weights.sum())
        return counts + 1

    def rows(self, seed: int) -> FloatArray:
        """Return how often the learner of this seed has each row."""
        counts = self.units(seed)
        return counts if self.group is None else counts[self.group]


# Draws new targets y*.
NewTargets = Callable[[np.random.Generator], Array]


def new_numbers(
    scheme: str,
    generator: Any,
    table: LearnerInput,
    y: FloatArray,
    weight: FloatArray | None,
    noise: float | None,
    seed: int,
) -> NewTargets:
    """Fit the generating model and return what draws y* = f̂(x) + ε, or y + ε for plain noise.

    ``noise``: Standard deviation of ε. None: the root mean square of out-of-fold residuals, because
    the residuals of the training rows vanish for a learner that fits them.
    """
    centre = y
    if scheme != "noise":
        centre = ask(fit_learner(seeded(generator, seed), table, y, weight), table)
    if noise is None:
        residual = _held_out_residuals(seeded(generator, seed), table, y, weight, seed)
        if scheme == "residual":
            pool = residual - np.average(residual, weights=weight)
            chances = None if weight is None else weight / weight.sum()
            return lambda rng: centre + rng.choice(pool, len(centre), p=chances)
        noise = float(np.sqrt(np.average(residual**2, weights=weight)))
    scale = float(noise)
    return lambda rng: centre + rng.normal(scale=scale, size=len(centre))


def _held_out_residuals(
    generator: Any, table: LearnerInput, y: FloatArray, weight: FloatArray | None, seed: int
) -> FloatArray:
    residual = np.zeros(len(y))
    if len(y) < 2:
        return residual
    for train, test in KFold(min(5, len(y)), shuffle=True, random_state=seed).split(y):
        passed = None if weight is None else weight[train]
        model = fit_learner(clone(generator), table.rows(train), y[train], passed)
        residual[test] = y[test] - ask(model, table.rows(test))
    return residual


def new_classes(
    generator: Any, table: LearnerInput, codes: IntArray, weight: FloatArray | None, seed: int
) -> NewTargets:
    """Fit the generating model and return what draws new classes, y* ~ p̂(x)."""
    model = fit_learner(seeded(generator, seed), table, codes, weight)
    cumulated = np.cumsum(ask(model, table, "predict_proba"), axis=1)
    classes = np.asarray(model.classes_, dtype=np.intp)

    def draw(rng: np.random.Generator) -> IntArray:
        level = rng.random(len(cumulated))[:, None] * cumulated[:, -1:]
        return classes[(level > cumulated).sum(axis=1)]

    return draw
