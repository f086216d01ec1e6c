"""What both stacks promise to anyone who holds one."""

import copy
import json
import pickle
import warnings
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor
from foldwise.engine.events import logger

X, Y = make_regression(60, 4, noise=10, random_state=0)
XC, YC = make_classification(90, 6, n_informative=4, n_classes=3, random_state=0)


def regressors() -> list[tuple[str, Any]]:
    pipe = make_pipeline(StandardScaler(), KNeighborsRegressor(3))
    return [("pipe", pipe), ("tree", DecisionTreeRegressor(max_depth=3, max_features=2))]


def regressor(**options: Any) -> StackingRegressor:
    return StackingRegressor(regressors(), **{"cv": 3, "random_state": 0, **options})


def classifier(**options: Any) -> StackingClassifier:
    learners = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3))]
    return StackingClassifier(learners, **{"cv": 3, "random_state": 0, **options})


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"predict_with": "refit"},
        {"predict_with": "pairs"},
        {"n_repeats": 2},
        {"passthrough": True, "final_estimator": Ridge()},
        {"final_estimator": "mean"},
    ],
)
def test_one_row_is_predicted_like_many(options: dict) -> None:
    stack = regressor(**options).fit(X, Y)
    together = stack.predict(X[:9])
    alone = [stack.predict(X[i : i + 1])[0] for i in range(9)]
    np.testing.assert_allclose(alone, together, rtol=1e-10)


@pytest.mark.parametrize("options", [{}, {"final_estimator": LogisticRegression()}])
def test_one_rows_probabilities_are_those_of_many(options: dict) -> None:
    stack = classifier(**options).fit(XC, YC)
    together = stack.predict_proba(XC[:9])
    alone = [stack.predict_proba(XC[i : i + 1])[0] for i in range(9)]
    np.testing.assert_allclose(alone, together, rtol=1e-10)


def test_the_same_seed_gives_the_same_bits_and_none_gives_others() -> None:
    assert regressor().fit(X, Y).score_ == regressor().fit(X, Y).score_
    assert regressor().fit(X, Y).score_ != regressor(random_state=1).fit(X, Y).score_


@pytest.mark.parametrize("make", [pickle.loads, joblib.load, copy.deepcopy])
def test_a_stored_stack_predicts_the_same(make: Any, tmp_path: Any) -> None:
    stack = classifier().fit(XC, YC)
    if make is pickle.loads:
        again = pickle.loads(pickle.dumps(stack))
    elif make is joblib.load:
        joblib.dump(stack, tmp_path / "stack")
        again = joblib.load(tmp_path / "stack")
    else:
        again = copy.deepcopy(stack)
    np.testing.assert_array_equal(again.predict_proba(XC), stack.predict_proba(XC))
    assert again.score_ == stack.score_
    pd.testing.assert_frame_equal(again.leaderboard_, stack.leaderboard_)


def test_a_deep_copy_still_knows_its_rows() -> None:
    assert np.isfinite(copy.deepcopy(regressor().fit(X, Y)).add("x", Ridge()).score_)


def test_a_grid_search_reaches_learners_and_top() -> None:
    search = GridSearchCV(
        regressor(final_estimator="mean"),
        {
            "tree": ["drop", DecisionTreeRegressor(max_depth=1)],
            "pipe__kneighborsregressor__n_neighbors": [2, 9],
        },
        cv=2,
    ).fit(X, Y)
    assert search.best_params_["tree"] == "drop"
    assert search.best_params_["pipe__kneighborsregressor__n_neighbors"] in (2, 9)


def test_a_grid_search_can_be_a_learner_and_the_top() -> None:
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1000.0]}, cv=2)
    stack = StackingRegressor([("search", search)], search, cv=3, random_state=0).fit(X, Y)
    assert all(m.best_params_["alpha"] == 0.1 for m in stack.named_estimators_["search"].models)
    assert stack.stacker_.best_params_["alpha"] in (0.1, 1000.0)


