import numpy as np
from numpy.testing import assert_allclose
from scipy.special import expit

from foldwise.subset.lasso import penalties
from foldwise.subset.logistic_lasso import best_logistic_lasso, logistic_lasso


def rows(n=90, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1, 10, 1, 1, 1, 0.1]
    y = (rng.random(n) < expit(X[:, 0] + 0.1 * X[:, 1])).astype(float)
    return X, y, rng.random(n) + 0.5


def test_solutions_fulfil_the_optimality_conditions():
    X, y, weights = rows()
    share = weights / weights.sum()
    scale = np.sqrt(share @ (X - share @ X) ** 2)
    alphas = penalties(X, y, weights, 10)
    for alpha, beta in zip(alphas, logistic_lasso(X, y, weights, alphas), strict=True):
        residual = share * (y - expit(beta[0] + X @ beta[1:]))
        slopes = ((X - share @ X) / scale).T @ residual
        inside = beta[1:] != 0
        assert abs(residual.sum()) < 1e-7
        assert_allclose(slopes[inside], alpha * np.sign(beta[1:][inside]), atol=1e-7)
        assert (np.abs(slopes[~inside]) <= alpha + 1e-7).all()


def test_the_largest_penalty_leaves_the_model_empty():
    X, y, weights = rows()
    alphas = penalties(X, y, weights, 3)
    betas = logistic_lasso(X, y, weights, alphas)
    assert_allclose(betas[0, 1:], 0, atol=1e-8)
    assert betas[-1, 1:].any()


def test_the_best_penalty_has_the_least_loss_on_the_test_rows():
    X, y, weights = rows()
    split = np.arange(60), np.arange(60, 90)
    alpha, beta, loss = best_logistic_lasso(X, y, weights, split, 10)
    alphas = penalties(X[:60], y[:60], weights[:60], 10)
    betas = logistic_lasso(X[:60], y[:60], weights[:60], alphas)
    margins = (betas[:, :1] + betas[:, 1:] @ X[60:].T) * (1 - 2 * y[60:])
    losses = np.logaddexp(0, margins) @ weights[60:]
    assert alpha == alphas[losses.argmin()]
    assert_allclose(loss, losses.min())
    assert_allclose(beta, betas[losses.argmin()])
