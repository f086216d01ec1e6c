"""Which sections a report has, in their order."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from foldwise.report.blocks import Section
from foldwise.report.predictions import given_predictions
from foldwise.report.sections.answer import given_answer_section, stack_answer_section
from foldwise.report.sections.columns import ReportRows, columns_section, training_rows
from foldwise.report.sections.coverage import coverage_section
from foldwise.report.sections.data import data_section
from foldwise.report.sections.honesty import folds_section, honesty_section
from foldwise.report.sections.leaderboard import leaderboard_section
from foldwise.report.sections.learners import learners_section
from foldwise.report.sections.model import model_section, rules_section, stack_rules_section
from foldwise.report.sections.quality import quality_section
from foldwise.report.sections.run import reproduce_section, time_section, warnings_section
from foldwise.report.stack_values import StackValues, stack_in, stack_values
from foldwise.scores import as_metric


def sections_of(model: Any, X: Any, y: Any, rules: bool) -> list[Section]:
    """Return the sections of the report on any fitted model."""
    stack = stack_in(model)
    if stack is None:
        return model_sections(model, X, y)
    shown = rules or getattr(model, "interpretable", False)
    # Rows that are given are for the model as its user knows it, its own rows for the stack.
    asked, rows = (stack, None) if X is None else (model, ReportRows(X, np.asarray(y)))
    return stack_sections(model, stack_values(stack), asked, rows, rules=shown)


def stack_sections(
    model: Any, stack: StackValues, asked: Any, rows: ReportRows | None, *, rules: bool
) -> list[Section]:
    """Return the sections of the report on a stack, or on a model that holds one."""
    rows, names = rows or training_rows(stack), getattr(stack.fitted, "feature_names_in_", None)
    found = [
        stack_answer_section(stack),
        leaderboard_section(stack),
        honesty_section(stack),
        learners_section(stack),
        None if stack.judged is None else quality_section(stack.judged),
        coverage_section(stack),
        None if rows is None else columns_section(asked, rows, stack.metric, stack.seconds_a_row),
        stack_rules_section(stack) if rules else None,
        folds_section(stack),
        warnings_section(stack, getattr(model, "skipped_", {})),
        data_section(stack.target, stack.X, names, getattr(model, "kinds_", ())),
        time_section(stack),
        reproduce_section(model),
    ]
    return [section for section in found if section is not None]


def model_sections(model: Any, X: Any, y: Any) -> list[Section]:
    """Return the sections of the report on an estimator that is not a stack."""
    rules = getattr(model, "rules_", None)
    listed = rules_section(rules) if isinstance(rules, pd.DataFrame) else None
    known, last = model_section(model), reproduce_section(model)
    if X is None:
        found = [given_answer_section(model, None), listed, known, last]
    else:
        given = given_predictions(model, X, y)
        metric = as_metric(
            None,
            owner=type(model).__name__,
            classify=is_classifier(model),
            has_probabilities=given.probabilities is not None,
        )
        found = [
            given_answer_section(model, given, metric),
            quality_section(given),
            columns_section(model, ReportRows(X, np.asarray(y)), metric),
            listed,
            known,
            data_section(given.target, X, getattr(model, "feature_names_in_", None)),
            last,
        ]
    return [section for section in found if section is not None]
