"""What smaller stacks lose and save: the same table, judged again with ever fewer learners."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from foldwise.engine import Clock
from foldwise.scores.metric import Evaluation
from foldwise.stack.fit import FittedStack, judged_stack
from foldwise.stack.judge.thrift import PredictionCosts, Thrift, bytes_of, seconds_of
from foldwise.stack.problem import TITLES
from foldwise.stack.results.exact import board_of, widening
from foldwise.stack.results.leaderboard import compared


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
        boards = []
        for stack, own in zip(stacks, costs, strict=True):
            contest = replace(stack.judge.contest, thrift=Thrift(0.0, seconds, own))
            judged = stack.lattice, stack.layers, stack.reading, contest, stack.judge.seed
            boards.append(board_of(judged_stack(*judged)))
        wider = float(widening(boards)[0, 0])
        each = [board.rows[TITLES[0]].evaluation for board in boards]
        whole = whole or each
        records.append(
            {
                "learners": len(names),
                **compared(each, whole, first.metric, wider, wider),
                "predict_seconds": sum(own.of(names) for own in costs),
                "megabytes": sum(own.of(names) for own in sizes) / 1e6,
                "names": names,
            }
        )
        took = clock.spent - before
    return pd.DataFrame(records)
