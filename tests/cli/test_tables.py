import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

from foldwise.auto.tables.problem import table_problem
from foldwise.cli import tables
from foldwise.cli.failures import Failure
from foldwise.cli.tables import cross_validated, readable_columns
from foldwise.folds import deal
from tests.cli.conftest import HOSTILE
from tests.cli.flats import make_flats


def test_inspect_shows_every_column(typed, flats):
    result = typed("inspect", flats, "--target", "rent")
    assert result.code == 0, result.err
    assert "80 rows, 13 columns. Read as utf-8, commas between fields." in result.out
    assert "Target 'rent': a quantity." in result.out
    assert "listing_id" in result.out
    assert "identifier" in result.out


def test_inspect_shows_names_as_they_are(typed, hostile):
    assert HOSTILE in typed("inspect", hostile).out


def test_inspect_tells_machines_the_same(typed, flats):
    told = typed("inspect", flats, "--target", "rent", "--json").json
    assert told["task"] == "regression"
    assert told["read_as"] == {"encoding": "utf-8", "delimiter": ",", "decimal": "."}
    assert len(told["columns"]) == 12


@pytest.fixture
def few_trees(monkeypatch):
    """Rules from a few small trees, scored on two folds."""
    monkeypatch.setattr(tables, "N_TREES", 30)
    monkeypatch.setattr(tables, "N_FOLDS", 2)


@pytest.mark.usefixtures("few_trees")
def test_rules_are_few_whole_and_honest(typed, flats):
    result = typed("rules", flats, "--target", "rent", "--most", 3)
    assert result.code == 0, result.err
    assert "Honest score: root mean squared error " in result.out
    assert "Prediction: start from " in result.out
    assert "…" not in result.out
    assert result.last == "Not used: listing_id, listed, description, currency."


@pytest.mark.usefixtures("few_trees")
def test_rules_take_a_column_for_what_they_are_told(typed, flats):
    result = typed("rules", flats, "--target", "rent", "--kind", "listing_id=number", "--most", 1)
    assert result.last == "Not used: listed, description, currency."


@pytest.mark.usefixtures("few_trees")
def test_rules_add_up_to_the_prediction_as_the_words_say(typed, flats):
    told = typed("rules", flats, "--target", "rent", "--most", 3, "--json").json
    assert 1 <= len(told["rules"]) <= 3
    assert len(told["intercepts"]) == 1
    mean = sum(row["coef"] * row["support"] for row in told["rules"] if "linear" not in row["rule"])
    # Linear terms are centred, so the mean prediction is the intercept and the rules' shares.
    assert told["intercepts"][0] + mean == pytest.approx(make_flats(80)["rent"].mean(), rel=1e-6)


@pytest.mark.usefixtures("few_trees", "short_paths")
def test_classes_are_named(typed, hostile):
    told = typed("rules", hostile, "--target", "class", "--most", 2, "--json").json
    assert any(name == "coef_ünï" for name in told["rules"][0])


def test_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame({"a": rng.normal(size=60)}), rng.normal(size=60)
    metric, value, error = cross_validated(DummyRegressor(), X, y, "regression", 0)
    dealt = deal(5, 60, seed=0)
    folds = list(zip(dealt.trains, dealt.tests, strict=True))
    out = cross_val_predict(DummyRegressor(), X, y, cv=folds)
    assert value == pytest.approx(np.sqrt(((y - out) ** 2).mean()))
    assert 0 < error < value
    classes = np.array(["a", "b", "c"])[rng.integers(0, 3, 60)]
    metric, value, error = cross_validated(
        DummyClassifier(strategy="uniform"), X, classes, "classification", 0
    )
    assert metric == "log loss"
    assert value == pytest.approx(log_loss(classes, np.full((60, 3), 1 / 3)))
    assert error == pytest.approx(0.0, abs=1e-12)


def test_a_table_rules_cannot_speak_of_is_refused():
    frame = pd.DataFrame({"when": ["2024-01-01", "2024-01-02"] * 5, "y": np.arange(10) + 0.5})
    with pytest.raises(Failure, match="must have a column of numbers or categories"):
        readable_columns(table_problem(frame, "y"))
