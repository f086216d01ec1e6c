from sklearn.linear_model import Ridge

import foldwise
from foldwise import StackingRegressor
from foldwise.report.reproduce import reproduce_section
from tests.report.conftest import friedman


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
