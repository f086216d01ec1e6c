"""Which sections a report has, in their order."""

from collections import Counter
from typing import Any

import numpy as np

from foldwise.diagnose import OutOfFoldTable
from foldwise.errors import FoldwiseError
from foldwise.report.answer import answer_section
from foldwise.report.blocks import Section
from foldwise.report.board import board_section
from foldwise.report.columns import Rows, columns_section
from foldwise.report.coverage import coverage_section
from foldwise.report.data import data_section
from foldwise.report.details import folds_section, time_section, warnings_section
from foldwise.report.evidence import judged_evidence
from foldwise.report.honesty import honesty_section
from foldwise.report.members import members_section
from foldwise.report.other import other_sections
from foldwise.report.quality import quality_section
from foldwise.report.reproduce import reproduce_section
from foldwise.report.rules import rules_section
from foldwise.report.standings import standings
from foldwise.stack.estimator import BaseStacking


def sections_of(model: Any, X: Any, y: Any, rules: bool) -> list[Section]:
    """Return the sections of the report on any fitted model."""
    stack = model if isinstance(model, BaseStacking) else getattr(model, "stack_", None)
    if isinstance(stack, BaseStacking):
        return stack_sections(model, stack, X, y, rules)
    return other_sections(model, X, y)


def stack_sections(model: Any, stack: BaseStacking, X: Any, y: Any, rules: bool) -> list[Section]:
    """Return the sections of the report on a stack, or on a model that holds one."""
    board, table = standings(stack), _table(stack)
    evidence = judged_evidence(stack)
    rows = stack_rows(stack, X, y)
    asked = model if X is not None else stack
    data = stack.deals_[0].top.problem.data
    found = [
        answer_section(stack, board),
        board_section(board, stack._metric),
        honesty_section(stack, table),
        members_section(stack, board, table),
        None if evidence is None else quality_section(evidence),
        coverage_section(stack),
        None if rows is None else columns_section(asked, rows, stack._metric, seconds_a_row(stack)),
        rules_section(stack) if rules or getattr(model, "interpretable", False) else None,
        folds_section(stack),
        warnings_section(stack, board, getattr(model, "skipped_", {})),
        data_section(
            data.y,
            getattr(stack, "classes_", None),
            data.sample_weight,
            getattr(stack, "_X", None),
            getattr(stack, "feature_names_in_", None),
            getattr(model, "kinds_", ()),
        ),
        time_section(board),
        reproduce_section(model),
    ]
    return [section for section in found if section is not None]


def _table(stack: Any) -> OutOfFoldTable | None:
    """Return the hold-out predictions; None without judged folds, or without the rows passed on."""
    try:
        return stack.out_of_fold_table()
    except FoldwiseError:
        return None


def seconds_a_row(stack: Any) -> float:
    """Return how long a prediction of one row takes, by the times measured while fitting."""
    total = 0.0
    for reader in stack.deals_[0].layers:
        asked: Counter[str] = Counter()
        for (name, _, _), (rows, _) in reader.table.predictions.items():
            asked[name] += len(rows)
        for name, n_rows in asked.items():
            models = getattr(stack.named_estimators_.get(name), "models", [None])
            seconds = reader.table.predict_seconds.get(name, 0.0)
            total += len(models) * seconds / max(n_rows, 1)
    return total * len(stack.deals_)


def stack_rows(stack: Any, X: Any, y: Any) -> Rows | None:
    """Return the rows to look at a stack with: those given, or the ones it was fitted on."""
    if X is not None:
        return Rows(X, np.asarray(y))
    own = getattr(stack, "_X", None)
    if own is None:
        return None
    data = stack.deals_[0].top.problem.data
    target = data.y if data.n_classes is None else stack.classes_[data.y]
    return Rows(own, target, data.sample_weight, seen=True)
