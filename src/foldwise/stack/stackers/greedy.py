"""Greedy selection as a stacker: one path serves every number of steps and every shrinkage."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from foldwise.arrays import Array, FloatArray
from foldwise.combine.greedy import BaggedSelection, Selection, bagged_selection, running_sums
from foldwise.combine.greedy import select as selected
from foldwise.stack.stackers.means import WeightedMean, Weights


class GreedyStacker(WeightedMean):
    """The mean of learners picked one after the other, each the one that helps most.

    ``n_bags``: Number of random parts of the learners to pick from; 0 picks from all.

    ``weights_``: They sum to one. Shape (n_learners,) or (n_targets, n_learners).
    """

    def __init__(
        self,
        metric: Any = None,
        labels: Any = None,
        n_steps: int = 50,
        replace: bool = True,
        patience: int | None = None,
        n_bags: int = 0,
        fraction: float = 0.5,
        shrinkage: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.metric = metric
        self.labels = labels
        self.n_steps = n_steps
        self.replace = replace
        self.patience = patience
        self.n_bags = n_bags
        self.fraction = fraction
        self.shrinkage = shrinkage
        self.random_state = random_state

    def fit(self, X: FloatArray, y: Array, sample_weight: Weights = None) -> Self:
        """Pick learners."""
        return self._weigh(self._paths(X, y, sample_weight, self.n_steps))

    def fit_points(
        self, X: FloatArray, y: Array, sample_weight: Weights, points: Sequence[Any]
    ) -> list[Any]:
        """Return the points fitted; those that differ in steps and shrinkage share one path."""
        paths: dict[Any, list[Selection | BaggedSelection]] = {}
        for point in points:
            if point._kin not in paths:
                most = max(p.n_steps for p in points if p._kin == point._kin)
                paths[point._kin] = point._paths(X, y, sample_weight, most)
        return [point._weigh(paths[point._kin]) for point in points]

    @property
    def _kin(self) -> tuple[Any, ...]:
        return self.replace, self.patience, self.n_bags, self.fraction, repr(self.random_state)

    def _paths(
        self, members: FloatArray, y: Array, sample_weight: Weights, n_steps: int
    ) -> list[Selection | BaggedSelection]:
        loss = self._loss(y, sample_weight)
        how: dict[str, Any] = {
            "n_steps": n_steps,
            "replace": self.replace,
            "patience": self.patience,
        }
        parts = [(members, y)]
        if self.labels is None:
            targets = y.reshape(len(y), -1)
            parts = [(members[:, :, t], targets[:, t]) for t in range(targets.shape[1])]
        paths: list[Selection | BaggedSelection] = []
        for predictions, target in parts:
            sums = running_sums(predictions, target, sample_weight, loss)
            if self.n_bags:
                how |= {"n_bags": self.n_bags, "fraction": self.fraction}
                paths.append(bagged_selection(sums, **how, random_state=self.random_state))
            else:
                paths.append(selected(sums, **how))
        return paths

    def _weigh(self, paths: Sequence[Selection | BaggedSelection]) -> Self:
        each = [path.weights(self.n_steps, self.shrinkage) for path in paths]
        self.weights_ = each[0] if len(each) == 1 else np.array(each)
        return self
