import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_softmax
from sklearn.linear_model import LogisticRegression

from foldwise.combine import logit_mean, logit_pool

RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 4, 150)
LOGITS = RNG.normal(size=(150, 3, 4)) + 1.5 * np.eye(4)[CODES][:, None]
LOGITS -= LOGITS.mean(axis=2, keepdims=True)
WEIGHT = RNG.uniform(size=150)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_penalised_loss_is_that_of_a_generic_solver(shared: bool, C: float) -> None:
    shape = (3,) if shared else (4, 3)
    size = int(np.prod(shape))

    def loss(theta) -> float:
        w, b = theta[:size].reshape(shape), theta[size:]
        z = np.einsum("nmc,m->nc" if shared else "nmc,cm->nc", LOGITS, w) + b
        fit = -WEIGHT @ log_softmax(z, axis=1)[np.arange(150), CODES]
        return float(fit + (np.sum((w - 1 / 3) ** 2) + b @ b) / (2 * C))

    generic = minimize(loss, np.zeros(size + 4), method="BFGS", options={"gtol": 1e-7})
    pool = logit_pool(LOGITS, CODES, WEIGHT, C=C, shared=shared)
    assert loss(np.r_[pool.weights.ravel(), pool.intercepts]) <= generic.fun + 1e-8
    np.testing.assert_allclose(pool.weights.ravel(), generic.x[:size], atol=1e-3)


def test_with_all_freedom_two_classes_are_logistic_regression() -> None:
    codes = (CODES > 1).astype(int)
    logits = RNG.normal(size=(150, 3)) + codes[:, None]
    pool = logit_pool(logits, codes, C=1e8)
    peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(logits, codes)
    np.testing.assert_allclose(pool.weights, peer.coef_[0], rtol=1e-4)
    np.testing.assert_allclose(pool.predict(logits), peer.predict_proba(logits), atol=1e-5)


def test_without_freedom_it_is_the_geometric_mean() -> None:
    pool = logit_pool(LOGITS, CODES, C=1e-12)
    odds = np.exp(LOGITS)
    chances = odds / odds.sum(axis=2, keepdims=True)
    np.testing.assert_allclose(pool.predict(LOGITS), logit_mean(chances, clip=0.0), atol=1e-8)


def test_one_logit_and_two_sides_are_the_same() -> None:
    codes = (CODES > 1).astype(int)
    logits = RNG.normal(size=(150, 2)) + codes[:, None]
    one = logit_pool(logits, codes)
    two = logit_pool(np.stack([-logits / 2, logits / 2], axis=2), codes)
    np.testing.assert_allclose(one.predict(logits[:, :, None]), one.predict(logits))
    np.testing.assert_allclose(one.weights, two.weights)


def test_a_class_that_never_came_is_less_likely_but_possible() -> None:
    pool = logit_pool(LOGITS, np.minimum(CODES, 2))
    given = pool.predict(LOGITS)
    assert (given > 0).all()
    assert given[:, 3].mean() < 0.1


def test_separable_classes_end() -> None:
    codes = np.arange(40) % 2
    pool = logit_pool(30.0 * (2 * codes - 1)[:, None], codes, C=1e6)
    assert np.isfinite(pool.weights).all()
    assert (expit(pool.weights * 30) > 0.999).all()
