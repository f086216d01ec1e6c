import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestRegressor, StackingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import BaggingClassifier, BaggingRegressor
from foldwise.errors import InvalidParameterError, NoScoreWarning, UnsupportedError
from foldwise.learners.one_learner import input_for
from foldwise.resample.draws import TARGET_SCHEMES, new_numbers

WEIGHTS_DIFFER = {
    "check_sample_weight_equivalence_on_dense_data": "rows are drawn by weight",
    "check_sample_weight_equivalence_on_sparse_data": "rows are drawn by weight",
}


@parametrize_with_checks(
    [BaggingRegressor(n_estimators=5)], expected_failed_checks=lambda _: WEIGHTS_DIFFER
)
def test_scikit_learns_checks_pass(estimator, check) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def friedman() -> tuple[np.ndarray, np.ndarray]:
    return make_friedman1(300, noise=1.0, random_state=0)


def test_a_random_forest_is_the_special_case_in_law() -> None:
    # Ten seeds each on one data set: the mean errors agree within their standard errors.
    X, y = make_friedman1(1200, noise=1.0, random_state=0)
    X, y, X_new, y_new = X[:300], y[:300], X[300:], y[300:]

    def errors(make):
        return [np.mean((y_new - make(s).fit(X, y).predict(X_new)) ** 2) for s in range(10)]

    ours = errors(lambda s: BaggingRegressor(n_estimators=40, split_features=3, random_state=s))
    theirs = errors(
        lambda s: RandomForestRegressor(n_estimators=40, max_features=3, random_state=s)
    )
    spread = np.hypot(np.std(ours, ddof=1), np.std(theirs, ddof=1)) / np.sqrt(10)
    assert abs(np.mean(ours) - np.mean(theirs)) < 3 * spread


@pytest.mark.parametrize("sampling", ["bootstrap", "subsample", "bayesian"])
def test_bagging_beats_its_learner(friedman, sampling) -> None:
    X, y = friedman
    model = BaggingRegressor(n_estimators=30, sampling=sampling, max_samples=0.7, random_state=0)
    single = BaggingRegressor(n_estimators=1, sampling=sampling, max_samples=0.7, random_state=0)
    X_new, y_new = make_friedman1(500, random_state=1)
    assert model.fit(X, y).score(X_new, y_new) > single.fit(X, y).score(X_new, y_new)


def test_the_parametric_bootstrap_of_a_linear_model_gives_the_theoretical_errors() -> None:
    # 800 draws know a standard error to 1/√1600 = 2.5 %; σ̂ from folds is about 1 % high.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=200)
    model = BaggingRegressor(LinearRegression(), 800, sampling="parametric", random_state=0)
    coefficients = np.array([m.coef_ for m in model.fit(X, y).estimators_])
    fitted = LinearRegression().fit(X, y)
    sigma2 = np.sum((y - fitted.predict(X)) ** 2) / (200 - 4)
    centred = X - X.mean(axis=0)
    theory = np.sqrt(sigma2 * np.linalg.inv(centred.T @ centred).diagonal())
    np.testing.assert_allclose(coefficients.std(axis=0, ddof=1), theory, rtol=0.08)
    np.testing.assert_allclose(coefficients.mean(axis=0), fitted.coef_, atol=5 * theory.max() / 31)
    residual = model.set_params(sampling="residual").fit(X, y)
    spread = np.std([m.coef_ for m in residual.estimators_], axis=0, ddof=1)
    np.testing.assert_allclose(spread, theory, rtol=0.08)


def test_noise_injection_uses_the_noise_given(friedman) -> None:
    X, y = friedman
    model = BaggingRegressor(
        LinearRegression(), 200, sampling="noise", noise=2.0, random_state=0
    ).fit(X, y)
    fitted = LinearRegression().fit(X, y)
    centred = X - X.mean(axis=0)
    theory = 2.0 * np.sqrt(np.linalg.inv(centred.T @ centred).diagonal())
    spread = np.std([m.coef_ for m in model.estimators_], axis=0, ddof=1)
    np.testing.assert_allclose(spread, theory, rtol=0.25)
    np.testing.assert_allclose(model.predict(X), fitted.predict(X), atol=0.2)


def test_out_of_bag_tells_the_error_on_new_rows() -> None:
    X, y = make_friedman1(2000, noise=1.0, random_state=0)
    model = BaggingRegressor(n_estimators=50, oob_score=True, random_state=0)
    model.fit(X[:500], y[:500])
    assert model.oob_score_ == pytest.approx(model.score(X[500:], y[500:]), abs=0.06)
    assert 0.005 < model.oob_score_se_ < 0.03
    assert not np.isnan(model.oob_prediction_).any()


