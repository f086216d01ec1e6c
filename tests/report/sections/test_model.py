import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Lasso, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise import (
    AveragedCVRegressor,
    BayesianModelAveragingRegressor,
    BestSubsetRegressor,
    GradientBoostingRegressor,
    ISLERegressor,
    LassoPathClassifier,
    LassoPathRegressor,
    RuleFitRegressor,
    StackingRegressor,
)
from foldwise.report import render
from foldwise.report.sections.model import (
    MOST_RULES,
    frame_table,
    model_section,
    rule_ensembles,
    rule_table,
    stack_rules_section,
)
from foldwise.report.stack_values import stack_values
from tests.report.conftest import classes, friedman

CASES = [
    (BestSubsetRegressor(), {"Coefficients", "The best of each size"}),
    (AveragedCVRegressor(cv=3), {"Coefficients", "Selection frequency"}),
    (BayesianModelAveragingRegressor(), {"Inclusion probability", "The most probable models"}),
    (LassoPathRegressor(cv=3), {"Coefficients", "Held-out loss"}),
    (GradientBoostingRegressor(n_estimators=5), {"Importance", "Training loss"}),
    (ISLERegressor(n_estimators=10, cv=3), {"Held-out loss"}),
]


def titles(section: object) -> set[str]:
    found = {block.title for block in section.blocks if block.kind == "table"}
    return found | {f.title for b in section.blocks if b.kind == "figures" for f in b.figures}


@pytest.mark.parametrize(("model", "expected"), CASES, ids=lambda v: type(v).__name__)
def test_what_an_estimator_knows_is_shown(model: object, expected: set[str]) -> None:
    assert expected <= titles(model_section(model.fit(*friedman(80))))


def test_a_classifiers_coefficients_are_shown() -> None:
    section = model_section(LassoPathClassifier(cv=3).fit(*classes(2)))
    assert "Coefficients" in titles(section)


def test_coefficients_that_are_all_zero_are_not_drawn() -> None:
    section = model_section(Lasso(1e9).fit(*friedman(50)))
    assert [block.kind for block in section.blocks] == ["terms"]


def test_a_model_that_knows_nothing_has_no_section() -> None:
    assert model_section(object()) is None


def test_a_frame_becomes_a_table_cut_to_size() -> None:
    frame = pd.DataFrame({"a_b": np.arange(99), "columns": [()] + [("x", "y")] * 98})
    table = frame_table(frame, "t")
    assert table.rows[0] == ["0", "none"]
    assert table.rows[3] == ["3", "x, y"]
    assert table.left_out == 84


def some_rules(n: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "rule": [f"x{i} <= 1" for i in range(n)],
            "kind": ["rule"] * (n - 1) + ["linear"],
            "coef_<b>": [1.0] * n,
            "support": [0.25] * n,
            "importance": [1.0] * n,
        }
    )


def test_a_rule_table_reads_from_left_to_right() -> None:
    table = rule_table(some_rules(2))
    assert [column.title for column in table.columns] == [
        "rule", "adds to <b>", "holds for", "importance",
    ]  # fmt: skip
    assert table.rows[0] == ["x0 <= 1", "1", "25 %", "1"]
    assert table.rows[1][2] == "slope"


def test_a_long_list_is_cut() -> None:
    assert rule_table(some_rules(500)).left_out == 500 - MOST_RULES


def test_rules_of_a_stack_are_listed_only_when_asked_for() -> None:
    rules = make_pipeline(StandardScaler(), RuleFitRegressor(n_estimators=5, cv=3, random_state=0))
    learners = [("ridge", Ridge()), ("rules", rules)]
    stack = StackingRegressor(learners, cv=3, random_state=0).fit(*friedman(80))
    assert list(rule_ensembles(stack.named_estimators_)) == ["rules"]
    assert 'id="rules"' not in render(stack)
    assert 'id="rules"' in render(stack, rules=True)


def test_a_stack_without_rules_has_no_such_section(regression: StackingRegressor) -> None:
    assert stack_rules_section(stack_values(regression)) is None
