import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, Ridge, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise.learners import NodeTask, TrainingData, linear
from foldwise.learners.general import fit_generally
from learners.lattices import LATTICES, assert_agrees, by_shortcut, plain

LEARNERS = {
    "least squares": LinearRegression(),
    "least squares, no intercept": LinearRegression(fit_intercept=False),
    "ridge": Ridge(2.0),
    "ridge, no intercept": Ridge(fit_intercept=False),
    "ridge by svd": Ridge(solver="svd"),
    "scaled least squares": make_pipeline(StandardScaler(), LinearRegression()),
    "scaled ridge": make_pipeline(StandardScaler(), Ridge(10.0)),
    "not centred": make_pipeline(StandardScaler(with_mean=False), Ridge()),
    "not divided": make_pipeline(StandardScaler(with_std=False), Ridge(fit_intercept=False)),
}


def problem(n=160, p=4, q=None, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + rng.normal(size=p)
    y = X @ rng.normal(size=(p, q or 1)) + rng.normal(size=(n, q or 1))
    weight = rng.exponential(size=n) * (rng.random(n) > 0.2) if weighted else None
    return TrainingData(X, y if q else y[:, 0], weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_targets", [None, 1, 3])
@pytest.mark.parametrize("name", LEARNERS)
def test_agrees_with_the_general_way(name, n_targets, weighted):
    assert_agrees(LEARNERS[name], problem(q=n_targets, weighted=weighted), plain(160))


@pytest.mark.parametrize("deal", LATTICES)
@pytest.mark.parametrize("name", ["least squares", "scaled ridge"])
def test_agrees_on_every_kind_of_lattice(name, deal):
    assert_agrees(LEARNERS[name], problem(weighted=True), LATTICES[deal](160))


def test_agrees_on_triples():
    assert_agrees(Ridge(), problem(), plain(160, 5, depth=3))


def test_penalties_may_differ_between_targets():
    assert_agrees(Ridge(np.array([0.1, 1.0, 100.0])), problem(q=3), plain(160))
    assert_agrees(Ridge(np.array([3.0])), problem(q=3), plain(160))


@pytest.mark.parametrize("offset", [1e3, 1e6, -1e8])
@pytest.mark.parametrize("name", ["least squares", "ridge", "scaled ridge"])
def test_agrees_far_from_the_origin(name, offset):
    # The predictions of scikit-learn lose digits here, as the intercept is of size 1e8 and
    # more; the tolerance allows for that much and no more.
    data = problem()
    far = TrainingData(data.X + offset, data.y)
    assert_agrees(LEARNERS[name], far, plain(160), relative=max(1e-8, 1e-15 * abs(offset)))


def test_targets_far_from_zero_agree():
    data = problem()
    assert_agrees(Ridge(), TrainingData(data.X, data.y + 1e9), plain(160))


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1])
@pytest.mark.parametrize("name", ["least squares", "ridge", "scaled least squares", "scaled ridge"])
def test_constant_columns_agree(name, value):
    data = problem()
    data.X[:, 1] = value
    assert_agrees(LEARNERS[name], data, plain(160))


@pytest.mark.parametrize("name", LEARNERS)
def test_a_column_constant_at_some_nodes_agrees(name):
    data = problem()
    data.X[:, 1] = 0.3
    data.X[plain(160)[0].test[:3], 1] = 7.0
    assert_agrees(LEARNERS[name], data, plain(160), must_try=False)


@pytest.mark.parametrize("apart", [0.0, 1e-12, 1e-9, 1e-6, 1e-4])
@pytest.mark.parametrize("name", ["least squares", "ridge", "scaled least squares"])
def test_nearly_collinear_columns_agree_or_are_declined(name, apart):
    data = problem()
    rng = np.random.default_rng(1)
    data.X[:, 3] = data.X[:, :3].sum(axis=1) + apart * rng.normal(size=160)
    assert_agrees(LEARNERS[name], data, plain(160), must_try=False)


def test_exactly_collinear_columns_are_declined_by_least_squares():
    data = problem()
    data.X[:, 3] = data.X[:, 0]
    assert by_shortcut(LinearRegression(), data, plain(160)) is None


def test_duplicated_columns_are_no_trouble_for_ridge():
    data = problem()
    data.X[:, 3] = data.X[:, 0]
    assert_agrees(Ridge(), data, plain(160))


@pytest.mark.parametrize("name", ["least squares", "ridge", "scaled ridge"])
def test_more_columns_than_rows_agree_or_are_declined(name):
    data = problem(n=20, p=30)
    tried = assert_agrees(LEARNERS[name], data, plain(20), must_try=False)
    assert tried == ("ridge" in name)


