import time
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from foldwise import CalibratedClassifier, StackingClassifier, StackingRegressor
from foldwise.report.sections import seconds_a_row, sections_of, stack_rows
from tests.report.conftest import classes, friedman


def test_a_stack_and_another_model_have_their_own_sections(regression: StackingRegressor) -> None:
    assert sections_of(regression, None, None, False)[1].key == "leaderboard"
    other = LinearRegression().fit(*friedman())
    assert sections_of(other, None, None, False)[1].key == "known"


def test_a_model_that_holds_a_stack_is_reported_as_one(regression: StackingRegressor) -> None:
    holder = SimpleNamespace(stack_=regression, skipped_={"slow": "no time"})
    found = {s.key: s for s in sections_of(holder, None, None, False)}
    assert found["warnings"].blocks[-1].rows == [["slow", "no time"]]


def test_a_calibrated_classifier_is_reported_with_the_score_it_has() -> None:
    X, y = classes(2)
    model = CalibratedClassifier(GaussianNB(), cv=3, random_state=0).fit(X, y)
    found = {s.key: s for s in sections_of(model, None, None, False)}
    assert found["answer"].blocks[0].tiles[0].value.startswith(f"{-model.score_:.3f} ±")
    assert "Calibrated by" in dict(found["honesty"].blocks[0].pairs)


def test_the_time_of_a_row_is_the_one_measured_while_fitting() -> None:
    class Slow(LinearRegression):
        def predict(self, X: Any) -> Any:
            time.sleep(1e-4 * len(X))
            return super().predict(X)

    X, y = friedman(90)
    stack = StackingRegressor([("slow", Slow())], cv=3, random_state=0).fit(X, y)
    # Three models answer for a row, each in a tenth of a millisecond; machines may be slower.
    assert 3e-4 <= seconds_a_row(stack) < 3e-2


def test_training_rows_have_their_targets_as_the_user_knows_them(
    binary: StackingClassifier,
) -> None:
    X, y = classes(2)
    rows = stack_rows(binary, None, None)
    assert rows.seen
    np.testing.assert_array_equal(rows.y, y)
    assert not stack_rows(binary, X, y).seen