def test_groups_are_drawn_whole() -> None:
    # Each group has its own level: only whole groups left out give an honest score.
    rng = np.random.default_rng(0)
    groups = np.arange(200) // 10
    X = np.column_stack([groups, rng.normal(size=200)])
    y = rng.normal(size=20)[groups]
    model = BaggingRegressor(n_estimators=40, oob_score=True, random_state=0)
    assert model.fit(X, y).oob_score_ > 0.9
    assert model.fit(X, y, groups=groups).oob_score_ < 0.3
    assert model.draws_.n_units == 20


def test_each_learner_reads_its_subspace(friedman) -> None:
    X, y = friedman
    model = BaggingRegressor(n_estimators=10, max_features=0.3, random_state=0).fit(X, y)
    assert {len(columns) for columns in model.estimators_features_} == {3}
    assert len({tuple(columns) for columns in model.estimators_features_}) > 1
    whole = BaggingRegressor(n_estimators=2, random_state=0).fit(X, y)
    assert whole.estimators_features_[0].tolist() == list(range(10))


def test_intervals_of_the_parametric_bootstrap_are_those_of_theory() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 1))
    y = X[:, 0] + rng.normal(size=100)
    model = BaggingRegressor(LinearRegression(), 500, sampling="parametric", random_state=0)
    low, high = model.fit(X, y).confidence_interval([[0.0]], 0.9)[0]
    half = 1.645 * np.std(y - model.predict(X)) / 10
    assert (high - low) / 2 == pytest.approx(half, rel=0.1)


def test_the_variance_curve_is_the_variances(friedman) -> None:
    X, y = friedman
    model = BaggingRegressor(n_estimators=50, random_state=0).fit(X, y)
    curve = model.variance_curve(X[:20], [1, 50])
    assert curve.n_learners.tolist() == [1, 50]
    assert curve.variance[0] == pytest.approx(curve.sigma2)
    assert 0 <= curve.rho <= 1


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_result_does_not_depend_on_the_workers(friedman, n_jobs) -> None:
    X, y = friedman
    model = BaggingRegressor(n_estimators=15, random_state=0, n_jobs=n_jobs).fit(X, y)
    expected = BaggingRegressor(n_estimators=15, random_state=0).fit(X, y).predict(X)
    np.testing.assert_array_equal(model.predict(X), expected)


def test_weights_draw_the_rows_like_repetition_on_average(friedman) -> None:
    X, y = friedman
    weight = np.random.default_rng(0).integers(0, 4, size=300)
    model = BaggingRegressor(LinearRegression(), 300, random_state=0)
    weighted = model.fit(X, y, sample_weight=weight).predict(X)
    repeated = model.fit(X.repeat(weight, axis=0), y.repeat(weight)).predict(X)
    np.testing.assert_allclose(weighted, repeated, atol=0.25)  # y has a spread of 5
    plain = model.fit(X, y).predict(X)
    assert np.abs(weighted - repeated).max() < np.abs(weighted - plain).max()


def test_it_stacks_like_any_learner(friedman) -> None:
    X, y = friedman
    stack = StackingRegressor([("bag", BaggingRegressor(n_estimators=5)), ("ridge", Ridge())])
    assert stack.fit(X, y).score(X, y) > 0.7


def test_frames_reach_pipelines_as_they_are() -> None:
    kinds = np.array(["a", "b"] * 30)
    learner = make_pipeline(make_column_transformer((OneHotEncoder(), ["kind"])), Ridge())
    for table in [pd.DataFrame({"kind": kinds}), pl.DataFrame({"kind": kinds})]:
        model = BaggingRegressor(learner, 5, random_state=0).fit(table, (kinds == "a") * 1.0)
        assert model.score(table, (kinds == "a") * 1.0) > 0.95
        assert model.feature_names_in_.tolist() == ["kind"]


