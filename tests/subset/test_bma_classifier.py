import itertools
import warnings

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize
from scipy.special import expit
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import BayesianModelAveragingClassifier
from foldwise.errors import FoldwiseWarning


@parametrize_with_checks([BayesianModelAveragingClassifier()])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def rows(n=120, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 2
    return X, (rng.random(n) < expit(X[:, 0] - 0.5 * X[:, 1] - 1)).astype(int)


def brute_force(X, y):
    """Every subset by SciPy: log-likelihoods, weights by the formula, coefficients."""
    n, p = X.shape
    subsets = [c for size in range(p + 1) for c in itertools.combinations(range(p), size)]
    bics, betas = [], np.zeros((len(subsets), p + 1))
    for i, columns in enumerate(subsets):
        Z = np.column_stack([np.ones(n), X[:, columns]])
        found = optimize.root(
            lambda b, Z=Z: Z.T @ (y - expit(Z @ b)), np.zeros(Z.shape[1]), tol=1e-14
        )
        loss = np.logaddexp(0, Z @ found.x * (1 - 2 * y)).sum()
        bics.append(2 * loss + Z.shape[1] * np.log(n))
        betas[i, [0, *(c + 1 for c in columns)]] = found.x
    weights = np.exp(-0.5 * (np.array(bics) - min(bics)))
    return subsets, weights / weights.sum(), betas


def test_averages_equal_brute_force():
    X, y = rows()
    subsets, weights, betas = brute_force(X, y)
    bma = BayesianModelAveragingClassifier().fit(X, y)
    supports = [tuple(np.flatnonzero(support)) for support in bma.model_support_]
    found = dict(zip(supports, bma.model_probability_, strict=True))
    assert_allclose([found.get(c, 0.0) for c in subsets], weights, rtol=1e-10, atol=1e-12)
    assert_allclose(bma.model_probability_.sum(), 1, rtol=1e-12)
    inside = np.array([[j in columns for j in range(4)] for columns in subsets])
    assert_allclose(bma.inclusion_probability_, weights @ inside, rtol=1e-10)
    assert_allclose([bma.intercept_, *bma.coef_], weights @ betas, rtol=1e-9)
    expected = expit(betas[:, :1] + betas[:, 1:] @ X.T).T @ weights
    assert_allclose(bma.predict_proba(X)[:, 1], expected, rtol=1e-9)


def test_the_quadratic_search_finds_the_models_that_enumeration_finds():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 9))
    y = (rng.random(300) < expit(X[:, 0] - 0.4 * X[:, 4])).astype(int)
    every = BayesianModelAveragingClassifier(occam_ratio=20, method="enumerate").fit(X, y)
    quick = BayesianModelAveragingClassifier(method="branch_and_bound").fit(X, y)
    assert_array_equal(quick.model_support_, every.model_support_)
    assert_allclose(quick.predict_proba(X), every.predict_proba(X), rtol=1e-9)


def test_many_columns_are_searched_rather_than_enumerated():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30))
    y = (rng.random(400) < expit(1.5 * X[:, 7] - X[:, 20])).astype(int)
    bma = BayesianModelAveragingClassifier(max_models=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FoldwiseWarning)
        bma.fit(X, y)
    assert_array_equal(np.flatnonzero(bma.inclusion_probability_ > 0.9), [7, 20])


def test_forced_columns_are_in_every_model():
    X, y = rows()
    bma = BayesianModelAveragingClassifier(forced=[3], strict=True, occam_ratio=20).fit(X, y)
    assert bma.model_support_[:, 3].all()
    assert bma.conditional_coef_sd_.min() >= 0
