from typing import Any

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRegressor
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold, ShuffleSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC

from foldwise.learners.prepare import (
    aligned,
    fitted,
    prepared,
    respond,
    stops_early_on_given_rows,
    take_rows,
    weight_argument,
)
from foldwise.learners.tasks import TrainingData


class OwnFit(Pipeline):
    def fit(self, X, y):
        return super().fit(X, y)


class OwnWeights(Pipeline):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, ridge__sample_weight=sample_weight)


def test_every_empty_random_state_is_filled_and_no_other():
    learner = make_pipeline(PCA(random_state=3), RandomForestRegressor())
    model = prepared(learner, 7)
    assert model[0].random_state == 3
    assert model[1].random_state == 7
    assert learner[1].random_state is None
    assert prepared(learner, None)[1].random_state is None


@pytest.mark.parametrize(
    ("splitter", "seeded"),
    [
        (KFold(shuffle=True), 7),
        (ShuffleSplit(), 7),
        (RepeatedKFold(), 7),
        (KFold(shuffle=True, random_state=3), 3),
        (KFold(), None),
    ],
)
def test_the_seed_reaches_splitters_inside_a_learner(splitter, seeded):
    learner = make_pipeline(PCA(), GridSearchCV(Ridge(), {}, cv=splitter))
    before = splitter.random_state
    assert prepared(learner, 7)[1].cv.random_state == seeded
    assert prepared(learner, None)[1].cv.random_state == before
    assert splitter.random_state == before


class CopiesItsList(BaseEstimator):
    """As CatBoost does, which scikit-learn's clone refuses."""

    def __init__(self, cat_features=None, verbose=False):
        self.cat_features = None if cat_features is None else list(cat_features)
        self.verbose = verbose

    def fit(self, X, y):
        self.fitted_ = True
        return self


def test_a_cat_boost_model_that_copies_a_list_is_cloned_bare_and_in_a_pipeline(monkeypatch):
    learner = CopiesItsList([0]).fit(None, None)
    with pytest.raises(RuntimeError, match="Cannot clone"):
        prepared(learner, 7)
    monkeypatch.setattr(CopiesItsList, "__module__", "catboost.core")
    for model in (prepared(learner, 7), prepared(make_pipeline(PCA(), learner), 7)[1]):
        assert model is not learner
        assert model.cat_features == [0]
        assert not hasattr(model, "fitted_")
    assert "__sklearn_clone__" not in vars(learner)


def test_light_gbm_prints_nothing_unless_told_to():
    assert prepared(LGBMRegressor(), None).get_params()["verbosity"] == -1
    assert prepared(make_pipeline(PCA(), LGBMRegressor()), 0)[1].get_params()["verbosity"] == -1
    assert "verbosity" not in prepared(LGBMRegressor(verbose=2), None).get_params()


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (Ridge(), "sample_weight"),
        (KNeighborsRegressor(), None),
        (make_pipeline(PCA(), Ridge()), "ridge__sample_weight"),
        (make_pipeline(PCA(), make_pipeline(PCA(), Ridge())), "pipeline__ridge__sample_weight"),
        (make_pipeline(PCA(), KNeighborsRegressor()), None),
        (GridSearchCV(Ridge(), {}), "sample_weight"),
        (GridSearchCV(make_pipeline(PCA(), Ridge()), {}), "ridge__sample_weight"),
        (GridSearchCV(KNeighborsRegressor(), {}), None),
        (GridSearchCV(RandomForestRegressor(), {}), "sample_weight"),
        (TransformedTargetRegressor(BaggingRegressor()), "sample_weight"),
        (OwnFit([("ridge", Ridge())]), None),
        (OwnWeights([("ridge", Ridge())]), "sample_weight"),
        (TransformedTargetRegressor(Ridge()), "sample_weight"),
        (VotingRegressor([("ridge", Ridge())]), "sample_weight"),
        (CalibratedClassifierCV(SVC()), "sample_weight"),
    ],
)
def test_weights_go_where_the_learner_takes_them(learner, name):
    assert weight_argument(learner) == name


@pytest.mark.parametrize("kind", ["pipeline", "search", "transformed"])
def test_the_named_argument_does_weight_the_fit(kind):
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(60, 2)), rng.normal(size=60), np.repeat([0.0, 1.0], 30)
    learner = {
        "pipeline": make_pipeline(PCA(), LinearRegression()),
        "search": GridSearchCV(
            make_pipeline(PCA(), LinearRegression()), {}, cv=[(X[:, 0] < 9,) * 2]
        ),
        "transformed": TransformedTargetRegressor(LinearRegression()),
    }[kind]
    learner.fit(X, y, **{weight_argument(learner): weight})
    expected = LinearRegression().fit(X[30:], y[30:])
    np.testing.assert_allclose(learner.predict(X), expected.predict(X), atol=1e-10)


def test_early_stopping_is_noticed_only_where_rows_must_be_given():
    assert stops_early_on_given_rows(LGBMRegressor(early_stopping_rounds=5))
    for alias in ("early_stopping_round", "early_stopping", "n_iter_no_change"):
        assert stops_early_on_given_rows(LGBMRegressor(**{alias: 5}))
    assert not stops_early_on_given_rows(LGBMRegressor())
    assert not stops_early_on_given_rows(LGBMRegressor(early_stopping_rounds=-1))
    assert not stops_early_on_given_rows(MLPRegressor(early_stopping=True))