def test_columns_of_very_different_units_agree():
    data = problem()
    units = np.array([1e-4, 1.0, 1e3, 1e5])
    for name in ("ridge", "scaled ridge", "scaled least squares"):
        assert_agrees(LEARNERS[name], TrainingData(data.X * units, data.y), plain(160))
    # scikit-learn takes the small column for noise here, so we must not try.
    units = np.array([1e-9, 1.0, 1.0, 1.0])
    assert by_shortcut(LinearRegression(), TrainingData(data.X * units, data.y), plain(160)) is None


def test_one_feature_one_row_more_than_enough():
    assert_agrees(LinearRegression(), problem(p=1), plain(160))
    assert_agrees(Ridge(), problem(n=6, p=1), plain(6, 3))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("name", ["ridge", "scaled ridge"])
def test_data_frames_keep_their_names(kind, name):
    data = problem()
    frame = kind(dict(zip("abcd", data.X.T, strict=True)))
    fits = by_shortcut(LEARNERS[name], TrainingData(frame, data.y), plain(160))
    assert list(fits[0].model.feature_names_in_) == list("abcd")
    assert_agrees(LEARNERS[name], TrainingData(frame, data.y), plain(160))


def test_frames_of_whole_numbers_and_truth_values_agree():
    data = problem()
    frame = pd.DataFrame(data.X, columns=list("abcd"))
    frame["b"] = np.round(frame["b"]).astype(int)
    frame["c"] = frame["c"] > 0
    assert_agrees(Ridge(), TrainingData(frame, data.y), plain(160))
    assert_agrees(Ridge(), TrainingData(np.round(data.X).astype(int), data.y), plain(160))


@pytest.mark.parametrize(
    "learner",
    [
        Ridge(positive=True),
        LinearRegression(positive=True),
        Ridge(solver="sag"),
        Ridge(alpha=-1.0),
        Ridge(alpha=[1.0, 2.0]),
        make_pipeline(StandardScaler(), StandardScaler(), Ridge()),
        make_pipeline(StandardScaler().set_output(transform="pandas"), Ridge()),
    ],
)
def test_unusual_learners_are_left_to_the_general_way(learner):
    assert by_shortcut(learner, problem(), plain(160)) is None


def test_subclasses_are_left_to_the_general_way():
    class Mine(Ridge):
        def predict(self, X):
            return super().predict(X) + 1

    assert by_shortcut(Mine(), problem(), plain(160)) is None


@pytest.mark.parametrize("spoil", [np.nan, np.inf])
def test_missing_numbers_are_left_to_the_general_way(spoil):
    data = problem()
    data.X[7, 2] = spoil
    assert by_shortcut(Ridge(), data, plain(160)) is None


def test_single_precision_is_left_to_the_general_way():
    data = problem()
    assert by_shortcut(Ridge(), TrainingData(data.X.astype("f4"), data.y), plain(160)) is None


def test_a_node_without_weight_is_left_to_the_general_way():
    data = problem()
    weight = np.zeros(160)
    weight[plain(160)[0].test] = 1.0
    weighted = TrainingData(data.X, data.y, weight)
    assert by_shortcut(Ridge(), weighted, plain(160)[:1]) is None


def test_a_level_that_rounding_of_means_would_show_in_is_declined():
    data = problem()
    far = TrainingData(data.X + 1e5, data.y + 1e5)
    learner = make_pipeline(StandardScaler(), LinearRegression(fit_intercept=False))
    assert by_shortcut(learner, far, plain(160)) is None


def test_rows_may_be_tested_in_any_order_or_not_at_all():
    data, tasks = problem(), plain(160)
    rng = np.random.default_rng(0)
    mixed = [NodeTask(t.train, rng.permutation(t.test), 0) for t in tasks]
    mixed.append(NodeTask(np.arange(160), np.empty(0, dtype=int), 0))
    assert_agrees(Ridge(), data, mixed)
    assert by_shortcut(Ridge(), data, mixed)[-1].predictions.shape == (0, 0)


def test_no_model_is_made_that_is_not_kept():
    tasks = [NodeTask(t.train, t.test, 0, keep_model=False) for t in plain(160)]
    assert all(fit.model is None for fit in by_shortcut(Ridge(), problem(), tasks))


def test_what_is_learned_depends_on_no_target_outside_the_node_to_the_last_bit():
    data, tasks = problem(q=2, weighted=True), plain(160)
    for name in ("least squares", "scaled ridge"):
        before = by_shortcut(LEARNERS[name], data, tasks)
        for number, (task, fit) in enumerate(zip(tasks, before, strict=True)):
            y = data.y.copy()
            y[task.test] = -1e3 * y[task.test] + 5
            changed = TrainingData(data.X, y, data.sample_weight)
            after = by_shortcut(LEARNERS[name], changed, tasks)[number]
            np.testing.assert_array_equal(fit.predictions, after.predictions)


