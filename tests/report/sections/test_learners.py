import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge

from foldwise import StackingRegressor
from foldwise.diagnose import model_values
from foldwise.report.sections.learners import learners_section
from foldwise.report.stack_values import stack_values
from tests.report.conftest import REGRESSORS, friedman
from tests.report.drawn import texts


def section(stack: object) -> object:
    return learners_section(stack_values(stack))


def titles(stack: object) -> list[str]:
    (figures,) = section(stack).blocks
    return [figure.title for figure in figures.figures]


def test_weights_values_likeness_and_the_map_are_shown(regression: StackingRegressor) -> None:
    assert titles(regression) == [
        "Weights in the stack",
        "Value to the stack",
        "Smaller stacks",
        "How alike the errors are",
        "Diversity map",
    ]


def test_values_are_those_of_diagnosis(regression: StackingRegressor) -> None:
    (figures,) = section(regression).blocks
    values = model_values(regression).shapley
    shown = [t for t in texts(figures.figures[1].drawing) if "." in t]
    assert [float(t) for t in shown] == pytest.approx(sorted(values, reverse=True), abs=6e-3)


def test_twins_are_named() -> None:
    learners = [("ridge", Ridge()), ("twin", Ridge(1.01)), REGRESSORS[1]]
    stack = StackingRegressor(learners, cv=3, random_state=0).fit(*friedman())
    assert section(stack).lead.endswith("Nearly the same model twice: ridge with twin.")


def test_one_learner_and_no_judged_fold_are_said(unscored: StackingRegressor) -> None:
    stack = StackingRegressor(REGRESSORS[:1], cv=3, random_state=0).fit(*friedman())
    assert section(stack).lead == "The stack has one learner only."
    assert section(unscored).lead == "Nothing was judged."


def test_values_that_would_take_long_are_left_out() -> None:
    top = RandomForestRegressor(5, random_state=0)
    X, y = friedman(1500)
    stack = StackingRegressor([(f"r{i}", Ridge(10.0**i)) for i in range(6)], top, cv=2)
    stack = stack.set_params(cv=3, random_state=0).fit(X, y)
    assert "Value to the stack" not in titles(stack)


def test_smaller_stacks_are_drawn_as_the_frontier_tells(regression: StackingRegressor) -> None:
    (figures,) = section(regression).blocks
    (figure,) = [f for f in figures.figures if f.title == "Smaller stacks"]
    assert figure.caption == (
        f"From {len(regression.estimators_)} learners down to 1, each stack honestly judged; "
        "compact(predict_seconds=...) takes one of them."
    )
    assert figure.drawing.count("<circle") == len(regression.frontier())