def test_absent_classes_get_a_small_share_and_rows_still_sum_to_one():
    values = np.array([[0.9, 0.1], [0.3, 0.7]])
    full = aligned(values, np.array([1, 3]), 4, 16, "predict_proba")
    np.testing.assert_allclose(full.sum(axis=1), 1)
    np.testing.assert_allclose(full[:, [0, 2]], 1 / 20)
    np.testing.assert_allclose(full[:, 1] / full[:, 3], values[:, 0] / values[:, 1])


def test_absent_classes_get_the_smallest_decision_value():
    full = aligned(np.array([[2.0, -1.0]]), np.array([0, 2]), 3, 10, "decision_function")
    np.testing.assert_array_equal(full, [[2.0, -1.0, -1.0]])


def test_nothing_changes_where_all_classes_are_seen():
    values = np.array([[0.9, 0.1]])
    assert aligned(values, np.array([0, 1]), 2, 10, "predict_proba") is values


FRAME = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, 1.0, 0.0]})


def test_a_model_made_from_numbers_predicts_and_knows_its_columns():
    learner = Ridge()
    model = fitted(learner, FRAME, 5, {"coef_": np.array([1.0, 10.0]), "intercept_": 0.5})
    assert list(model.feature_names_in_) == ["a", "b"]
    assert model.n_features_in_ == 2
    assert model.random_state == 5
    np.testing.assert_array_equal(model.predict(FRAME), [10.5, 11.5, 2.5])
    assert not hasattr(learner, "coef_")


@pytest.mark.parametrize("kind", ["array", "frame", "several", "columns"])
def test_many_rows_are_taken_as_few_are(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(100, 3))
    table: Any = {
        "array": X,
        "frame": pd.DataFrame(X, columns=list("abc"), index=np.arange(100) * 2),
        "several": pd.DataFrame({"a": X[:, 0], "b": X[:, 1]}),
        "columns": pd.DataFrame(np.asfortranarray(X)),
    }[kind]
    rows = np.array([3, 4, 50, 99, 7])
    few = take_rows(table, rows)
    for name in ("BLOCK_BYTES", "PART_BYTES"):
        monkeypatch.setattr(f"foldwise.learners.prepare.{name}", 50)
    many = take_rows(table, rows)
    if kind == "array":
        assert (many == X[rows]).all()
    else:
        pd.testing.assert_frame_equal(many, few)
        pd.testing.assert_frame_equal(many, table.iloc[rows])
    assert not np.shares_memory(np.asarray(many), X)


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_trees_of_a_forest_answer_as_the_forest(kind):
    X = np.random.default_rng(0).normal(size=(80, 3))
    model = kind(7, random_state=0).fit(X, X[:, 0] ** 2)
    for rows in (X, X.astype(np.float32), X[:1], np.asfortranarray(X)):
        said = respond(model, rows, "predict", TrainingData(X, X[:, 0]), 80)
        np.testing.assert_array_equal(said[:, 0], model.predict(rows))


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_of_a_forest_give_its_probabilities(kind, n_classes):
    X = np.random.default_rng(0).normal(size=(80, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5][: n_classes - 1])
    model = kind(7, max_depth=3, random_state=0).fit(X, y)
    data = TrainingData(X, y, None, n_classes)
    np.testing.assert_array_equal(
        respond(model, X, "predict_proba", data, 80), model.predict_proba(X)
    )
    np.testing.assert_array_equal(respond(model, X, "predict", data, 80)[:, 0], model.predict(X))


def test_a_forest_that_answers_in_threads_is_asked_itself(monkeypatch):
    X = np.random.default_rng(0).normal(size=(80, 3))
    model = ExtraTreesRegressor(3, n_jobs=2, random_state=0).fit(X, X[:, 0])
    monkeypatch.setattr(model, "predict", lambda rows: np.zeros(len(rows)), raising=False)
    assert not respond(model, X, "predict", TrainingData(X, X[:, 0]), 80).any()
    model.n_jobs = None
    assert respond(model, X, "predict", TrainingData(X, X[:, 0]), 80).any()


def test_a_forest_refuses_what_it_refuses():
    X = np.random.default_rng(0).normal(size=(80, 3))
    model = ExtraTreesRegressor(3, random_state=0).fit(X, X[:, 0])
    data = TrainingData(X, X[:, 0])
    for rows, said in (
        (X[:, :2], "features"),
        (X[:0], "sample"),
        (np.where(X > 0, np.inf, X), "infinity"),
    ):
        with pytest.raises(ValueError, match=said):
            respond(model, rows, "predict", data, 80)
    with_nan = np.where(X > 1, np.nan, X)
    holes = ExtraTreesRegressor(3, random_state=0).fit(with_nan, X[:, 0])
    said = respond(holes, with_nan, "predict", data, 80)[:, 0]
    np.testing.assert_array_equal(said, holes.predict(with_nan))
