"""What holds for every combiner, whatever the predictions: properties found true by search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldwise.combine import (
    best_weights,
    greedy_weights,
    lasso_coefficients,
    least_squares_coefficients,
    log_score_weights,
    logit_pool,
    mean_weights,
    median,
    nnls_weights,
    plain_mean,
    pseudo_bma_plus_weights,
    pseudo_bma_weights,
    rank_mean,
    ridge_coefficients,
    simplex_weights,
    trimmed_mean,
    weighted_mean,
)


def fixed_draws(logs, weight):
    return pseudo_bma_plus_weights(logs, weight, n_draws=20, random_state=0)


def from_errors(combine):
    """Weigh models by normal densities of their errors."""
    return lambda X, y, w=None: combine(-((X - y[:, None]) ** 2) / 2, w)


CONVEX = {
    "mean": lambda X, *_: mean_weights(X.shape[1]),
    "best": lambda X, y, w=None: best_weights(-np.average((X - y[:, None]) ** 2, 0, w)),
    "simplex": simplex_weights,
    "pulled simplex": lambda X, y, w=None: simplex_weights(X, y, w, alpha=0.1),
    "simplex, any loss": lambda X, y, *_: simplex_weights(
        X, y, loss=lambda p: float(np.abs(p - y).mean())
    ),
    "greedy": lambda X, y, w=None: greedy_weights(X, y, w, n_steps=12),
    "log score": from_errors(log_score_weights),
    "pseudo-BMA": from_errors(pseudo_bma_weights),
    "pseudo-BMA+": from_errors(fixed_draws),
}


def ridge(X, y, w=None):
    coefficients, intercepts = ridge_coefficients(X, y[:, None], np.ones(1), w)
    return lambda Z: (Z @ coefficients[0] + intercepts[0])[:, 0]


def least_squares(X, y, w=None):
    coefficients, intercepts = least_squares_coefficients(X, y[:, None], w)
    return lambda Z: (Z @ coefficients + intercepts)[:, 0]


def lasso(X, y, w=None):
    coefficients, intercepts = lasso_coefficients(X, y, np.array([0.1]), w)
    return lambda Z: Z @ coefficients[0] + intercepts[0]


def ranks(X, *_):
    return rank_mean(X).predict


def convex(combine):
    def fit(X, y, w=None):
        weights = combine(X, y, w)
        return lambda Z: weighted_mean(Z, weights)

    return fit


EVERY = {
    **{name: convex(combine) for name, combine in CONVEX.items()},
    "nnls": convex(nnls_weights),
    "ridge": ridge,
    "least squares": least_squares,
    "lasso": lasso,
    "rank mean": ranks,
    "median": lambda *_: median,
    "trimmed mean": lambda *_: trimmed_mean,
    "plain mean": lambda *_: plain_mean,
}
SHIFTED = set(EVERY) - {"nnls", "rank mean"}
# Only these give a model that comes twice no more than the model alone.
DUPLICATED = ["best", "simplex", "nnls", "least squares", "greedy", "log score"]


@st.composite
def problems(draw, fewest_models: int = 1):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, m = draw(st.integers(3, 30)), draw(st.integers(fewest_models, 5))
    y = rng.normal(size=n).round(3)
    scale = draw(st.sampled_from([0.0, 0.1, 1.0, 10.0]))
    X = (y[:, None] + scale * rng.normal(size=(n, m))).round(3)
    if draw(st.booleans()):
        X[:, 0] = 0.5
    return X, y


@pytest.mark.parametrize("name", CONVEX)
@settings(max_examples=25, deadline=None)
@given(problem=problems())
def test_convex_weights_are_not_negative_and_sum_to_one(name: str, problem) -> None:
    X, y = problem
    weights = CONVEX[name](X, y)
    assert weights.shape == (X.shape[1],)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=25, deadline=None)
@given(problem=problems(), kind=st.sampled_from(["plain", "constant", "identical", "perfect"]))
def test_nothing_is_ever_not_a_number(name: str, problem, kind: str) -> None:
    X, y = problem
    if kind == "constant":
        X = np.full_like(X, 2.0)
    if kind == "identical":
        X = np.repeat(X[:, :1], X.shape[1], axis=1)
    if kind == "perfect":
        X = np.repeat(y[:, None], X.shape[1], axis=1)
    assert np.isfinite(EVERY[name](X, y)(X)).all()


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=20, deadline=None)
@given(problem=problems(2), seed=st.integers(0, 99))
def test_the_order_of_the_models_does_not_matter(name: str, problem, seed: int) -> None:
    X, y = problem
    order = np.random.default_rng(seed).permutation(X.shape[1])
    if name in ("greedy", "best", "simplex, any loss") and tied(X, y):
        return
    tolerance = 2e-2 if name == "simplex, any loss" else 1e-4
    one, other = EVERY[name](X, y)(X), EVERY[name](X[:, order], y)(X[:, order])
    np.testing.assert_allclose(one, other, atol=tolerance * (1 + np.abs(X).max()))


def tied(X, y) -> bool:
    """Tell whether two models are equally good, so that the first one wins."""
    errors = np.sort(((X - y[:, None]) ** 2).mean(axis=0))
    return bool((np.diff(errors) < 1e-9).any())


@pytest.mark.parametrize("name", DUPLICATED)
@settings(max_examples=20, deadline=None)
@given(problem=problems())
def test_a_model_that_comes_twice_does_not_change_the_prediction(name: str, problem) -> None:
    X, y = problem
    twice = np.column_stack([X, X[:, 0]])
    one, other = EVERY[name](X, y)(X), EVERY[name](twice, y)(twice)
    np.testing.assert_allclose(one, other, atol=1e-4 * (1 + np.abs(X).max()))


@pytest.mark.parametrize("name", sorted(SHIFTED))
@settings(max_examples=20, deadline=None)
@given(problem=problems(), shift=st.sampled_from([-3.0, 100.0]))
def test_a_constant_added_everywhere_is_added_to_the_prediction(
    name: str, problem, shift: float
) -> None:
    X, y = problem
    if name in ("greedy", "best", "simplex, any loss") and tied(X, y):
        return
    one = EVERY[name](X, y)(X) + shift
    other = EVERY[name](X + shift, y + shift)(X + shift)
    tolerance = 2e-2 if name == "simplex, any loss" else 1e-4
    np.testing.assert_allclose(one, other, atol=tolerance * (1 + np.abs(X).max()))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 999),
    n_models=st.integers(1, 4),
    n_classes=st.integers(2, 4),
    C=st.sampled_from([1e-3, 1.0, 1e6]),
)
def test_a_pool_gives_probabilities_for_any_logits(seed, n_models, n_classes, C) -> None:
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(12, n_models, n_classes)) * rng.choice([0.0, 1.0, 15.0])
    codes = rng.integers(0, n_classes, 12)
    for shared in (True, False):
        given = logit_pool(logits, codes, C=C, shared=shared).predict(logits)
        assert np.isfinite(given).all()
        np.testing.assert_allclose(given.sum(axis=1), 1.0, rtol=1e-12)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 999), n_models=st.integers(2, 4))
def test_a_pool_does_not_care_for_the_order_of_the_models(seed, n_models) -> None:
    rng = np.random.default_rng(seed)
    logits, codes = rng.normal(size=(20, n_models, 3)), rng.integers(0, 3, 20)
    order = rng.permutation(n_models)
    one, other = logit_pool(logits, codes), logit_pool(logits[:, order], codes)
    np.testing.assert_allclose(one.weights[order], other.weights, atol=1e-6)
