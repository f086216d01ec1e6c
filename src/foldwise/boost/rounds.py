"""How AdaBoost's learner is fitted in a round: by drawn rows, sorted columns, or weights."""

from collections.abc import Callable
from typing import Any

import numpy as np

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.boost.learner import Table, fit_learner, seeded
from foldwise.boost.samme import gridded
from foldwise.boost.stumps import SortedColumns, is_plain_stump, stump_of

FitRound = Callable[[int, FloatArray], Any]


def round_fitter(
    learner: Any,
    table: Table,
    codes: IntArray,
    start: FloatArray,
    seeds: Array,
    *,
    draw: bool,
) -> FitRound:
    """Return the function that fits the learner of a round to the weights d."""

    def fresh(m: int) -> Any:
        return seeded(learner, int(seeds[m % len(seeds)]))

    def by_weights(m: int, weight: FloatArray) -> Any:
        return fit_learner(fresh(m), table, codes, gridded(weight, start))

    draws = np.random.default_rng(seeds[-2])

    def by_rows(m: int, weight: FloatArray) -> Any:
        rows = draws.choice(len(weight), len(weight), p=weight)
        return fit_learner(fresh(m), table.rows(rows), codes[rows], None)

    if draw:
        return by_rows
    if table.trusted and is_plain_stump(learner):
        return _by_columns(table, codes, start, fresh, by_weights)
    return by_weights


def _by_columns(
    table: Table,
    codes: IntArray,
    start: FloatArray,
    fresh: Callable[[int], Any],
    otherwise: FitRound,
) -> FitRound:
    weighted = np.flatnonzero(start)  # a row of weight 0 must not even move a cut
    columns = SortedColumns(table.X[weighted], codes[weighted], max(2, int(codes.max()) + 1))

    def fit_round(m: int, weight: FloatArray) -> Any:
        split = columns.best_split(gridded(weight, start)[weighted])
        if split is None:
            return otherwise(m, weight)
        return stump_of(split, fresh(m), table.X.shape[1])

    return fit_round
