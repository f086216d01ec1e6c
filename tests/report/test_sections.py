from types import SimpleNamespace

import numpy as np
from sklearn.linear_model import LinearRegression

from foldwise import StackingClassifier, StackingRegressor
from foldwise.report.sections import n_models, sections_of, stack_rows
from tests.report.conftest import classes, friedman


def test_a_stack_and_another_model_have_their_own_sections(regression: StackingRegressor) -> None:
    assert sections_of(regression, None, None, False)[1].key == "leaderboard"
    other = LinearRegression().fit(*friedman())
    assert sections_of(other, None, None, False)[1].key == "known"


def test_a_model_that_holds_a_stack_is_reported_as_one(regression: StackingRegressor) -> None:
    holder = SimpleNamespace(stack_=regression, skipped_={"slow": "no time"})
    found = {s.key: s for s in sections_of(holder, None, None, False)}
    assert found["warnings"].blocks[-1].rows == [["slow", "no time"]]


def test_models_are_counted_as_predictions_ask_them(regression: StackingRegressor) -> None:
    assert n_models(regression) == 2 * 4


def test_training_rows_have_their_targets_as_the_user_knows_them(
    binary: StackingClassifier,
) -> None:
    X, y = classes(2)
    rows = stack_rows(binary, None, None)
    assert rows.seen
    np.testing.assert_array_equal(rows.y, y)
    assert not stack_rows(binary, X, y).seen
