import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer

from foldwise import StackingClassifier, StackingRegressor
from foldwise.report.columns import (
    MOST_SHUFFLED,
    Rows,
    as_numbers,
    columns_section,
    influential,
    scorer_of,
)
from foldwise.scores.metric import as_metric
from tests.report.conftest import classes, friedman
from tests.report.drawn import texts

RMSE = as_metric(None, owner="x", classify=False, has_probabilities=False)


def test_the_column_that_matters_is_the_first_bar(regression: StackingRegressor) -> None:
    X, y = friedman()
    section = columns_section(regression, Rows(X, y), regression._metric)
    names = [t for t in texts(section.blocks[0].figures[0].drawing) if t.startswith("input")]
    assert set(names[:3]) <= {"input 0", "input 1", "input 3"}
    assert section.lead.startswith(f"Most depends on {names[0]}, {names[1]} and {names[2]}, ")


def test_training_rows_are_named_as_such(regression: StackingRegressor) -> None:
    X, y = friedman()
    assert (
        "training rows"
        in columns_section(regression, Rows(X, y, seen=True), regression._metric).lead
    )
    assert "training rows" not in columns_section(regression, Rows(X, y), regression._metric).lead


def test_of_many_columns_those_are_shuffled_that_predictions_follow() -> None:
    X = np.random.default_rng(0).normal(size=(300, 400))
    y = 3 * X[:, 7] + 2 * X[:, 350]
    places = influential(X, y[:, None], 20)
    assert {7, 350} <= set(places.tolist())
    np.testing.assert_array_equal(
        places, influential(sparse.csr_array(X), y[:, None], 20), "sparse as dense"
    )
    model = LinearRegression().fit(X, y)
    lead = columns_section(model, Rows(X, y), RMSE).lead
    assert f"Of 400 columns the {MOST_SHUFFLED} that follow the predictions most" in lead


def test_a_slow_model_has_fewer_columns_shuffled() -> None:
    X = np.random.default_rng(0).normal(size=(60, 40))
    model = LinearRegression().fit(X, X[:, 0])
    assert "the 5 that" in columns_section(model, Rows(X, X[:, 0]), RMSE, seconds_a_row=1.0).lead


def test_any_column_becomes_finite_numbers() -> None:
    for values in ([True, False], [np.inf, 1.0], [np.nan, np.nan], ["b", None]):
        column = np.array(values, dtype=object if None in values else None)
        assert np.isfinite(as_numbers(column)).all()


def test_classes_missing_from_the_rows_and_unknown_ones_are_no_hindrance(
    multiclass: StackingClassifier,
) -> None:
    X, y = classes(4)
    some = np.flatnonzero(y != "kind 3")
    strange = np.where(y[some] == "kind 2", "never seen", y[some])
    section = columns_section(multiclass, Rows(X[some], strange), multiclass._metric)
    known = int((strange != "never seen").sum())
    assert f"of {known} rows of the rows given" in section.lead
    assert columns_section(multiclass, Rows(X, np.full(len(y), "?")), multiclass._metric) is None


@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy", "roc_auc", "balanced_accuracy"])
def test_our_scorer_is_scikit_learns_where_every_class_is_there(scoring: str) -> None:
    X, y = classes(2)
    model = LogisticRegression().fit(X, y)
    metric = as_metric(scoring, owner="x", classify=True, has_probabilities=True)
    expected = get_scorer(scoring)(model, X, y)
    assert scorer_of(metric)(model, X, y) == pytest.approx(expected, rel=1e-9)


def test_the_same_rows_are_drawn_each_time() -> None:
    rows = Rows(np.arange(1000)[:, None], np.arange(1000), np.arange(1000.0))
    first, second = rows.sample(10), rows.sample(10)
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.X[:, 0], first.y)
    np.testing.assert_array_equal(first.weight, first.y)