def test_one_row_and_constant_targets_are_predicted_as_they_are() -> None:
    assert BaggingRegressor(n_estimators=3).fit([[1.0]], [2.0]).predict([[5.0]]).tolist() == [2.0]
    model = BaggingRegressor(n_estimators=3, oob_score=True, random_state=0)
    model.fit(np.arange(10.0)[:, None], np.ones(10))
    assert (model.predict([[3.0]]), model.oob_score_) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"estimator": KNeighborsRegressor(), "sampling": "bayesian"},
            "BaggingRegressor: estimator must take sample_weight in fit for sampling='bayesian'; "
            "got KNeighborsRegressor. Use sampling='bootstrap'.",
        ),
        (
            {"estimator": Ridge(), "split_features": 2},
            "BaggingRegressor: estimator must be a tree with max_features to draw features at "
            "each split; got Ridge. Use max_features to draw them for each learner.",
        ),
    ],
)
def test_what_a_learner_cannot_do_is_said(changes, message) -> None:
    with pytest.raises(UnsupportedError) as caught:
        BaggingRegressor(**changes).fit([[0.0], [1.0]], [0.0, 1.0])
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sampling": "boostrap"}, "got 'boostrap'. Did you mean 'bootstrap'"),
        ({"max_samples": 0.0}, "max_samples must be a number above 0 and at most 1; got 0.0"),
        ({"max_samples": 0}, "max_samples must be a whole number of at least 1; got 0"),
        ({"noise": -1.0, "sampling": "noise"}, "noise must be a number above 0; got -1.0"),
        ({"sampling": "noise", "oob_score": True}, "must draw rows for groups and for the out-of"),
        ({"sampling": "bayesian", "oob_score": True}, "oob_score must be False for sampling='bay"),
    ],
)
def test_bad_parameters_are_named(changes, words) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        BaggingRegressor(**changes).fit([[0.0], [1.0]], [0.0, 1.0])
    assert words in str(caught.value)


def test_weights_need_a_weighted_learner_unless_rows_are_drawn_by_them() -> None:
    X, y = np.arange(20.0)[:, None], np.arange(20.0)
    model = BaggingRegressor(KNeighborsRegressor(2), 3, random_state=0)
    assert model.fit(X, y, sample_weight=np.ones(20)).predict(X).shape == (20,)
    with pytest.raises(UnsupportedError, match="when weights are given with sampling='subsample'"):
        model.set_params(sampling="subsample").fit(X, y, sample_weight=np.ones(20))


def test_no_rho_without_rows_left_out(friedman) -> None:
    X, y = friedman
    model = BaggingRegressor(n_estimators=3, sampling="subsample", random_state=0).fit(X, y)
    with pytest.raises(UnsupportedError, match="sampling must leave rows out or weight them"):
        model.variance(X)


def test_no_row_left_out_is_a_warning(friedman) -> None:
    X, y = friedman
    model = BaggingRegressor(n_estimators=3, sampling="subsample", oob_score=True, random_state=0)
    message = (
        "BaggingRegressor: every learner had every row, so oob_score_ is NaN. "
        "Use more learners or a smaller max_samples."
    )
    with pytest.warns(NoScoreWarning) as caught:
        model.fit(X, y)
    assert str(caught[0].message) == message
    assert np.isnan(model.oob_score_)


def test_rows_of_weight_zero_are_neither_drawn_nor_scored(friedman) -> None:
    X, y = friedman
    weight = (np.arange(300) < 200).astype(float)
    spoiled = np.where(weight > 0, y, 1e6)
    model = BaggingRegressor(n_estimators=20, oob_score=True, random_state=0)
    model.fit(X, spoiled, sample_weight=weight)
    assert model.predict(X).max() < 100
    assert model.oob_score_ > 0.4


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        BaggingRegressor(n_estimators=5, oob_score=True),
        BaggingRegressor(Ridge(), 5, max_samples=0.5, max_features=2, oob_score=True),
        BaggingRegressor(n_estimators=5, sampling="subsample", max_samples=0.6, oob_score=True),
        BaggingRegressor(Ridge(), 5, sampling="bayesian"),
        BaggingRegressor(Ridge(), 5, sampling="parametric"),
        BaggingRegressor(Ridge(), 5, sampling="residual"),
        BaggingRegressor(Ridge(), 5, sampling="noise"),
        BaggingClassifier(n_estimators=5, oob_score=True),
        BaggingClassifier(LogisticRegression(), 5, sampling="parametric"),
    ],
    ids=lambda model: str(model)[:90].replace("\n", ""),
)
def test_rows_of_weight_zero_change_nothing(model, grouped) -> None:
    if grouped and model.sampling in TARGET_SCHEMES:
        pytest.skip("new targets take no groups")
    rng = np.random.default_rng(0)
    X, classes = rng.normal(size=(60, 4)), is_classifier(model)
    y = X[:, 0] + rng.normal(size=60)
    y = np.array(["a", "b", "c"])[np.digitize(y, [-0.5, 0.5])] if classes else y
    weight = rng.integers(0, 3, size=60) * rng.random(60)
    groups, some = np.arange(60) // 2 if grouped else None, weight > 0
    X_bad, y_bad = X.copy(), y.astype("<U4" if classes else float)
    X_bad[~some], y_bad[~some] = np.nan, "none" if classes else np.inf
    whole = clone(model).set_params(random_state=0).fit(X_bad, y_bad, weight, groups)
    left = None if groups is None else groups[some]
    part = model.set_params(random_state=0).fit(X[some], y[some], weight[some], left)
    assert np.array_equal(whole.predict(X), part.predict(X))
    if model.oob_score:
        name = "oob_decision_function_" if classes else "oob_prediction_"
        assert np.isnan(getattr(whole, name)[~some]).all()
        np.testing.assert_array_equal(getattr(whole, name)[some], getattr(part, name))
        assert whole.oob_score_ == part.oob_score_


