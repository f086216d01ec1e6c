import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, LogisticRegression

from foldwise.paths import (
    cross_validated_path,
    cross_validated_relaxed_path,
    lasso_path,
    relaxed_path,
)


def test_the_refit_is_least_squares_on_the_columns_used(make_problem):
    D, y, w = make_problem("squared")
    path = lasso_path(D, y, sample_weight=w, n_lambdas=10, lambda_min_ratio=0.05)
    relaxed = relaxed_path(D, y, path, sample_weight=w)
    for before, after, b in zip(path.coefs, relaxed.coefs, relaxed.intercepts, strict=True):
        used = before != 0
        assert not after[~used].any()
        if used.any():
            oracle = LinearRegression().fit(D[:, used], y, w)
            assert_allclose(after[used], oracle.coef_, atol=1e-9)
            assert_allclose(b, oracle.intercept_, atol=1e-9)


def test_the_refit_of_classes_is_logistic_regression_without_a_penalty(make_problem):
    D, y, _ = make_problem("logistic")
    path = lasso_path(D, y, loss="logistic", lambdas=[0.08])
    relaxed = relaxed_path(D, y, path, loss="logistic")
    used = path.coefs[0] != 0
    oracle = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(D[:, used], y)
    assert_allclose(relaxed.coefs[0][used], oracle.coef_[0], atol=1e-3)


def test_no_shrinkage_removed_is_the_lasso_judged(make_problem):
    D, y, _ = make_problem("squared")
    fold_of = np.arange(len(y)) % 4
    relaxed = cross_validated_relaxed_path(D, y, fold_of=fold_of, gammas=(0.0, 1.0))
    plain = cross_validated_path(D, y, fold_of=fold_of)
    assert_allclose(relaxed.paths[1].cv_loss, plain.cv_loss, rtol=1e-8)
    assert_allclose(relaxed.paths[1].coefs, plain.coefs, atol=1e-9)


def test_few_strong_columns_prefer_the_refit():
    rng = np.random.default_rng(0)
    D = rng.normal(size=(100, 30))
    y = D[:, :3].sum(axis=1) * 5 + rng.normal(size=100)
    relaxed = cross_validated_relaxed_path(D, y, fold_of=np.arange(100) % 5)
    assert relaxed.gammas[relaxed.best] < 0.5
    assert relaxed.paths[relaxed.best].cv_loss.min() < relaxed.paths[-1].cv_loss.min()


def test_shares_are_shares():
    message = (
        "cross_validated_relaxed_path: gammas must lie between 0 (refit) and 1 (lasso); "
        "got (2.0,). Try (0.0, 0.5, 1.0)."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        cross_validated_relaxed_path(np.eye(4), np.arange(4), fold_of=[0, 0, 1, 1], gammas=(2.0,))
