import numpy as np
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.linear_model import Lasso
from sklearn.preprocessing import StandardScaler

from foldwise.subset.averaged_cv import best_lasso, lasso, penalties
from foldwise.subset.moments import SubsetRows


def rows(n=60, p=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1, 10, 1, 1, 0.1] + 3
    weights = rng.integers(1, 4, size=n).astype(float)
    return SubsetRows(X, X[:, 0] + rng.normal(size=n), weights)


def test_the_path_is_that_of_scikit_learn_on_standardised_repeated_rows():
    X, y, weights = data = rows()
    times = weights.astype(int)
    repeated, target = np.repeat(X, times, axis=0), np.repeat(y, times)
    scaler = StandardScaler().fit(repeated)
    alphas = penalties(data, 6)
    for alpha, beta in zip(alphas, lasso(data, alphas, "squared"), strict=True):
        model = Lasso(alpha, tol=1e-12, max_iter=100_000)
        model.fit(scaler.transform(repeated), target)
        assert_allclose(beta[1:], model.coef_ / scaler.scale_, rtol=1e-6, atol=1e-9)
        fitted = model.predict(scaler.transform(X))
        assert_allclose(beta[0] + X @ beta[1:], fitted, rtol=1e-7)


def test_constant_columns_get_zero():
    data = rows()
    data.X[:, 2] = 7.0
    betas = lasso(data, penalties(data, 4), "squared")
    assert (betas[:, 3] == 0).all()


def test_the_best_penalty_has_the_least_error_on_the_test_rows():
    X, y, weights = data = rows()
    split = np.arange(40), np.arange(40, 60)
    alpha, beta, error = best_lasso(data, split, 10, "squared")
    alphas = penalties(data.take(slice(40)), 10)
    betas = lasso(data.take(slice(40)), alphas, "squared")
    errors = [weights[40:] @ (y[40:] - b[0] - X[40:] @ b[1:]) ** 2 for b in betas]
    assert alpha == alphas[np.argmin(errors)]
    assert_allclose(error, min(errors) / weights[40:].sum())
    assert_allclose(beta, betas[np.argmin(errors)])


def binary_rows(n=90, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1, 10, 1, 1, 1, 0.1]
    y = (rng.random(n) < expit(X[:, 0] + 0.1 * X[:, 1])).astype(float)
    return SubsetRows(X, y, rng.random(n) + 0.5)


def test_logistic_solutions_fulfil_the_optimality_conditions():
    X, y, weights = data = binary_rows()
    share = weights / weights.sum()
    scale = np.sqrt(share @ (X - share @ X) ** 2)
    alphas = penalties(data, 10)
    for alpha, beta in zip(alphas, lasso(data, alphas, "logistic"), strict=True):
        residual = share * (y - expit(beta[0] + X @ beta[1:]))
        slopes = ((X - share @ X) / scale).T @ residual
        inside = beta[1:] != 0
        assert abs(residual.sum()) < 1e-7
        assert_allclose(slopes[inside], alpha * np.sign(beta[1:][inside]), atol=1e-7)
        assert (np.abs(slopes[~inside]) <= alpha + 1e-7).all()


def test_the_largest_penalty_leaves_the_model_empty():
    data = binary_rows()
    alphas = penalties(data, 3)
    betas = lasso(data, alphas, "logistic")
    assert_allclose(betas[0, 1:], 0, atol=1e-8)
    assert betas[-1, 1:].any()


def test_the_best_logistic_penalty_has_the_least_loss_on_the_test_rows():
    X, y, weights = data = binary_rows()
    split = np.arange(60), np.arange(60, 90)
    alpha, beta, loss = best_lasso(data, split, 10, "logistic")
    alphas = penalties(data.take(slice(60)), 10)
    betas = lasso(data.take(slice(60)), alphas, "logistic")
    margins = (betas[:, :1] + betas[:, 1:] @ X[60:].T) * (1 - 2 * y[60:])
    losses = np.logaddexp(0, margins) @ weights[60:]
    assert alpha == alphas[losses.argmin()]
    assert_allclose(loss, losses.min() / weights[60:].sum())
    assert_allclose(beta, betas[losses.argmin()])
