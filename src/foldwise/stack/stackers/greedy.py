"""Greedy selection as a stacker: one path serves every number of steps and every shrinkage."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from foldwise.arrays import Array, FloatArray
from foldwise.combine.greedy import BaggedSelection, Selection, bagged_selection, running_sums
from foldwise.combine.greedy import select as selected
from foldwise.stack.stackers.means import Weights, WeightsStacker, by_target, one_or_all


@dataclass(eq=False, repr=False)
class GreedyStacker(WeightsStacker):
    """The mean of learners picked one after the other, each the one that helps most.

    ``n_bags``: Number of random parts of the learners to pick from; 0 picks from all.

    ``weights_``: They sum to one. Shape (n_learners,) or (n_targets, n_learners).
    """

    metric: Any = None
    labels: Any = None
    n_steps: int = 50
    replace: bool = True
    patience: int | None = None
    n_bags: int = 0
    fraction: float = 0.5
    shrinkage: float = 0.0
    random_state: Any = None

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
        pick: Any = bagged_selection if self.n_bags else selected
        names = ["replace", "patience"]
        names += ["n_bags", "fraction", "random_state"] if self.n_bags else []
        how = {"n_steps": n_steps, **{name: getattr(self, name) for name in names}}
        parts = by_target(members, y, self.labels)
        return [pick(running_sums(*part, sample_weight, loss), **how) for part in parts]

    def _weigh(self, paths: Sequence[Selection | BaggedSelection]) -> Self:
        self.weights_ = one_or_all([path.weights(self.n_steps, self.shrinkage) for path in paths])
        return self
