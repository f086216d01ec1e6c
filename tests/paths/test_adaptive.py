import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from foldwise.paths import (
    adaptive_factors,
    cross_validated_adaptive_path,
    cross_validated_path,
    penalised_path,
)


def test_the_path_is_a_lasso_with_the_factors_of_the_first(make_problem):
    D, y, _ = make_problem("squared")
    fold_of = np.arange(len(y)) % 4
    first = cross_validated_path(D, y, fold_of=fold_of)
    factors = adaptive_factors(first.coefs[first.index_min])
    path = cross_validated_adaptive_path(D, y, fold_of=fold_of)
    second = penalised_path(D, y, penalty_factor=factors)
    assert_allclose(path.coefs, second.coefs, atol=1e-9)


def test_inside_a_fold_both_steps_see_the_other_rows_only(make_problem):
    D, y, _ = make_problem("squared")
    fold_of = np.arange(len(y)) % 4
    path = cross_validated_adaptive_path(D, y, fold_of=fold_of)
    train, test = fold_of != 1, fold_of == 1
    first = cross_validated_path(D[train], y[train], fold_of=fold_of[train])
    factors = adaptive_factors(first.coefs[first.index_min])
    second = penalised_path(D[train], y[train], penalty_factor=factors, lambdas=path.lambdas)
    expected = ((y[test] - second.predictor(D[test])) ** 2 / 2).mean(axis=1)
    assert_allclose(path.fold_loss[1], expected, rtol=1e-7)


def test_factors_of_several_classes_go_by_the_largest():
    factors = adaptive_factors(np.array([[1.0, 0.0, 0.0], [-2.0, 0.0, 4.0]]), power=2.0)
    assert_allclose(factors[[0, 2]] / factors[2], [4, 1])
    assert np.isinf(factors[1])


def test_a_first_fit_of_nothing_leaves_nothing():
    rng = np.random.default_rng(3)
    D, y = rng.normal(size=(30, 4)), np.ones(30)
    path = cross_validated_adaptive_path(D, y, fold_of=np.arange(30) % 3, n_lambdas=4)
    assert not path.coefs.any()


def test_two_folds_leave_none_to_choose_the_first_fit_by():
    message = "cross_validated_adaptive_path: fold_of must name at least three folds; got "
    with pytest.raises(ValueError, match=re.escape(message)):
        cross_validated_adaptive_path(np.eye(4), np.arange(4.0), fold_of=[0, 0, 1, 1])
