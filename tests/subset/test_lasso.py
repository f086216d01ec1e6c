import numpy as np
from numpy.testing import assert_allclose
from sklearn.linear_model import Lasso
from sklearn.preprocessing import StandardScaler

from foldwise.subset.lasso import best_lasso, lasso, penalties


def rows(n=60, p=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1, 10, 1, 1, 0.1] + 3
    return X, X[:, 0] + rng.normal(size=n), rng.integers(1, 4, size=n).astype(float)


def test_the_path_is_that_of_scikit_learn_on_standardised_repeated_rows():
    X, y, weights = rows()
    times = weights.astype(int)
    repeated, target = np.repeat(X, times, axis=0), np.repeat(y, times)
    scaler = StandardScaler().fit(repeated)
    alphas = penalties(X, y, weights, 6)
    for alpha, beta in zip(alphas, lasso(X, y, weights, alphas), strict=True):
        model = Lasso(alpha, tol=1e-12, max_iter=100_000)
        model.fit(scaler.transform(repeated), target)
        assert_allclose(beta[1:], model.coef_ / scaler.scale_, rtol=1e-6, atol=1e-9)
        fitted = model.predict(scaler.transform(X))
        assert_allclose(beta[0] + X @ beta[1:], fitted, rtol=1e-7)


def test_constant_columns_get_zero():
    X, y, weights = rows()
    X[:, 2] = 7.0
    betas = lasso(X, y, weights, penalties(X, y, weights, 4))
    assert (betas[:, 3] == 0).all()


def test_the_best_penalty_has_the_least_error_on_the_test_rows():
    X, y, weights = rows()
    alpha, beta, error = best_lasso(X, y, weights, (np.arange(40), np.arange(40, 60)), 10)
    alphas = penalties(X[:40], y[:40], weights[:40], 10)
    betas = lasso(X[:40], y[:40], weights[:40], alphas)
    errors = [weights[40:] @ (y[40:] - b[0] - X[40:] @ b[1:]) ** 2 for b in betas]
    assert alpha == alphas[np.argmin(errors)]
    assert_allclose(error, min(errors))
    assert_allclose(beta, betas[np.argmin(errors)])
