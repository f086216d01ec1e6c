"""Averages over models against brute force: every subset fitted by itself."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats
from scipy.special import gammaln
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import BayesianModelAveragingRegressor


@parametrize_with_checks(
    [
        BayesianModelAveragingRegressor(),
        BayesianModelAveragingRegressor(prior="g", model_prior="beta_binomial", max_size=3),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def sparse_data(n=60, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 3
    return X, 5 + X[:, 0] - 0.5 * X[:, 2] + rng.normal(size=n)


def brute_force(X, y, log_marginal, log_prior):
    """Every subset by scikit-learn: weights, coefficients and classical standard errors."""
    n, p = X.shape
    subsets = [c for size in range(p + 1) for c in itertools.combinations(range(p), size)]
    log_posterior, coefs, variances = [], np.zeros((len(subsets), p)), np.zeros((len(subsets), p))
    for i, columns in enumerate(subsets):
        Z = X[:, columns]
        fitted = np.full(n, y.mean())
        if columns:
            model = LinearRegression().fit(Z, y)
            fitted = model.predict(Z)
            coefs[i, columns] = model.coef_
        rss = np.sum((y - fitted) ** 2)
        if columns:
            centred = Z - Z.mean(axis=0)
            inverse = np.linalg.inv(centred.T @ centred)
            variances[i, columns] = rss / (n - len(columns) - 1) * np.diag(inverse)
        log_posterior.append(log_marginal(rss, len(columns), n) + log_prior(len(columns), p))
    log_posterior = np.array(log_posterior)
    weights = np.exp(log_posterior - log_posterior.max())
    return subsets, weights / weights.sum(), coefs, variances


def log_likelihood(rss, n):
    # stats.norm.logpdf at residual r sums to -n/2 log(2 pi s2) - rss / (2 s2), s2 = rss / n.
    return n * stats.norm.logpdf(0, scale=np.sqrt(rss / n)) - n / 2


def probabilities_of(bma, subsets):
    supports = [tuple(np.flatnonzero(support)) for support in bma.model_support_]
    found = dict(zip(supports, bma.model_probability_, strict=True))
    return [found.get(columns, 0.0) for columns in subsets]


PRIORS = {
    "uniform": lambda k, p: 0.0 * k * p,
    "beta_binomial": lambda k, p: (
        -np.log(p + 1) - (gammaln(p + 1) - gammaln(k + 1) - gammaln(p - k + 1))
    ),
}


@pytest.mark.parametrize("model_prior", PRIORS)
def test_bic_averages_equal_brute_force(model_prior):
    X, y = sparse_data()
    subsets, weights, coefs, variances = brute_force(
        X, y, lambda rss, k, n: log_likelihood(rss, n) - k / 2 * np.log(n), PRIORS[model_prior]
    )
    bma = BayesianModelAveragingRegressor(model_prior=model_prior).fit(X, y)
    inside = np.array([[j in columns for j in range(6)] for columns in subsets])
    assert_allclose(bma.model_probability_.sum(), 1, rtol=1e-12)
    assert_allclose(probabilities_of(bma, subsets), weights, rtol=1e-10, atol=1e-12)
    inclusion = weights @ inside
    assert_allclose(bma.inclusion_probability_, inclusion, rtol=1e-10)
    assert_allclose(bma.coef_, weights @ coefs, rtol=1e-10)
    assert_allclose(bma.intercept_, y.mean() - X.mean(axis=0) @ (weights @ coefs), rtol=1e-10)
    second = weights @ (variances + coefs**2)
    assert_allclose(bma.coef_sd_, np.sqrt(second - (weights @ coefs) ** 2), rtol=1e-9)
    conditional = (weights @ coefs) / inclusion
    assert_allclose(bma.conditional_coef_, conditional, rtol=1e-10)
    assert_allclose(
        bma.conditional_coef_sd_, np.sqrt(second / inclusion - conditional**2), rtol=1e-9
    )


def bayes_factor_by_quadrature(X, y, columns, g):
    """Integrate the noise out numerically: y - α ~ N(0, s² (I + g P)), flat α, prior 1 / s."""
    n = len(y)
    contrasts = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, : n - 1]]))[0][:, 1:]
    target, Z = contrasts.T @ y, contrasts.T @ X[:, columns]
    projection = Z @ np.linalg.pinv(Z)

    def log_marginal(g):
        eigenvalues, vectors = np.linalg.eigh(np.eye(n - 1) + g * projection)
        quadratic = ((vectors.T @ target) ** 2 / eigenvalues).sum()
        peak = np.sqrt(quadratic / n)

        def density(log_s):
            return (
                -0.5 * np.log(eigenvalues).sum()
                - n * log_s
                + log_s
                - quadratic / (2 * np.exp(2 * log_s))
            )

        top = density(np.log(peak))
        area, _ = integrate.quad(
            lambda log_s: np.exp(density(log_s) - top),
            np.log(peak) - 3,
            np.log(peak) + 3,
            epsabs=0,
            epsrel=1e-12,
            points=[np.log(peak)],
        )
        return top + np.log(area)

    return log_marginal(g) - log_marginal(0.0)


@pytest.mark.parametrize(("g", "value"), [("uip", 60.0), ("bric", 60.0), ("ric", 36.0), (7.0, 7.0)])
def test_g_prior_probabilities_equal_numerical_integration(g, value):
    X, y = sparse_data()
    subsets = [(), (0,), (0, 2), (0, 1, 2), (1, 4)]
    bma = BayesianModelAveragingRegressor(prior="g", g=g).fit(X, y)
    probability = np.array(probabilities_of(bma, subsets))
    expected = [bayes_factor_by_quadrature(X, y, columns, value) for columns in subsets[1:]]
    kept = probability[1:] > 1e-12
    assert_allclose(
        np.log(probability[1:] / probability[2])[kept],
        (np.array(expected) - expected[1])[kept],
        rtol=1e-7,
        atol=1e-7,
    )


def test_the_g_prior_shrinks_free_columns_and_not_forced_ones():
    X, y = sparse_data()
    X = X - X.mean(axis=0)
    X[:, 1] -= X[:, 0] * (X[:, 0] @ X[:, 1]) / (X[:, 0] @ X[:, 0])
    X = X[:, :2]
    ols = LinearRegression().fit(X, y)
    bma = BayesianModelAveragingRegressor(prior="g", g=4.0, forced=[1]).fit(X, y)
    assert_allclose(bma.coef_[1], ols.coef_[1], rtol=1e-10)
    assert_allclose(bma.conditional_coef_[0], 0.8 * ols.coef_[0], rtol=1e-10)
