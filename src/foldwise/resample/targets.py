"""New targets for the rows that are there: the parametric bootstrap and its kin."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_predict

from foldwise.arrays import FloatArray, IntArray
from foldwise.boost.learner import Table, ask, fit_learner, seeded


@dataclass(frozen=True)
class NewNumbers:
    """Draws y* = centre + ε."""

    centre: FloatArray  # f̂(x), or y for plain noise injection
    scale: float  # standard deviation of Gaussian ε
    pool: FloatArray | None  # residuals to draw ε from instead

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Return new targets."""
        if self.pool is not None:
            return self.centre + rng.choice(self.pool, size=len(self.centre))
        return self.centre + rng.normal(scale=self.scale, size=len(self.centre))


@dataclass(frozen=True)
class NewClasses:
    """Draws y* ~ p̂(x)."""

    cumulated: FloatArray  # (n_samples, n_classes): cumulated probabilities of the classes
    classes: IntArray  # their codes

    def draw(self, rng: np.random.Generator) -> IntArray:
        """Return new class codes."""
        level = rng.random(len(self.cumulated))[:, None] * self.cumulated[:, -1:]
        return self.classes[(level > self.cumulated).sum(axis=1)]


def new_numbers(
    scheme: str,
    generator: Any,
    table: Table,
    y: FloatArray,
    weight: FloatArray | None,
    noise: float | None,
    seed: int,
) -> NewNumbers:
    """Fit the generating model and return the sampler of new targets.

    ``noise``: Standard deviation of ε. None: the root mean square of out-of-fold residuals, because
    the residuals of the training rows vanish for a learner that fits them.
    """
    centre = y
    if scheme != "noise":
        centre = ask(fit_learner(seeded(generator, seed), table, y, weight), table)
    if noise is not None:
        return NewNumbers(centre, float(noise), None)
    residual = _held_out_residuals(seeded(generator, seed), table, y, seed)
    pool = residual - residual.mean() if scheme == "residual" else None
    return NewNumbers(centre, float(np.sqrt(np.mean(residual**2))), pool)


def _held_out_residuals(generator: Any, table: Table, y: FloatArray, seed: int) -> FloatArray:
    if len(y) < 2:
        return np.zeros(len(y))
    folds = KFold(min(5, len(y)), shuffle=True, random_state=seed)
    return y - np.asarray(cross_val_predict(clone(generator), table.X, y, cv=folds), dtype=float)


def new_classes(
    generator: Any, table: Table, codes: IntArray, weight: FloatArray | None, seed: int
) -> NewClasses:
    """Fit the generating model and return the sampler of new classes, y* ~ p̂(x)."""
    model = fit_learner(seeded(generator, seed), table, codes, weight)
    cumulated = np.cumsum(ask(model, table, "predict_proba"), axis=1)
    return NewClasses(cumulated, np.asarray(model.classes_, dtype=np.intp))
