"""What smaller stacks lose and save: the same table, judged again with ever fewer learners."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from foldwise.engine import Clock
from foldwise.scores.metric import Evaluation
from foldwise.stack.fit import FittedStack
from foldwise.stack.judge.judge import Judge
from foldwise.stack.judge.rounds import verdict_of
from foldwise.stack.judge.thrift import PredictionCosts, Thrift, bytes_of, seconds_of
from foldwise.stack.problem import TITLES
from foldwise.stack.results.exact import board_of, widening


def frontier(
    stacks: Sequence[FittedStack],
    time_budget: float | None = None,
    costs: Sequence[PredictionCosts] | None = None,
) -> pd.DataFrame:
    """Return one row a size of the stack, the largest first, from fitted stacks.

    ``time_budget``: Seconds after which no row is begun that should not fit. ``costs``: Of each
    stack; left out, they are measured, which takes the stacks' rows.
    """
    first, clock, took = stacks[0], Clock(time_budget), 0.0
    costs = costs or [seconds_of(stack.top, stack.reading.deployed) for stack in stacks]
    sizes = [bytes_of(stack.top, stack.reading.deployed) for stack in stacks]
    final, judge = first.reading.final, first.judge
    features, target = first.top.features(final), judge.target(final)
    records: list[dict[str, Any]] = []
    whole: list[Evaluation] = []
    for names in Thrift(costs=costs[0]).nested(features, target):
        if clock.left() < took:
            break
        before = clock.spent
        # A little more than these take, since what is added up in another order differs.
        seconds = costs[0].of(names) * (1 + 1e-9)
        judged = [
            _judged_again(stack, Thrift(0.0, seconds, own))
            for stack, own in zip(stacks, costs, strict=True)
        ]
        boards = [board_of(stack) for stack in judged]
        wider = float(widening(boards)[0, 0])
        each = [board.rows[TITLES[0]].evaluation for board in boards]
        whole = whole or each
        pairs = list(zip(each, whole, strict=True))
        natural = first.metric.natural
        records.append(
            {
                "learners": len(names),
                first.metric.name: natural(float(np.mean([e.score for e in each]))),
                "se": wider * float(np.mean([e.standard_error for e in each])),
                "difference": natural(float(np.mean([e.score - w.score for e, w in pairs]))),
                "difference_se": wider
                * float(np.mean([e.error_of_difference(w) for e, w in pairs])),
                "predict_seconds": sum(own.of(names) for own in costs),
                "megabytes": sum(own.of(names) for own in sizes) / 1e6,
                "names": names,
            }
        )
        took = clock.spent - before
    return pd.DataFrame(records)


def _judged_again(stack: FittedStack, thrift: Thrift) -> FittedStack:
    contest = replace(stack.judge.contest, thrift=thrift)
    judge = Judge(stack.top, stack.reading, contest, stack.judge.seed)
    return replace(stack, judge=judge, verdict=verdict_of(judge))
