"""What the folds of a stack cannot give, said once."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from foldwise.errors import FoldsWarning, NoScoreWarning, listing, warn
from foldwise.scores.metric import Metric
from foldwise.stack.problem import StackProblem, plain
from foldwise.stack.table.layers import Dealt


def warn_of_absent_classes(
    owner: str, problem: StackProblem, deals: Sequence[Dealt], metric: Metric
) -> None:
    """Say once what folds without a class cannot give."""
    missing = _missing_class(problem, deals)
    if missing is not None:
        warn(
            f"{owner}: class {plain(missing)!r} is absent from the training rows of some folds; "
            "models fitted there give it a small probability. Use fewer folds or more rows of it.",
            FoldsWarning,
        )

    left_out = _without_a_class(problem, deals[0])
    if left_out and not metric.pooled:
        warn(
            f"{owner}: {metric.name} is not known in fold{'s' if len(left_out) > 1 else ''} "
            f"{listing(left_out)}, where a class is absent; the score is the mean over the "
            "others. Use fewer folds, or a metric that is pooled over rows.",
            FoldsWarning,
        )


def _without_a_class(problem: StackProblem, dealt: Dealt) -> list[int]:
    """Return the judged folds that lack a class."""
    n_classes = problem.data.n_classes or 0
    judged = [j.test for j in dealt.reading.judgements]
    return [b.fold for b in judged if len(np.unique(problem.data.y[b.rows])) < n_classes]


def _missing_class(problem: StackProblem, deals: Sequence[Dealt]) -> Any:
    assert problem.labels is not None
    for dealt in deals:
        for node in {node for needs in dealt.needs for node in needs.rows}:
            y = problem.data.y[dealt.lattice.rows(node)]
            seen = np.bincount(y, minlength=len(problem.labels))
            if not seen.all():
                return problem.labels[int(seen.argmin())]
    return None


def warn_of_no_score(owner: str, n_layers: int, n_folds: int) -> None:
    """Say why there will be no score."""
    warn(
        f"{owner}: no honest score, it needs at least {n_layers + 2} folds that leave rows to "
        f"train on; got {n_folds}. Use cv=5.",
        NoScoreWarning,
    )