def test_a_stack_can_be_a_learner_of_a_stack() -> None:
    inner = StackingRegressor([("ridge", Ridge())], "mean", cv=3)
    outer = StackingRegressor([("inner", inner), ("ols", LinearRegression())], "mean", cv=3)
    assert np.isfinite(outer.fit(X, Y).score_)


def test_a_stack_works_in_a_pipeline_and_under_cross_validation() -> None:
    pipe = make_pipeline(StandardScaler(), classifier(final_estimator="mean"))
    assert cross_val_score(pipe, XC, YC, cv=2).mean() > 0.4


def test_weights_reach_the_last_step_of_a_pipeline() -> None:
    pipe = make_pipeline(StandardScaler(), Ridge())
    times = np.random.default_rng(0).integers(1, 3, 60)
    fold = np.arange(60) % 3
    splits = [(fold != i, fold == i) for i in range(3)]
    stack = StackingRegressor([("pipe", pipe)], "mean", cv=splits).fit(X, Y, times)
    for i in range(3):
        scaler = StandardScaler().fit(X[fold != i])
        ridge = Ridge().fit(scaler.transform(X[fold != i]), Y[fold != i], times[fold != i])
        expected = ridge.predict(scaler.transform(X[fold == i]))
        np.testing.assert_allclose(stack.oof_["pipe"][fold == i], expected)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_are_taken_by_name(make: Any) -> None:
    frame = make({name: X[:, i] for i, name in enumerate("abcd")})
    stack = regressor().fit(frame, Y)
    assert list(stack.feature_names_in_) == list("abcd")
    np.testing.assert_allclose(stack.predict(frame), regressor().fit(X, Y).predict(X))
    with pytest.raises(ValueError, match="feature names"):
        stack.predict(frame[list("dcba")])


def test_a_learner_sees_only_its_columns() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    learners = [("few", Ridge(), ["b", "d"]), ("one", Ridge(), ["a"])]
    stack = StackingRegressor(learners, "mean", cv=3, random_state=0).fit(frame, Y)
    fold = stack.deals_[0].lattice.fold_of
    model = Ridge().fit(X[fold != 0][:, [1, 3]], Y[fold != 0])
    expected = model.predict(X[fold == 0][:, [1, 3]])
    np.testing.assert_allclose(stack.oof_["few"][fold == 0], expected)
    numbered = [("few", Ridge(), [1, 3]), ("one", Ridge(), slice(0, 1))]
    same = StackingRegressor(numbered, "mean", cv=3, random_state=0).fit(X, Y)
    np.testing.assert_allclose(same.predict(X), stack.predict(frame))


def test_an_index_with_gaps_or_repeats_does_no_harm() -> None:
    plain = regressor(passthrough=True, final_estimator=Ridge()).fit(X, Y)
    for index in (np.arange(60)[::-1], np.zeros(60, dtype=int)):
        frame = pd.DataFrame(X, columns=list("abcd"), index=index)
        stack = clone(plain).fit(frame, pd.Series(Y, index=np.arange(60)))
        np.testing.assert_allclose(stack.score_, plain.score_)
        assert stack.oof_.index.equals(frame.index)


@pytest.mark.parametrize("make", [regressor, classifier])
def test_names_of_the_transformed_columns_fit_the_columns(make: Any) -> None:
    data = (X, Y) if make is regressor else (XC, YC)
    for passthrough in (False, True, [1, 0]):
        stack = make(passthrough=passthrough, final_estimator="mean").fit(*data)
        names = stack.get_feature_names_out()
        assert stack.transform(data[0]).shape == (len(data[0]), len(names))
        assert len(set(names)) == len(names)


