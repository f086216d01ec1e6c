"""What the folds of a stack cannot give, said once."""

from collections.abc import Sequence

import numpy as np

from foldwise.arrays import IntArray
from foldwise.errors import FoldsWarning, NoScoreWarning, listing, warn
from foldwise.scores.metric import Metric
from foldwise.stack.problem import StackProblem, plain
from foldwise.stack.table.layers import Dealt


def warn_of_absent_classes(
    owner: str, problem: StackProblem, deals: Sequence[Dealt], metric: Metric
) -> None:
    """Say once what folds without a class cannot give."""
    assert problem.labels is not None
    n_classes = len(problem.labels)

    def absent(rows: IntArray) -> IntArray:
        return np.flatnonzero(np.bincount(problem.data.y[rows], minlength=n_classes) == 0)

    nodes = ((d.lattice, n) for d in deals for n in {n for needs in d.needs for n in needs.rows})
    missing = next((code for lattice, n in nodes for code in absent(lattice.rows(n))), None)
    if missing is not None:
        name = plain(problem.labels[missing])
        warn(
            f"{owner}: class {name!r} is absent from the training rows of some folds; "
            "models fitted there give it a small probability. Use fewer folds or more rows of it.",
            FoldsWarning,
        )
    judged = [judgement.test for judgement in deals[0].reading.judgements]
    left_out = [block.fold for block in judged if len(absent(block.rows))]
    if left_out and not metric.pooled:
        warn(
            f"{owner}: {metric.name} is not known in fold{'s' if len(left_out) > 1 else ''} "
            f"{listing(left_out)}, where a class is absent; the score is the mean over the "
            "others. Use fewer folds, or a metric that is pooled over rows.",
            FoldsWarning,
        )


def warn_of_no_score(owner: str, n_layers: int, n_folds: int) -> None:
    """Say why there will be no score."""
    warn(
        f"{owner}: no honest score, it needs at least {n_layers + 2} folds that leave rows to "
        f"train on; got {n_folds}. Use cv=5.",
        NoScoreWarning,
    )
