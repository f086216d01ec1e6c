"""Which sections a report has, in their order."""

from typing import Any

from foldwise.report.answer import answer_section
from foldwise.report.blocks import Section
from foldwise.report.board import board_section
from foldwise.report.coverage import coverage_section
from foldwise.report.data import data_section
from foldwise.report.details import folds_section, time_section, warnings_section
from foldwise.report.evidence import judged_evidence
from foldwise.report.honesty import honesty_section
from foldwise.report.members import members_section
from foldwise.report.quality import quality_section
from foldwise.report.reproduce import reproduce_section
from foldwise.report.standings import standings


def sections_of(model: Any, X: Any, y: Any) -> list[Section]:
    """Return the sections of the report on any fitted model.

    Parameters
    ----------
    model : estimator
        Fitted.
    X, y : array or data frame, array, or None
        Rows for the figures about columns.

    Returns
    -------
    list of Section
        The answer first.
    """
    return stack_sections(model, X, y)


def stack_sections(stack: Any, X: Any, y: Any) -> list[Section]:
    """Return the sections of the report on a stack."""
    board = standings(stack)
    evidence = judged_evidence(stack)
    data = stack.deals_[0].top.problem.data
    own = getattr(stack, "_X", None)
    found = [
        answer_section(stack, board),
        board_section(board, stack._metric),
        honesty_section(stack),
        members_section(stack, board),
        None if evidence is None else quality_section(evidence),
        coverage_section(stack),
        folds_section(stack),
        warnings_section(stack, board),
        data_section(
            data.y,
            getattr(stack, "classes_", None),
            data.sample_weight,
            own,
            getattr(stack, "feature_names_in_", None),
        ),
        time_section(board),
        reproduce_section(stack),
    ]
    return [section for section in found if section is not None]
