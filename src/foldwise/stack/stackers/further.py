"""Boosting that goes on from what a stacker says, on the learners' answers and the columns.

Weights are the same for all rows; trees find the rows for which they should not be. F⁰ is the
stacker's answer, and each round adds a small step to it.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit, softmax

from foldwise.arrays import Array, FloatArray
from foldwise.learners.one_learner import LearnerInput, WeightedRows
from foldwise.losses import Logistic, Loss, Multinomial, Squared
from foldwise.scores.metric import Response
from foldwise.stack.stackers.candidates import corrected, respond
from foldwise.stack.stackers.means import MemberStacker, Weights
from foldwise.stack.table.read import Features, all_classes, clip_amount

# Rounds by the rows of the whole table: of fewer rows, fewer; of several classes, in which each has
# a tree of its own, at most the second number. Settled on other splits of twelve of the tables that
# benchmarks/accuracy.py shows. On noise they raise the loss by .3 % (60) to 1 % (120). On the fifth
# of the rows that a single split holds out, 20 did as well as any number on fourteen (loss .991 of
# that without, 60 rounds .996, 120 1.007).
ROUNDS = ((1500, 20), (10_000, 60), (np.inf, 120))
MOST_OF_CLASSES = 60
LEAST_LEAF = 20
# Thresholds drawn at random, parts of rows and of columns: trees are not to follow single rows.
WORDS: dict[str, Any] = {
    "learning_rate": 0.05,
    "num_leaves": 31,
    "extra_trees": True,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "boost_from_average": False,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbosity": -1,
}


def rounds_of(n_rows: float, n_classes: int | None) -> int:
    """Return how many rounds boosting goes on for."""
    rounds = next(rounds for most, rounds in ROUNDS if n_rows < most)
    return rounds if (n_classes or 2) == 2 else min(rounds, MOST_OF_CLASSES)


@dataclass(eq=False, repr=False)
class FurtherStacker(MemberStacker):
    """A stacker, its calibration if it has one, and boosted trees that go on from there."""

    base: Any
    correction: Any = None
    model: Any = None

    def read(self, features: Features) -> Any:
        """Return the features whole: their numbers are read too."""
        return features

    def ignored(self, names: Sequence[str]) -> frozenset[str]:
        """Return the learners that neither the stacker nor the trees read."""
        return self.base.ignored(names) if isinstance(self.base, MemberStacker) else frozenset()

    @property
    def weights_(self) -> FloatArray:
        """The weights of the stacker that boosting goes on from."""
        return self.base.weights_

    @property
    def coef_(self) -> FloatArray:
        """The coefficients of the stacker that boosting goes on from."""
        return self.base.coef_

    def respond(self, members: Any) -> Response:
        """Return the stacker's answer and what the trees add to it."""
        return self.added(respond(self.base, members), self.steps(members), members.amount)

    def steps(self, features: Features) -> FloatArray:
        """Return what the trees add, on the scale of values or log-odds."""
        return self.model.raw(self.table(features))

    def added(self, response: Response, steps: FloatArray, amount: float) -> Response:
        """Return a stacker's answer, corrected, with steps added to it."""
        response = corrected(response, self.correction)
        scores = _scaled(response, amount) + steps.reshape(len(steps), -1)
        if response.kind == "value":
            return Response("value", scores)
        if scores.shape[1] == 1:
            return Response("probability", all_classes(expit(scores)))
        return Response("probability", softmax(scores, axis=1))

    def table(self, features: Features) -> LearnerInput:
        """Return what the trees read: the answers that count, then the columns."""
        ignored = self.ignored(features.names)
        kept = [m for m, name in enumerate(features.names) if name not in ignored]
        answers = features.members if features.n_classes is None else features.logits
        flat = answers[:, kept].reshape(len(answers), -1)
        return LearnerInput(np.hstack([flat, features.numbers]), trusted=False)


def boosted_further(
    base: FurtherStacker,
    features: Features,
    y: Array,
    weight: Weights,
    rounds: int,
    seed: int,
    until: float = float("inf"),
) -> FurtherStacker:
    """Return a fitted stacker with boosted trees, of fewer rounds if time is up before."""
    # LightGBM is not imported before it is needed.
    from foldwise.boost.newton_trees import train

    n_classes, target = features.n_classes, y.astype(np.float64)
    start: Any = _scaled(respond(base.base, features, base.correction), features.amount)
    if n_classes is None:
        # Differences, not targets: LightGBM keeps seven digits of these.
        target, start = target - start[:, 0], None
    elif n_classes == 2:
        start = start[:, 0]
    words = {**WORDS, "seed": seed, "min_data_in_leaf": min(LEAST_LEAF, max(1, len(y) // 10))}
    each = np.ones(len(y)) if weight is None else weight
    rows = WeightedRows(base.table(features), target, each, weight is not None)
    left = None if until == np.inf else max(until - time.monotonic(), 0.0)
    how: dict[str, Any] = {"categorical": [], "patience": 1, "seconds": left, "start": start}
    model = train(words, _loss(n_classes), rows, None, rounds, lambda _: None, **how)
    return FurtherStacker(base.base, base.correction, model)


def _loss(n_classes: int | None) -> Loss:
    if n_classes is None:
        return Squared()
    return Logistic() if n_classes == 2 else Multinomial(n_classes)


def _scaled(response: Response, amount: float) -> FloatArray:
    """Return an answer as F: values, log-odds of two classes, logarithms of more.

    Shapes: returns (n_samples, 1) or (n_samples, n_classes).
    """
    if response.kind == "value":
        return response.values
    clip = clip_amount(amount)
    values = np.clip(response.values, clip, 1.0 - clip)
    return logit(values[:, 1:]) if values.shape[1] == 2 else np.log(values)