def test_a_node_where_every_column_is_constant_is_declined_by_least_squares():
    # With weights scikit-learn centres 11, 11, 11 to rounding noise and fits the noise.
    data = problem(8, 1, 2, True, 5)
    rounded = TrainingData(np.round(data.X) + 10.0, data.y, data.sample_weight)
    assert_agrees(LEARNERS["least squares"], rounded, plain(8, 4), must_try=False)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(8, 60),
    p=st.integers(1, 8),
    q=st.sampled_from([None, 2]),
    weighted=st.booleans(),
    name=st.sampled_from(sorted(LEARNERS)),
    offset=st.sampled_from([0.0, 10.0, 1e4]),
    digits=st.sampled_from([0, 1, 15]),
    seed=st.integers(0, 2**16),
)
def test_agrees_or_declines_for_random_problems(n, p, q, weighted, name, offset, digits, seed):
    data = problem(n, p, q, weighted, seed)
    rounded = TrainingData(np.round(data.X, digits) + offset, data.y, data.sample_weight)
    tasks = [t for t in plain(n, 4) if weighted is False or data.sample_weight[t.train].any()]
    assert_agrees(LEARNERS[name], rounded, tasks, must_try=False)


def test_moments_of_other_nodes_are_not_used_again():
    data = problem()
    by_shortcut(Ridge(), data, plain(160))
    assert_agrees(Ridge(), data, plain(160, 4))


GRID = np.logspace(-2, 4, 7)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_targets", [None, 1, 3])
@pytest.mark.parametrize(
    "learner",
    [
        RidgeCV(GRID),
        RidgeCV(2.0),
        RidgeCV([0.5, 5.0], fit_intercept=False),
        RidgeCV(GRID, gcv_mode="svd"),
        make_pipeline(StandardScaler(), RidgeCV(GRID)),
    ],
)
def test_a_grid_agrees_with_the_general_way(learner, n_targets, weighted):
    assert_agrees(learner, problem(q=n_targets, weighted=weighted), plain(160))


def test_chooses_the_same_penalty_by_the_same_score():
    data, tasks = problem(weighted=True, p=12), plain(160)
    fits = by_shortcut(RidgeCV(GRID), data, tasks)
    for fit, task in zip(fits, tasks, strict=True):
        model = fit_generally(RidgeCV(GRID), data, task, "predict").model
        assert fit.model.alpha_ == model.alpha_
        assert fit.model.best_score_ == pytest.approx(model.best_score_, rel=1e-10)


def test_each_target_may_have_its_own_penalty():
    rng = np.random.default_rng(0)
    data = problem(q=3)
    noisy = TrainingData(data.X, data.y * [1, 0.01, 0] + rng.normal(size=(160, 3)))
    assert_agrees(RidgeCV(GRID, alpha_per_target=True), noisy, plain(160))


@pytest.mark.parametrize("deal", LATTICES)
def test_a_grid_agrees_on_every_kind_of_lattice(deal):
    assert_agrees(RidgeCV(GRID), problem(), LATTICES[deal](160))


@pytest.mark.parametrize(
    "learner",
    [
        RidgeCV(cv=3),
        RidgeCV(scoring="neg_mean_absolute_error"),
        RidgeCV(store_cv_results=True),
        RidgeCV([0.0, 1.0]),
    ],
)
def test_unusual_grids_are_left_to_the_general_way(learner):
    assert by_shortcut(learner, problem(), plain(160)) is None


def test_tied_penalties_are_left_to_the_general_way():
    assert by_shortcut(RidgeCV([1.0, 1.0 + 1e-12]), problem(), plain(160)) is None


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(24, 60),
    p=st.integers(1, 12),
    weighted=st.booleans(),
    scaled=st.booleans(),
    seed=st.integers(0, 2**16),
)
def test_a_grid_agrees_or_declines_for_random_problems(n, p, weighted, scaled, seed):
    learner = make_pipeline(StandardScaler(), RidgeCV(GRID)) if scaled else RidgeCV(GRID)
    assert_agrees(learner, problem(n, p, None, weighted, seed), plain(n, 4), must_try=False)


def test_moments_are_shared_in_this_process_and_held_in_no_other(monkeypatch):
    here, elsewhere = problem(), problem()
    monkeypatch.setattr(linear, "MAPPED", set())
    by_shortcut(Ridge(), here, plain(160))
    assert "linear moments" in here.shared
    monkeypatch.setattr(linear, "MAPPED", {1})
    by_shortcut(Ridge(), elsewhere, plain(160))
    assert not elsewhere.shared
