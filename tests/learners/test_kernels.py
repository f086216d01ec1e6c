import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, DotProduct, Matern, WhiteKernel
from sklearn.kernel_ridge import KernelRidge

from foldwise.learners import NodeTask, TrainingData
from foldwise.learners import kernels as module
from learners.lattices import LATTICES, assert_agrees, by_shortcut, plain
from learners.test_linear import problem


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", "poly", "cosine"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_targets", [None, 1, 2])
def test_kernel_ridge_agrees_with_the_general_way(kernel, n_targets, weighted):
    data = problem(n=80, q=n_targets, weighted=weighted)
    assert_agrees(KernelRidge(kernel=kernel, gamma=0.1, degree=2), data, plain(80))


def test_penalties_may_differ_between_targets():
    assert_agrees(KernelRidge([0.5, 5.0], kernel="rbf"), problem(n=80, q=2), plain(80))


@pytest.mark.parametrize("normalize_y", [False, True])
@pytest.mark.parametrize("n_targets", [None, 1, 2])
@pytest.mark.parametrize(
    "kernel", [None, RBF(2.0) + WhiteKernel(0.3), Matern(nu=1.5), DotProduct() + WhiteKernel()]
)
def test_gaussian_process_agrees_with_the_general_way(kernel, n_targets, normalize_y):
    learner = GaussianProcessRegressor(
        kernel, alpha=0.1, optimizer=None, normalize_y=normalize_y, random_state=0
    )
    assert_agrees(learner, problem(n=80, q=n_targets), plain(80))


def test_gaussian_process_models_know_their_uncertainty():
    learner = GaussianProcessRegressor(RBF() + WhiteKernel(0.2), optimizer=None)
    data, task = problem(n=80), plain(80)[0]
    model = by_shortcut(learner, data, [task])[0].model
    reference = GaussianProcessRegressor(RBF() + WhiteKernel(0.2), optimizer=None)
    reference.fit(data.X[task.train], data.y[task.train])
    X = data.X[task.test]
    np.testing.assert_allclose(
        model.predict(X, return_std=True)[1], reference.predict(X, return_std=True)[1], rtol=1e-9
    )
    likelihood = reference.log_marginal_likelihood_value_
    assert model.log_marginal_likelihood_value_ == pytest.approx(likelihood, rel=1e-10)


@pytest.mark.parametrize("deal", LATTICES)
def test_agrees_on_every_kind_of_lattice(deal):
    assert_agrees(KernelRidge(kernel="rbf"), problem(), LATTICES[deal](160))


@pytest.mark.parametrize(
    "learner",
    [
        KernelRidge(1e-9, kernel="rbf"),
        KernelRidge(0.0),
        GaussianProcessRegressor(optimizer=None),
        GaussianProcessRegressor(alpha=0.1),
        GaussianProcessRegressor(alpha=np.full(80, 0.1), optimizer=None),
        KernelRidge(kernel="precomputed"),
        KernelRidge(kernel=lambda a, b: a @ b),
    ],
)
def test_ill_conditioned_and_unusual_learners_are_left_to_the_general_way(learner):
    data = problem(n=80)
    close = TrainingData(data.X * 0.01, data.y)
    assert by_shortcut(learner, close, plain(80)) is None


def test_agrees_or_declines_far_from_the_origin():
    for offset in (1e2, 1e4, 1e6):
        data = problem(n=80)
        far = TrainingData(data.X + offset, data.y)
        tried = assert_agrees(KernelRidge(kernel="rbf"), far, plain(80), must_try=False)
        assert tried == (offset < 1e3)


def test_more_rows_than_memory_allows_are_left_to_the_general_way(monkeypatch):
    monkeypatch.setattr(module, "MAX_BYTES", 8 * 79**2)
    assert by_shortcut(KernelRidge(), problem(n=80), plain(80)) is None


def test_white_noise_is_not_predicted_for_rows_that_are_trained_on():
    learner = GaussianProcessRegressor(RBF() + WhiteKernel(0.3), optimizer=None)
    rows = np.arange(80)
    assert by_shortcut(learner, problem(n=80), [NodeTask(rows, rows[:5], 0)]) is None


def test_data_frames_keep_their_names():
    data = problem(n=80)
    frame = TrainingData(pd.DataFrame(data.X, columns=list("abcd")), data.y)
    assert_agrees(KernelRidge(kernel="rbf"), frame, plain(80))
    assert_agrees(GaussianProcessRegressor(alpha=0.1, optimizer=None), frame, plain(80))


@pytest.mark.parametrize("spoil", [np.nan, np.inf])
def test_missing_numbers_are_left_to_the_general_way(spoil):
    data = problem(n=80)
    data.X[7, 2] = spoil
    assert by_shortcut(KernelRidge(), data, plain(80)) is None
