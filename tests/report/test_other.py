import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, root_mean_squared_error

from foldwise import BaggingRegressor, RuleFitRegressor
from foldwise.report.evidence import given_evidence
from foldwise.report.other import evaluate, other_sections
from foldwise.scores.metric import as_metric
from tests.report.conftest import classes, friedman


def keys(sections: list) -> list[str]:
    return [section.key for section in sections]


def test_given_rows_are_scored_like_scikit_learn_does() -> None:
    X, y = friedman()
    model = LinearRegression().fit(X[:100], y[:100])
    metric = as_metric(None, owner="x", classify=False, has_probabilities=False)
    own, naive = evaluate(given_evidence(model, X[100:], y[100:]), metric)
    assert -own.score == pytest.approx(root_mean_squared_error(y[100:], model.predict(X[100:])))
    assert -naive.score == pytest.approx(np.std(y[100:]))


def test_given_classes_are_scored_by_log_loss() -> None:
    X, y = classes(3)
    model = LogisticRegression().fit(X, y)
    sections = other_sections(model, X, y)
    loss = log_loss(y, model.predict_proba(X))
    tile = sections[0].blocks[0].tiles[0]
    assert tile.label == "log-loss on the rows given"
    assert float(tile.value.split()[0]) == pytest.approx(loss, abs=5e-3)
    assert "honest only if the model never saw them" in sections[0].lead
    assert keys(sections) == ["answer", "quality", "columns", "known", "data", "reproduce"]


def test_without_rows_and_without_a_score_of_its_own_a_model_says_what_to_do() -> None:
    sections = other_sections(LinearRegression().fit(*friedman()), None, None)
    assert sections[0].blocks[0].text == (
        "This LinearRegression does not judge itself. Give rows it has not seen as X and y, or "
        "stack it: a stack's score is honest."
    )
    assert keys(sections) == ["answer", "known", "reproduce"]


def test_bagging_shows_its_out_of_bag_score() -> None:
    model = BaggingRegressor(n_estimators=30, oob_score=True, random_state=0).fit(*friedman(80))
    tile = other_sections(model, None, None)[0].blocks[0].tiles[0]
    assert tile.label == "Out-of-bag R²"
    assert tile.value.startswith(f"{model.oob_score_:.2f}")


def test_a_rule_ensemble_lists_its_rules() -> None:
    model = RuleFitRegressor(n_estimators=5, cv=3, random_state=0).fit(*friedman(80))
    assert "rules" in keys(other_sections(model, None, None))
