"""Estimators whose numbers do not belong together are refused before compiled code sees them."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from foldwise import load, save
from foldwise.errors import InvalidDataError
from tests.files.conftest import X, Y

CODES = np.arange(60) % 3
LEVELS = np.column_stack([CODES, CODES + 1])
WORDS = ["one two", "two three", "three one"]


def histogram() -> HistGradientBoostingRegressor:
    rows = np.column_stack([X[:, :3], CODES])
    return HistGradientBoostingRegressor(
        max_iter=2, min_samples_leaf=5, categorical_features=[3]
    ).fit(rows, Y + CODES)


HONEST = [
    RandomForestClassifier(2, max_depth=2).fit(X, LEVELS),
    DecisionTreeClassifier(max_depth=2).fit(X, CODES),
    RandomForestRegressor(2, max_depth=2).fit(X, Y),
    GradientBoostingClassifier(n_estimators=2).fit(X, CODES),
    histogram(),
    SVC().fit(X, CODES),
    SVR().fit(X, Y),
    KNeighborsRegressor().fit(X, Y),
    KMeans(2, n_init=1, random_state=0).fit(X),
    OneHotEncoder().fit(LEVELS),
    CountVectorizer().fit(WORDS),
]
ATTACKS = [
    (RandomForestRegressor(2, max_depth=2).fit(X, Y), {"n_features_in_": 2}),
    (RandomForestRegressor(2, max_depth=2).fit(X, Y), {"n_outputs_": 2**31}),
    (DecisionTreeClassifier(max_depth=2).fit(X, CODES), {"n_outputs_": 2}),
    (DecisionTreeClassifier(max_depth=2).fit(X, CODES), {"n_classes_": 2**70}),
    (RandomForestClassifier(2, max_depth=2).fit(X, CODES), {"n_classes_": 4}),
    (KNeighborsRegressor().fit(X, Y), {"n_samples_fit_": 61}),
    (DummyRegressor().fit(X, Y), {"n_outputs_": 2**31}),
    (GradientBoostingClassifier(n_estimators=2).fit(X, CODES), {"n_trees_per_iteration_": 1}),
    (histogram(), {"_n_features": 2}),
    (histogram(), {"n_trees_per_iteration_": 5}),
    (SVC().fit(X, CODES), {"_n_support": np.array([10**6, 1, 1], dtype=np.int32)}),
    (SVC().fit(X, CODES), {"_dual_coef_": np.zeros((1, 1))}),
    (SVC().fit(X, CODES), {"_intercept_": np.zeros(1)}),
    (SVR().fit(X, Y), {"support_vectors_": np.zeros((3, 4))}),
    (KNeighborsRegressor().fit(X, Y), {"_fit_X": X[:, :2]}),
    (KMeans(2, n_init=1, random_state=0).fit(X), {"cluster_centers_": np.zeros((2, 1))}),
    (OneHotEncoder().fit(LEVELS), {"_n_features_outs": [1, 10**6]}),
    (CountVectorizer().fit(WORDS), {"vocabulary_": {"one": 10**6}}),
]


@pytest.mark.parametrize("model", HONEST, ids=lambda model: type(model).__name__)
def test_what_belongs_together_is_loaded(model, tmp_path) -> None:
    save(model, tmp_path / "model")
    assert type(load(tmp_path / "model")) is type(model)


@pytest.mark.parametrize(
    ("model", "forged"), ATTACKS, ids=lambda part: "-".join(part) if type(part) is dict else ""
)
def test_what_does_not_is_refused(model, forged, tmp_path) -> None:
    before = {name: getattr(model, name) for name in forged}
    vars(model).update(forged)
    save(model, tmp_path / "forged")
    vars(model).update(before)
    with pytest.raises(InvalidDataError) as error:
        load(tmp_path / "forged")
    assert str(error.value).startswith(
        f"load: file must hold parts that belong together; got a {type(model).__name__} without."
    )


def test_a_split_by_categories_that_are_not_there_is_refused(tmp_path) -> None:
    model = histogram()
    predictor = model._predictors[0][0]
    predictor.nodes["is_categorical"] = 1
    predictor.nodes["bitset_idx"] = 10**6
    save(model, tmp_path / "forged")
    with pytest.raises(InvalidDataError, match="hold trees with the categories they ask for"):
        load(tmp_path / "forged")
