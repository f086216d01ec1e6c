"""Data and optimality conditions shared by the tests of the paths."""

import numpy as np
import pytest
from scipy.special import softmax

from foldwise.paths.rows import checked_rows

LOSSES = ("squared", "logistic", "multinomial", "poisson", "huber")


def make_problem(loss, n=120, p=25, seed=0):
    """Return a dictionary of rules and numbers, a target of the right kind, and weights."""
    rng = np.random.default_rng(seed)
    D = (rng.random((n, p)) < 0.3).astype(float)
    D[:, : p // 4] = rng.normal(size=(n, p // 4))
    f = D[:, 0] - 2 * D[:, p - 1] + D[:, p // 2]
    y = {
        "squared": f + rng.normal(size=n),
        "huber": f + rng.standard_t(2, size=n),
        "logistic": (rng.random(n) < 1 / (1 + np.exp(-f))).astype(float),
        "poisson": rng.poisson(np.exp(f / 2)).astype(float),
        "multinomial": np.argmax(np.c_[f, -f, D[:, 1]] + rng.gumbel(size=(n, 3)), axis=1),
    }[loss]
    return D, y, rng.integers(1, 4, n).astype(float)


def optimality_error(path, D, y, loss, weights, l1_ratio, factor, non_negative):
    """Return the largest violation of the Karush-Kuhn-Tucker conditions, over lambda max."""
    rows = checked_rows(D, y, loss, weights, None, None)
    paying = factor > 0
    worst = 0.0
    for lam, w, b in zip(path.lambdas, path.coefs, path.intercepts, strict=True):
        W = np.atleast_2d(w)
        eta = W @ D.T + np.atleast_1d(b)[:, None]
        if loss == "multinomial":
            slope = softmax(eta, axis=0) - np.eye(len(W))[y].T
        else:
            slope = rows.scale.gradient(y, eta)
        slope = slope * weights / weights.sum()
        gradient = slope @ D + lam * (1 - l1_ratio) * factor * W
        l1 = lam * l1_ratio * factor
        at_zero = np.maximum((-gradient if non_negative else np.abs(gradient)) - l1, 0)
        error = np.where(W != 0, np.abs(gradient + l1 * np.sign(W)), at_zero)
        error = np.where(paying, error, np.abs(gradient))
        worst = max(worst, error.max(), np.abs(slope.sum(axis=1)).max())
    return worst / path.lambdas[0]


@pytest.fixture(name="make_problem")
def make_problem_fixture():
    return make_problem


@pytest.fixture(name="optimality_error")
def optimality_error_fixture():
    return optimality_error
