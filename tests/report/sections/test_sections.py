from types import SimpleNamespace

import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB

from foldwise import (
    BaggingRegressor,
    CalibratedClassifier,
    RuleFitRegressor,
    StackingRegressor,
)
from foldwise.report.sections import model_sections, sections_of
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


def keys(sections: list) -> list[str]:
    return [section.key for section in sections]


def test_given_classes_are_scored_by_log_loss() -> None:
    X, y = classes(3)
    model = LogisticRegression().fit(X, y)
    sections = model_sections(model, X, y)
    loss = log_loss(y, model.predict_proba(X))
    tile = sections[0].blocks[0].tiles[0]
    assert tile.label == "log-loss on the rows given"
    assert float(tile.value.split()[0]) == pytest.approx(loss, abs=5e-3)
    assert "honest only if the model never saw them" in sections[0].lead
    assert keys(sections) == ["answer", "quality", "columns", "known", "data", "reproduce"]


def test_without_rows_and_without_a_score_of_its_own_a_model_says_what_to_do() -> None:
    sections = model_sections(LinearRegression().fit(*friedman()), None, None)
    assert sections[0].blocks[0].text == (
        "This LinearRegression does not judge itself. Give rows it has not seen as X and y, or "
        "stack it: a stack's score is honest."
    )
    assert keys(sections) == ["answer", "known", "reproduce"]


def test_bagging_shows_its_out_of_bag_score() -> None:
    model = BaggingRegressor(n_estimators=30, oob_score=True, random_state=0).fit(*friedman(80))
    tile = model_sections(model, None, None)[0].blocks[0].tiles[0]
    assert tile.label == "Out-of-bag R²"
    assert tile.value.startswith(f"{model.oob_score_:.2f}")


def test_a_rule_ensemble_lists_its_rules() -> None:
    model = RuleFitRegressor(n_estimators=5, cv=3, random_state=0).fit(*friedman(80))
    assert "rules" in keys(model_sections(model, None, None))
