import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise.learners import NodeTask, TrainingData
from learners.lattices import LATTICES, assert_agrees, by_shortcut, plain


def problem(n=200, p=4, n_classes=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = rng.normal(size=n) if n_classes is None else rng.integers(0, n_classes, n)
    return TrainingData(X, y, None, n_classes)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("p", [3, 20])
@pytest.mark.parametrize("k", [1, 2, 7])
def test_agrees_with_the_general_way(k, p, weights):
    assert_agrees(KNeighborsRegressor(k, weights=weights), problem(p=p), plain(200))
    for method in ("predict", "predict_proba"):
        learner = KNeighborsClassifier(k, weights=weights)
        assert_agrees(learner, problem(p=p, n_classes=3), plain(200), method)


@pytest.mark.parametrize(
    "parameters",
    [
        {"metric": "manhattan"},
        {"metric": "chebyshev"},
        {"metric": "cosine"},
        {"metric": "canberra"},
        {"metric": "sqeuclidean", "algorithm": "brute"},
        {"p": 1},
        {"p": 3},
        {"algorithm": "brute"},
        {"algorithm": "ball_tree"},
        {"algorithm": "kd_tree", "leaf_size": 3},
    ],
)
def test_agrees_in_every_metric(parameters):
    for weights in ("uniform", "distance"):
        learner = KNeighborsRegressor(weights=weights, **parameters)
        assert_agrees(learner, problem(), plain(200))


@pytest.mark.parametrize("deal", LATTICES)
def test_agrees_on_every_kind_of_lattice(deal):
    assert_agrees(KNeighborsRegressor(), problem(), LATTICES[deal](200))


def test_several_targets_agree():
    y = np.random.default_rng(0).normal(size=(200, 3))
    assert_agrees(KNeighborsRegressor(), TrainingData(problem().X, y), plain(200))


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_columns_stay_aligned_where_a_class_is_absent(method):
    data = problem(n_classes=3)
    data.y[:] = np.where(np.arange(200) < 60, 2, data.y % 2)
    rows = np.arange(200)
    tasks = [NodeTask(rows[60:], rows[:60], 0), NodeTask(rows[:150], rows[150:], 0)]
    assert_agrees(KNeighborsClassifier(), data, tasks, method)


def test_tied_distances_are_left_to_the_general_way():
    data = problem()
    ties = TrainingData(np.round(data.X), data.y)
    assert by_shortcut(KNeighborsRegressor(), ties, plain(200)) is None
    repeated = TrainingData(np.repeat(data.X[:100], 2, axis=0), data.y)
    assert assert_agrees(KNeighborsRegressor(3), repeated, plain(200), must_try=False) in (0, 1)


def test_only_the_nodes_with_ties_are_left_to_the_general_way():
    data, tasks = problem(), plain(200)
    one, other = tasks[0].test[:2]
    data.X[other] = data.X[one]
    assert_agrees(KNeighborsRegressor(1), data, tasks)


def test_duplicates_and_votes_by_distance_agree():
    data = problem()
    data.X[::10] = data.X[1::10]
    for learner in (KNeighborsRegressor(4, weights="distance"), KNeighborsRegressor(4)):
        assert_agrees(learner, data, plain(200), must_try=False)


def test_far_from_the_origin_differences_drown_and_the_general_way_is_used():
    data = problem(p=20)
    far = TrainingData(data.X + 1e8, data.y)
    assert by_shortcut(KNeighborsRegressor(), far, plain(200)) is None


def test_weights_that_rounding_would_show_in_are_left_to_the_general_way():
    data = problem(p=20)
    far = TrainingData(data.X + 3e3, data.y)
    assert_agrees(KNeighborsRegressor(), far, plain(200))
    assert by_shortcut(KNeighborsRegressor(weights="distance"), far, plain(200)) is None


def test_data_frames_keep_their_names():
    data = problem()
    frame = pd.DataFrame(data.X, columns=list("abcd"))
    assert_agrees(KNeighborsRegressor(), TrainingData(frame, data.y), plain(200))


@pytest.mark.parametrize(
    "learner",
    [
        KNeighborsRegressor(weights=lambda distance: np.exp(-distance)),
        KNeighborsRegressor(metric="seuclidean", metric_params={"V": np.ones(4)}),
        KNeighborsRegressor(metric=lambda a, b: np.abs(a - b).sum()),
        KNeighborsRegressor(60),
        make_pipeline(StandardScaler(), KNeighborsRegressor()),
    ],
)
def test_unusual_learners_are_left_to_the_general_way(learner):
    assert by_shortcut(learner, problem(), plain(200)) is None


def test_weights_are_left_to_the_general_way_which_refuses_them():
    data = problem()
    weighted = TrainingData(data.X, data.y, np.ones(200))
    assert by_shortcut(KNeighborsRegressor(), weighted, plain(200)) is None


def test_a_node_with_too_few_rows_is_left_to_the_general_way():
    tasks = [NodeTask(np.arange(3), np.arange(3, 9), 0), NodeTask(np.arange(9, 200), np.arange(9))]
    shortcut = by_shortcut(KNeighborsRegressor(3), problem(), tasks)
    assert len(shortcut) == 2
    with pytest.raises(ValueError, match="n_neighbors"):
        by_shortcut(KNeighborsRegressor(5), problem(), tasks)


@pytest.mark.parametrize("spoil", [np.nan, np.inf])
def test_missing_numbers_are_left_to_the_general_way(spoil):
    data = problem()
    data.X[7, 2] = spoil
    assert by_shortcut(KNeighborsRegressor(), data, plain(200)) is None


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(60, 120),
    p=st.sampled_from([1, 2, 16]),
    k=st.integers(1, 4),
    weights=st.sampled_from(["uniform", "distance"]),
    digits=st.sampled_from([1, 2, 15]),
    seed=st.integers(0, 2**16),
)
def test_agrees_or_declines_for_random_problems(n, p, k, weights, digits, seed):
    data = problem(n, p, 3, seed)
    rounded = TrainingData(np.round(data.X, digits), data.y, None, 3)
    learner = KNeighborsClassifier(k, weights=weights)
    for method in ("predict", "predict_proba"):
        assert_agrees(learner, rounded, plain(n, 3), method, must_try=False)
