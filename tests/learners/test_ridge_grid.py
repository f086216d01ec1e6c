import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise.learners import TrainingData
from foldwise.learners.general import fit_generally
from learners.lattices import LATTICES, assert_agrees, by_shortcut, plain
from learners.test_linear import problem

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
def test_agrees_with_the_general_way(learner, n_targets, weighted):
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
def test_agrees_on_every_kind_of_lattice(deal):
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
def test_agrees_or_declines_for_random_problems(n, p, weighted, scaled, seed):
    learner = make_pipeline(StandardScaler(), RidgeCV(GRID)) if scaled else RidgeCV(GRID)
    assert_agrees(learner, problem(n, p, None, weighted, seed), plain(n, 4), must_try=False)
