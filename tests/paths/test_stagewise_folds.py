import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from foldwise.paths import cross_validated_stagewise_path, monotone_lasso_path, stagewise_path


@pytest.mark.parametrize("epsilon", [0.0, 0.01])
def test_each_fold_is_judged_by_the_path_that_never_saw_it(make_problem, epsilon):
    D, y, w = make_problem("squared")
    fold_of = np.arange(len(y)) % 3
    path = cross_validated_stagewise_path(
        D, y, fold_of=fold_of, epsilon=epsilon, sample_weight=w, max_steps=300, n_points=30
    )
    for k in range(3):
        train, test = fold_of != k, fold_of == k
        data = {"D": D[train], "y": y[train], "sample_weight": w[train]}
        if epsilon:
            part = stagewise_path(**data, epsilon=epsilon, max_steps=300, n_points=30)
        else:
            part = monotone_lasso_path(**data)
        eta = part.at(path.arc_length).predictor(D[test])
        expected = np.average((y[test] - eta) ** 2 / 2, axis=1, weights=w[test])
        assert_allclose(path.fold_loss[k], expected, rtol=1e-7)


def test_the_choice_stops_early_on_noise():
    rng = np.random.default_rng(0)
    D, y = rng.normal(size=(60, 30)), rng.normal(size=60)
    path = cross_validated_stagewise_path(D, y, fold_of=np.arange(60) % 5, epsilon=0.01)
    assert path.arc_length[path.index_min] < 0.2 * path.arc_length[-1]
    assert path.index_1se <= path.index_min


@pytest.mark.parametrize("loss", ["logistic", "multinomial", "poisson"])
def test_other_losses_are_judged_too(make_problem, loss):
    D, y, w = make_problem(loss)
    path = cross_validated_stagewise_path(
        D,
        y,
        fold_of=np.arange(len(y)) % 3,
        epsilon=0.05,
        loss=loss,
        sample_weight=w,
        max_steps=60,
    )
    assert path.cv_loss.min() < path.cv_loss[0]
    assert path.fold_loss.shape == (3, len(path.arc_length))


def test_the_limit_is_for_squared_error():
    message = (
        "cross_validated_stagewise_path: epsilon must be above zero with loss='logistic'; got 0. "
        "Try 0.01; only squared error has the exact limit."
    )
    with pytest.raises(TypeError, match=re.escape(message)):
        cross_validated_stagewise_path(
            np.eye(4), np.arange(4) % 2, fold_of=[0, 0, 1, 1], epsilon=0, loss="logistic"
        )
