"""Smaller stacks: which learners are worth what they cost, told from out-of-fold predictions."""

import pickle
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foldwise.combine import elimination_order
from foldwise.folds import Ref
from foldwise.learners import AskedRows, steps_of, take_rows
from foldwise.scores.metric import Evaluation, Target
from foldwise.stack.table.read import Features, Layer

TRIED_ROWS = 1000
TIMES = 2


@dataclass(frozen=True)
class PredictionCosts:
    """What prediction with some learners costs; what they share is paid once."""

    parts: Mapping[str, Mapping[Hashable, float]]  # by learner, by part of its models

    def of(self, names: Iterable[str]) -> float:
        """Return what some learners cost together."""
        together = {part: cost for name in names for part, cost in self.parts[name].items()}
        return sum(together.values())


@dataclass(frozen=True)
class Thrift:
    """Which learners a stacker is given: part of its fit, so that judged folds have no say."""

    prune: float = 0.0  # standard errors of the score that leaving learners out may cost
    seconds: float = np.inf  # for a thousand new rows
    costs: PredictionCosts | None = None  # in seconds; needed if they are limited

    def keep(
        self, features: Features, target: Target, evaluate: Callable[[Sequence[str]], Evaluation]
    ) -> tuple[str, ...]:
        """Return the learners to keep; convex combinations tell in which order they are dropped.

        ``evaluate``: Tells how good the stacker is with some learners, on the rows given.
        """
        nested = self.nested(features, target)
        if self.costs is not None:
            costs = self.costs
            cheapest = min(features.names, key=lambda name: costs.of([name]))
            nested = [names for names in nested if costs.of(names) <= self.seconds] or [(cheapest,)]
        if not self.prune or len(nested) == 1:
            return nested[0]
        most = evaluate(nested[0])
        least = most.score - self.prune * most.standard_error
        # Fewer learners are no better, but for chance: the smallest set is looked for by halving.
        enough, too_few = 0, len(nested)
        while too_few - enough > 1:
            middle = (enough + too_few) // 2
            if evaluate(nested[middle]).score >= least:
                enough = middle
            else:
                too_few = middle
        return nested[enough]

    def nested(self, features: Features, target: Target) -> list[tuple[str, ...]]:
        """Return all learners, then ever fewer of them down to one."""
        costs, names = self.costs, features.names

        def cost(places: Sequence[int]) -> float:
            return float(len(places)) if costs is None else costs.of(names[m] for m in places)

        order = elimination_order(
            features.members,
            target.y,
            target.weight,
            classes=features.labels is not None,
            cost=cost,
        )
        return [
            tuple(name for m, name in enumerate(names) if m in order[gone:])
            for gone in range(len(names))
        ]


def seconds_of(layer: Layer, refs: Sequence[Ref]) -> PredictionCosts:
    """Return the seconds that the deployed models take for a thousand rows, measured now."""
    X = layer.problem.data.X
    rows = np.linspace(0, len(layer.problem.data.y) - 1, TRIED_ROWS).astype(np.intp)
    tried, first = take_rows(X, rows), take_rows(X, rows[:2])
    parts: dict[str, dict[Hashable, float]] = {entry.name: {} for entry in layer.entries}
    for ref in dict.fromkeys(refs):
        # The first call of all loads what is needed; of the others the quicker one is taken.
        for again, table in enumerate([first, *[tried] * TIMES]):
            asked = AskedRows(table)
            for entry in layer.entries:
                model = layer.table.model(layer.table.cell(entry.name, ref))
                asked.respond(model, entry.method, layer.problem.data, 1)
                own = parts[entry.name]
                for part in asked.parts(model):
                    spent = asked.seconds[part] / TRIED_ROWS * 1000
                    own[part] = spent if again < 2 else min(spent, own[part])
    return PredictionCosts(parts)


def bytes_of(layer: Layer, refs: Sequence[Ref]) -> PredictionCosts:
    """Return the bytes that the deployed models take."""
    sizes: dict[Hashable, float] = {}
    parts: dict[str, dict[Hashable, float]] = {}
    for entry in layer.entries:
        cells = layer.table.cells(entry.name, refs)
        steps = [step for cell in cells for step in steps_of(layer.table.model(cell))]
        for step in steps:
            if id(step) not in sizes:
                sizes[id(step)] = float(len(_pickled(step)))
        parts[entry.name] = {id(step): sizes[id(step)] for step in steps}
    return PredictionCosts(parts)


def _pickled(model: Any) -> bytes:
    try:
        return pickle.dumps(model)
    except Exception:
        # What cannot be pickled has no size that could be told.
        return b""
