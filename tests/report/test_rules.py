import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise import RuleFitRegressor, StackingRegressor
from foldwise.report import render
from foldwise.report.rules import MOST_RULES, rule_ensembles, rule_table, rules_section
from tests.report.conftest import friedman


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
    assert list(rule_ensembles(stack)) == ["rules"]
    assert 'id="rules"' not in render(stack)
    assert 'id="rules"' in render(stack, rules=True)


def test_a_stack_without_rules_has_no_such_section(regression: StackingRegressor) -> None:
    assert rules_section(regression) is None
