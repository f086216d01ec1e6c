import html

import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from foldwise import (
    AutoStackRegressor,
    CalibratedClassifier,
    StackingRegressor,
    write_report,
)
from foldwise.stack.results.notebook import fitted_html

X, y = load_diabetes(return_X_y=True)


def test_a_fitted_stack_shows_its_score_and_leaderboard_above_the_diagram():
    stack = StackingRegressor([("<b>ridge", Ridge())], random_state=0)
    assert fitted_html(stack) == ""
    before = stack._repr_html_()
    shown = stack.fit(X, y)._repr_html_()
    assert "Honest score: RMSE 5" in shown
    assert "lower is better" in shown
    assert "<b>ridge</td>" not in shown
    assert "best single" in shown
    assert "best single" not in before
    assert "sk-top-container" in before
    assert "sk-top-container" in shown


def test_a_calibrated_classifier_shows_its_score_too():
    shown = CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y > 100)._repr_html_()
    assert "<b>CalibratedClassifier</b>. Honest score: log-loss 0." in shown


def test_a_score_with_a_positive_sign_says_that_higher_is_better():
    stack = StackingRegressor([("ridge", Ridge())], scoring="r2", random_state=0).fit(X, y)
    assert "Honest score: R² 0." in fitted_html(stack)
    assert "higher is better" in fitted_html(stack)


def test_kinds_that_are_given_are_not_guessed():
    frame = pd.DataFrame({"code": [1, 2, 3] * 10, "size": range(30)})
    kinds = AutoStackRegressor(kinds={"code": "category"})._checked_kinds(frame, None)
    assert [column.kind for column in kinds] == ["category", "identifier"]


def test_a_report_that_was_written_is_linked(tmp_path):
    stack = StackingRegressor([("ridge", Ridge())], cv=3, random_state=0).fit(X, y)
    assert "write_report" in fitted_html(stack)
    path = write_report(stack, tmp_path / "a & b.html")
    assert f'<a href="{html.escape(str(path))}"' in fitted_html(stack)
