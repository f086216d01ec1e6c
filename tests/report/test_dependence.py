from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.inspection import partial_dependence as reference
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC

from foldwise import StackingClassifier
from foldwise.report.dependence import dependence_figures, partial_dependence, prediction
from tests.report.conftest import classes
from tests.report.drawn import texts


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
