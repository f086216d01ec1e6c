import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestRegressor, StackingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import BaggingRegressor
from foldwise.errors import InvalidParameterError, NoScoreWarning, UnsupportedError

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