@pytest.mark.parametrize("sampling", ["parametric", "residual", "noise"])
def test_the_noise_of_new_targets_is_that_of_the_weighted_rows(sampling) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1))
    y = X[:, 0] + np.where(np.arange(400) < 200, 0.1, 10.0) * rng.normal(size=400)
    weight = np.repeat([1.0, 1e-9], 200)
    table = input_for(X, [Ridge()])
    draw = new_numbers(sampling, Ridge(), table, y, weight, None, 0)
    centre = y if sampling == "noise" else Ridge().fit(X, y, weight).predict(X)
    assert (draw(rng) - centre).std() == pytest.approx(0.1, rel=0.2)


@pytest.mark.parametrize("sampling", ["bootstrap", "subsample"])
@pytest.mark.parametrize("grouped", [False, True])
def test_no_member_votes_on_a_row_that_it_saw(sampling, grouped) -> None:
    # A row's own target, and those of the copies in its group, cannot move what is said of it.
    rng = np.random.default_rng(0)
    X, y = np.repeat(rng.random((20, 2)), 2, axis=0), np.repeat(rng.random(20), 2)
    weight, groups = rng.integers(1, 4, size=40).astype(float), np.repeat(np.arange(20), 2)
    model = BaggingRegressor(
        n_estimators=20, sampling=sampling, max_samples=0.5, oob_score=True, random_state=0
    )

    def said(y):
        return model.fit(X, y, weight, groups if grouped else None).oob_prediction_

    before = said(y)
    for row in range(0, 40, 7):
        own = groups == groups[row] if grouped else np.arange(40) == row
        after = said(np.where(own, 1e6, y))
        np.testing.assert_array_equal(after[own], before[own])
        assert not np.array_equal(after, before)


def test_a_forest_knows_its_features(friedman) -> None:
    X, y = friedman
    ours = BaggingRegressor(n_estimators=30, split_features=3, random_state=0).fit(X, y)
    theirs = RandomForestRegressor(30, max_features=3, random_state=0).fit(X, y)
    assert ours.feature_importances_.sum() == pytest.approx(1)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=0.04)
    assert not hasattr(BaggingRegressor(Ridge(), 3).fit(X, y), "feature_importances_")
    some = BaggingRegressor(n_estimators=1, max_features=2, random_state=0).fit(X, y)
    unread = np.delete(some.feature_importances_, some.estimators_features_[0])
    assert not unread.any()


@pytest.mark.parametrize(("asked", "got"), [(1, 1), (3, 3), (10, 10), (0.25, 2), (1.0, 10)])
def test_a_number_of_columns_may_be_asked_for(friedman, asked, got) -> None:
    X, y = friedman
    model = BaggingRegressor(Ridge(), 2, max_features=asked, random_state=0).fit(X, y)
    assert [len(columns) for columns in model.estimators_features_] == [got, got]


def test_more_columns_than_there_are_are_refused(friedman) -> None:
    with pytest.raises(InvalidParameterError, match=r"number of columns, 10; got 11\. Use 1\.0"):
        BaggingRegressor(Ridge(), 2, max_features=11).fit(*friedman)


def test_learners_of_the_other_task_are_refused(friedman) -> None:
    X, y = friedman
    with pytest.raises(UnsupportedError, match="be a regressor; got the classifier LogisticRegre"):
        BaggingRegressor(LogisticRegression()).fit(X, y)
    with pytest.raises(UnsupportedError, match="BaggingClassifier: estimator must be a classifier"):
        BaggingClassifier(make_pipeline(Ridge())).fit(X, y > 15)
    with pytest.raises(UnsupportedError, match="generator must be a regressor"):
        BaggingRegressor(sampling="parametric", generator=LogisticRegression()).fit(X, y)