def test_transform_is_the_mean_of_the_deployed_models_in_probabilities() -> None:
    stack = classifier(final_estimator=LogisticRegression()).fit(XC, YC)
    found = stack.transform(XC)
    np.testing.assert_allclose(found[:, :3].sum(axis=1), 1.0)
    np.testing.assert_allclose(found[:, :3], stack.named_estimators_["nb"].predict_proba(XC))


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("layers", [False, True])
def test_the_html_shows_the_learners(fitted: bool, layers: bool) -> None:
    learners: list = [("ridge", Ridge()), ("tree", DecisionTreeRegressor())]
    stack = StackingRegressor(
        [learners, [("ols", LinearRegression())]] if layers else learners, cv=4
    )
    html = (stack.fit(X, Y) if fitted else stack)._repr_html_()
    assert "DecisionTreeRegressor" in html
    assert "Ridge" in repr(stack)


def boosted(kind: type) -> Any:
    return kind(n_estimators=2, min_child_samples=5, n_jobs=1)


def test_nothing_is_printed_unless_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    # Few rows make LightGBM talkative; capfd also hears what C++ prints.
    search = GridSearchCV(LGBMRegressor(n_estimators=2, n_jobs=1), {"num_leaves": [2]}, cv=2)
    learners = [("gbm", LGBMRegressor(n_estimators=2, n_jobs=1)), ("search", search)]
    StackingRegressor(learners, learners[0][1], cv=3).fit(X[:24], Y[:24]).predict(X)
    assert capfd.readouterr() == ("", "")


def test_lines_come_when_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    level = logger.level
    try:
        regressor(verbose=1, final_estimator="mean").fit(X, Y)
    finally:
        logger.setLevel(level)
    lines = [record.getMessage() for record in caplog.records if record.name == "foldwise"]
    assert lines[0] == "StackingRegressor: 12 fits to do"
    assert lines[-2].startswith("StackingRegressor: 12/12 fits, tree")
    assert lines[-1].startswith("StackingRegressor: 12 fits done in ")


@pytest.mark.parametrize(
    "options",
    [
        {"n_repeats": 2},
        {"predict_with": "refit"},
        {"tune": {"tree": {"max_depth": [1, 2]}}},
        {"estimators": [[("a", Ridge()), ("b", Ridge(2.0))], [("c", Ridge())]], "cv": 4},
    ],
    ids=["repeats", "refit", "tuned", "layers"],
)
def test_one_count_for_the_whole_fit(options: dict, caplog: pytest.LogCaptureFixture) -> None:
    level = logger.level
    try:
        stack = regressor().set_params(final_estimator="mean", verbose=1, **options).fit(X, Y)
    finally:
        logger.setLevel(level)
    lines = [record.getMessage() for record in caplog.records if record.name == "foldwise"]
    assert [line for line in lines if "to do" in line] == lines[:1]
    assert f"{stack.n_fits_}/{stack.n_fits_} fits" in lines[-2]


@pytest.mark.parametrize(
    "table", [X, pd.DataFrame(X, columns=list("abcd"))], ids=["array", "frame"]
)
def test_lightgbm_raises_no_warning(table: Any) -> None:
    top = boosted(LGBMRegressor)
    stack = StackingRegressor([("gbm", top)], top, passthrough=True, cv=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stack.fit(table, Y).predict(table)


def test_lightgbm_stacks_several_classes() -> None:
    stack = StackingClassifier([("gbm", boosted(LGBMClassifier))], "mean", cv=3).fit(XC, YC)
    assert stack.predict_proba(XC).shape == (90, 3)


def test_a_fitted_stack_does_not_keep_a_copy_of_x() -> None:
    stack = regressor().fit(X, Y)
    kept = [v for v in vars(stack).values() if isinstance(v, np.ndarray) and v.shape == X.shape]
    assert all(np.shares_memory(v, X) for v in kept)
    assert all(layer.problem.data.X is None for deal in stack.deals_ for layer in deal.layers)


@pytest.mark.parametrize("method", ["predict", "transform", "predict_interval"])
def test_nothing_can_be_asked_before_the_fit(method: str) -> None:
    with pytest.raises(NotFittedError):
        getattr(regressor(), method)(X)


def test_scores_are_plain_numbers() -> None:
    stack = regressor().fit(X, Y)
    assert json.dumps([stack.score_, stack.score_se_, stack.n_fits_, stack.fold_scores_.tolist()])
