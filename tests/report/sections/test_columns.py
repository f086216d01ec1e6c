from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.inspection import partial_dependence as reference
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC

from foldwise import StackingClassifier, StackingRegressor
from foldwise.report.sections.columns import (
    MOST_SHUFFLED,
    ReportRows,
    as_numbers,
    columns_section,
    dependence_figures,
    influential,
    partial_dependence,
    prediction,
    scorer_of,
    training_rows,
)
from foldwise.report.stack_values import stack_values
from foldwise.scores.metric import as_metric
from tests.report.conftest import classes, friedman
from tests.report.drawn import texts

RMSE = as_metric(None, owner="x", classify=False, has_probabilities=False)


def test_the_column_that_matters_is_the_first_bar(regression: StackingRegressor) -> None:
    X, y = friedman()
    section = columns_section(regression, ReportRows(X, y), RMSE)
    names = [t for t in texts(section.blocks[0].figures[0].drawing) if t.startswith("input")]
    assert set(names[:3]) <= {"input 0", "input 1", "input 3"}
    assert section.lead.startswith(f"Most depends on {names[0]}, {names[1]} and {names[2]}, ")


def test_training_rows_are_named_as_such(regression: StackingRegressor) -> None:
    X, y = friedman()
    assert "training rows" in columns_section(regression, ReportRows(X, y, seen=True), RMSE).lead
    assert "training rows" not in columns_section(regression, ReportRows(X, y), RMSE).lead


def test_of_many_columns_those_are_shuffled_that_predictions_follow() -> None:
    X = np.random.default_rng(0).normal(size=(300, 400))
    y = 3 * X[:, 7] + 2 * X[:, 350]
    places = influential(X, y[:, None], 20)
    assert {7, 350} <= set(places.tolist())
    np.testing.assert_array_equal(
        places, influential(sparse.csr_array(X), y[:, None], 20), "sparse as dense"
    )
    model = LinearRegression().fit(X, y)
    lead = columns_section(model, ReportRows(X, y), RMSE).lead
    assert f"Of 400 columns the {MOST_SHUFFLED} that follow the predictions most" in lead


def test_a_slow_model_has_fewer_columns_shuffled() -> None:
    X = np.random.default_rng(0).normal(size=(60, 40))
    model = LinearRegression().fit(X, X[:, 0])
    assert (
        "the 5 that" in columns_section(model, ReportRows(X, X[:, 0]), RMSE, seconds_a_row=1.0).lead
    )


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
    section = columns_section(
        multiclass, ReportRows(X[some], strange), stack_values(multiclass).metric
    )
    known = int((strange != "never seen").sum())
    assert f"of {known} rows of the rows given" in section.lead
    assert (
        columns_section(
            multiclass, ReportRows(X, np.full(len(y), "?")), stack_values(multiclass).metric
        )
        is None
    )


@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy", "roc_auc", "balanced_accuracy"])
def test_our_scorer_is_scikit_learns_where_every_class_is_there(scoring: str) -> None:
    X, y = classes(2)
    model = LogisticRegression().fit(X, y)
    metric = as_metric(scoring, owner="x", classify=True, has_probabilities=True)
    expected = get_scorer(scoring)(model, X, y)
    assert scorer_of(metric)(model, X, y) == pytest.approx(expected, rel=1e-9)


def test_the_same_rows_are_drawn_each_time() -> None:
    rows = ReportRows(np.arange(1000)[:, None], np.arange(1000), np.arange(1000.0))
    first, second = rows.sample(10), rows.sample(10)
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.X[:, 0], first.y)
    np.testing.assert_array_equal(first.weight, first.y)


def test_training_rows_have_their_targets_as_the_user_knows_them(
    binary: StackingClassifier,
) -> None:
    rows = training_rows(stack_values(binary))
    assert rows.seen
    np.testing.assert_array_equal(rows.y, classes(2)[1])


def as_kind(X: np.ndarray, kind: str) -> Any:
    names = [f"x{i}" for i in range(X.shape[1])]
    if kind == "pandas":
        return pd.DataFrame(X, columns=names)
    if kind == "polars":
        return pl.DataFrame(X, schema=names)
    return sparse.csr_array(X) if kind == "sparse" else X


@pytest.mark.parametrize("kind", ["numpy", "pandas", "polars", "sparse"])
def test_partial_dependence_is_scikit_learns_for_any_table(kind: str) -> None:
    X = np.random.default_rng(0).normal(size=(80, 3))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    table = as_kind(X, kind)
    _, found = partial_dependence(LinearRegression().fit(table, y), table, [2, 1])
    model = LinearRegression().fit(X, y)
    expected = reference(model, X, [1], custom_values={1: np.array(found.values)}, method="brute")[
        "average"
    ][0]
    np.testing.assert_allclose(found.means[:, 0], expected, rtol=1e-6)
    assert found.values == sorted(found.values)


def test_words_and_few_numbers_are_tried_as_they_are() -> None:
    frame = pd.DataFrame({"town": ["Rome", "Bonn", "Rome", None], "n": [1, 2, 2, 1]})

    class Length:
        def predict(self, X: pd.DataFrame) -> np.ndarray:
            return X["town"].str.len().fillna(0).to_numpy() + 10.0 * X["n"].to_numpy()

        def __sklearn_tags__(self) -> Any:
            return LinearRegression().__sklearn_tags__()

    towns, numbers = partial_dependence(Length(), frame, [0, 1])
    assert dict(zip(towns.values, towns.means[:, 0], strict=True)) == {
        "Bonn": 19.0,
        "Rome": 19.0,
        "nan": 15.0,
    }
    assert numbers.values == [1.0, 2.0]
    np.testing.assert_allclose(np.diff(numbers.means[:, 0]), [10.0])


def test_several_classes_have_a_line_each(multiclass: StackingClassifier) -> None:
    X, y = classes(4)
    (figure,) = dependence_figures(multiclass, X, y, {1: "b"})
    assert sum(t.startswith("kind") for t in texts(figure.drawing)) == 3


def test_two_classes_have_one_line_for_the_second(binary: StackingClassifier) -> None:
    X, y = classes(2)
    (figure,) = dependence_figures(binary, X, y, {1: "b"})
    assert "probability of kind 1" in texts(figure.drawing)
    assert dependence_figures(binary, X, y, {}) == []


def test_labels_alone_become_certainties() -> None:
    X, y = classes(2)
    model = LinearSVC(random_state=0).fit(X, y)
    assert set(np.unique(prediction(model, X))) == {0.0, 1.0}
    np.testing.assert_allclose(
        prediction(LogisticRegression().fit(X, y), X).sum(axis=1), 1.0, rtol=1e-12
    )


def test_words_are_bars_with_their_names_in_full() -> None:
    towns = np.array(["Amsterdam Centrum", "Rotterdam", "Utrecht"], dtype=object)
    frame = pd.DataFrame({"town": np.tile(towns, 10), "n": np.arange(30.0)})
    model = make_pipeline(OneHotEncoder(), Ridge()).fit(frame[["town"]], np.arange(30.0))
    (figure,) = dependence_figures(model, frame[["town"]], np.arange(30.0), {0: "town"})
    assert set(towns) <= set(texts(figure.drawing))
    assert "mean prediction" in texts(figure.drawing)
