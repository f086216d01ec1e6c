from dataclasses import replace

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import PredefinedSplit

import foldwise
from foldwise import StackingClassifier, StackingRegressor
from foldwise.report.sections.run import (
    cautions,
    reproduce_section,
    time_section,
    warnings_section,
)
from foldwise.report.stack_values import BEST, stack_values
from tests.report.conftest import CLASSIFIERS, classes, friedman


def test_failures_are_listed_with_their_reason(failed: StackingRegressor) -> None:
    section = warnings_section(stack_values(failed), {"slow": "no time"})
    assert section.lead == "2 learners failed or were left out."
    rows = section.blocks[-1].rows
    assert rows[0][0] == "broken"
    assert "no <b>luck</b>" in rows[0][1]
    assert rows[1] == ["slow", "no time"]


def test_nothing_to_say_is_said(regression: StackingRegressor) -> None:
    section = warnings_section(stack_values(regression), {})
    assert section.lead == "Nothing failed and nothing stands out."


def test_a_stack_behind_its_best_learner_is_a_caution(regression: StackingRegressor) -> None:
    values = stack_values(regression)
    board = [
        replace(s, gain=-2.0, gain_error=1.0) if s.model == BEST else s for s in values.standings
    ]
    said = cautions(replace(values, standings=board))
    assert said[0].startswith("The stack is behind its best single model")


def test_uncovered_rows_rare_classes_and_time_are_cautions(forward: StackingRegressor) -> None:
    said = cautions(stack_values(forward))
    assert said[0].startswith("30 rows (20 %) are tested by no split")
    assert said[1].startswith("Rows are in time order")
    X, y = classes(2)
    keep = np.r_[np.flatnonzero(y == "kind 0"), np.flatnonzero(y == "kind 1")[:12]]
    stack = StackingClassifier(CLASSIFIERS, cv=3, random_state=0).fit(X[keep], y[keep])
    (said,) = [text for text in cautions(stack_values(stack)) if "class has" in text]
    assert said.startswith("1 class has fewer than 30 rows (kind 1)")


def test_covered_rows_only_are_counted() -> None:
    X, y = friedman(60)
    fold = np.repeat([0, 1, 2, -1], 15)
    stack = StackingRegressor([("r", Ridge()), ("s", Ridge(9.0))], cv=PredefinedSplit(fold))
    stack.set_params(random_state=0).fit(X, y)
    assert cautions(stack_values(stack))[0].startswith("15 rows (25 %)")


def test_times_are_those_of_the_leaderboard(regression: StackingRegressor) -> None:
    section = time_section(stack_values(regression))
    total = regression.leaderboard_.set_index("model")["fit_seconds"]["stack"]
    assert section.lead == f"Fitting all learners at all nodes took {1000 * total:.0f} ms."


def test_a_run_cut_short_is_said(regression: StackingRegressor) -> None:
    from copy import copy
    from types import SimpleNamespace

    cut = copy(regression)
    cut.run_ = SimpleNamespace(partial=True, reason="time was up")
    assert cautions(stack_values(cut))[0] == "The run was cut short: time was up."


def test_parameters_that_were_set_are_shown_as_code(regression: StackingRegressor) -> None:
    code, versions = reproduce_section(regression).blocks
    text = "\n".join(code.lines)
    assert text.startswith("StackingRegressor(cv=4,")
    assert text.endswith(".fit(X, y)")
    assert "random_state=0" in text
    assert ("foldwise", foldwise.__version__) in versions.pairs


def test_a_missing_seed_is_pointed_out() -> None:
    stack = StackingRegressor([("ridge", Ridge())], cv=3).fit(*friedman(30))
    assert reproduce_section(stack).lead.startswith("random_state was not set")
