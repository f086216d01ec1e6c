"""The additive model F⁰ + ρ Σ α h that gradient boosting builds."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.tree import BaseDecisionTree

from foldwise.arrays import FloatArray, IntArray
from foldwise.boost.learner import Table, ask
from foldwise.losses.loss import Loss


@dataclass(frozen=True)
class Stage:
    """One round: the learners that were added, one an output, and how much of them."""

    # one for each raw prediction of a row. The leaves of a tree hold their own steps.
    learners: tuple[Any, ...]
    columns: IntArray | None  # the columns they read; None for all
    step: float  # α
    member: int  # which learner of the set was the best

    def direction(self, table: Table) -> FloatArray:
        """Return h, shape (n_samples,) or (n_samples, n_outputs)."""
        part = table.columns(self.columns)
        columns = [ask(learner, part).astype(np.float64, copy=False) for learner in self.learners]
        return columns[0] if len(columns) == 1 else np.column_stack(columns)


@dataclass(frozen=True)
class Additive:
    """A boosted model and what was measured while it was built."""

    loss: Loss  # what was lowered
    constant: FloatArray  # F⁰
    stages: list[Stage]  # the rounds
    learning_rate: float  # ρ
    train_loss: FloatArray  # mean loss of the training rows after each round
    validation_loss: FloatArray | None  # mean loss of the rows set apart
    best_round: int  # rounds at its lowest point

    def first(self, rounds: int) -> Self:
        """Return the model of the first rounds; the validation curve stays whole."""
        return replace(self, stages=self.stages[:rounds], train_loss=self.train_loss[:rounds])

    def start(self, n_samples: int) -> FloatArray:
        """Return F⁰ for some rows."""
        return np.tile(self.constant, (n_samples,) + (1,) * self.constant.ndim).astype(float)

    def raw(self, table: Table) -> FloatArray:
        """Return F."""
        raw = self.start(len(table))
        for stage in self.stages:
            raw += (self.learning_rate * stage.step) * stage.direction(table)
        return raw

    def staged_raw(self, table: Table) -> Iterator[FloatArray]:
        """Yield F after each round; the same array, changed in place."""
        raw = self.start(len(table))
        for stage in self.stages:
            raw += (self.learning_rate * stage.step) * stage.direction(table)
            yield raw

    def importances(self, n_features: int) -> FloatArray:
        """Return how much each feature lowered the trees' squared error, summing to one."""
        total = np.zeros(n_features)
        for stage in self.stages:
            columns = np.arange(n_features) if stage.columns is None else stage.columns
            for tree in stage.learners:
                total[columns] += tree.tree_.compute_feature_importances(normalize=False)
        return total / (total.sum() or 1.0)

    @property
    def only_trees(self) -> bool:
        """Whether every learner is a scikit-learn tree."""
        return all(
            isinstance(learner, BaseDecisionTree)
            for stage in self.stages
            for learner in stage.learners
        )
