"""Averages over models against brute force: every subset fitted by itself."""

import itertools
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, stats
from scipy.special import gammaln
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import BayesianModelAveragingRegressor
from foldwise.errors import FoldwiseWarning


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


# R 4.2.2, BMS 0.3.5: bms(diabetes, mcmc="enumerate", g=..., mprior=..., user.int=FALSE) and
# coef(., exact=TRUE, order.by.pip=FALSE), for the unscaled diabetes data of scikit-learn.
BMS = {
    ("uip", "uniform"): (
        [
            0.0459414476,
            0.9790354257,
            1,
            0.9999152833,
            0.5695801684,
            0.3788645597,
            0.5684012374,
            0.2029362451,
            0.9999792812,
            0.07346379811,
        ],
        [
            -0.001083474718,
            -21.36031187,
            5.730028461,
            1.120041747,
            -0.3831433543,
            0.2213922306,
            -0.5654870605,
            1.519838683,
            53.97966236,
            0.01993689401,
        ],
        [
            0.04645255711,
            6.519545295,
            0.7148897876,
            0.2187319139,
            0.4550897056,
            0.409865113,
            0.550925215,
            4.036779821,
            14.02272888,
            0.1019714129,
        ],
    ),
    ("eb", "beta_binomial"): (
        [
            0.244500902,
            0.9942796179,
            1,
            0.9999732906,
            0.7886022529,
            0.6003322047,
            0.5197477652,
            0.4226877773,
            0.9999646812,
            0.336399713,
        ],
        [
            -0.005073566409,
            -21.58274517,
            5.632236025,
            1.104485346,
            -0.5727238059,
            0.3444193308,
            -0.3207809457,
            2.628506858,
            57.6605928,
            0.09424828447,
        ],
        [
            0.106843065,
            5.980714808,
            0.7137290501,
            0.2195407866,
            0.4944892047,
            0.4715955317,
            0.587630306,
            4.840660532,
            14.52551663,
            0.2050650444,
        ],
    ),
}


@pytest.mark.parametrize(("g", "model_prior"), BMS)
def test_g_prior_averages_equal_those_of_r_bms(g, model_prior):
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    bma = BayesianModelAveragingRegressor("g", g=g, model_prior=model_prior).fit(X, y)
    inclusion, mean, sd = BMS[g, model_prior]
    assert_allclose(bma.inclusion_probability_, inclusion, rtol=2e-9)
    assert_allclose(bma.coef_, mean, rtol=2e-9)
    assert_allclose(bma.coef_sd_, sd, rtol=2e-9)


def test_one_model_gives_the_classical_prediction_interval():
    X, y = sparse_data(p=3)
    bma = BayesianModelAveragingRegressor(forced=[0, 1, 2]).fit(X, y)
    assert bma.model_probability_.tolist() == [1.0]
    Z = np.column_stack([np.ones(60), X])
    beta, rss, _, _ = np.linalg.lstsq(Z, y, rcond=None)
    new = np.column_stack([np.ones(5), X[:5] + 1])
    noise = rss[0] / 56
    scale = np.sqrt(noise * (1 + np.einsum("ij,jk,ik->i", new, np.linalg.inv(Z.T @ Z), new)))
    half = stats.t(56).ppf(0.95) * scale
    expected = np.column_stack([new @ beta - half, new @ beta + half])
    assert_allclose(bma.predict_interval(X[:5] + 1, 0.9), expected, rtol=1e-9)
    mean, std = bma.predict(X[:5] + 1, return_std=True)
    assert_allclose(mean, new @ beta, rtol=1e-10)
    assert_allclose(std, scale * np.sqrt(56 / 54), rtol=1e-9)


@pytest.mark.parametrize("prior", ["bic", "g"])
def test_predictive_intervals_cover(prior):
    rng = np.random.default_rng(3)
    inside = []
    for _ in range(60):
        X = rng.normal(size=(90, 6))
        y = 1 + X[:, 0] + 0.3 * X[:, 1] + rng.normal(size=90)
        bma = BayesianModelAveragingRegressor(prior).fit(X[:40], y[:40])
        ends = bma.predict_interval(X[40:], 0.8)
        inside.append((ends[:, 0] < y[40:]) & (y[40:] < ends[:, 1]))
    # 3,000 new rows in 60 samples: the standard error is about 1 %.
    assert abs(np.mean(inside) - 0.8) < 0.03


def test_a_random_walk_finds_the_models_that_enumeration_finds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 12))
    y = X[:, :3] @ [1.0, 0.5, 0.3] + rng.normal(size=100)
    every = BayesianModelAveragingRegressor(occam_ratio=20).fit(X, y)
    walked = BayesianModelAveragingRegressor(method="mc3", n_steps=3000, random_state=0).fit(X, y)
    assert_array_equal(walked.model_support_, every.model_support_)
    assert_allclose(walked.coef_, every.coef_, rtol=1e-9)
    bounded = BayesianModelAveragingRegressor(method="branch_and_bound").fit(X, y)
    assert_array_equal(bounded.model_support_, every.model_support_)


def test_beyond_forty_columns_it_walks_and_finds_the_signal():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 60))
    y = X[:, 7] - X[:, 50] + rng.normal(size=150)
    bma = BayesianModelAveragingRegressor(n_steps=2000, random_state=0).fit(X, y)
    again = BayesianModelAveragingRegressor(n_steps=2000, random_state=0).fit(X, y)
    assert_array_equal(np.flatnonzero(bma.inclusion_probability_ > 0.9), [7, 50])
    assert_array_equal(bma.coef_, again.coef_)


@pytest.mark.parametrize("strict", [False, True])
def test_occams_window_keeps_exactly_the_models_its_rule_names(strict):
    X, y = sparse_data()
    subsets, weights, _, _ = brute_force(
        X, y, lambda rss, k, n: log_likelihood(rss, n) - k / 2 * np.log(n), PRIORS["uniform"]
    )
    inside = {c: w for c, w in zip(subsets, weights, strict=True) if w >= weights.max() / 20}
    if strict:
        inside = {
            c: w
            for c, w in inside.items()
            if not any(set(d) < set(c) and v > w for d, v in inside.items())
        }
    bma = BayesianModelAveragingRegressor(occam_ratio=20, strict=strict).fit(X, y)
    assert {tuple(np.flatnonzero(s)) for s in bma.model_support_} == set(inside)
    total = sum(inside.values())
    for support, probability in zip(bma.model_support_, bma.model_probability_, strict=True):
        assert_allclose(probability, inside[tuple(np.flatnonzero(support))] / total, rtol=1e-10)


def test_duplicated_and_constant_columns_share_or_get_nothing():
    X, y = sparse_data()
    X = np.column_stack([X[:, 0], X[:, 0], np.full(60, 2.0)])
    bma = BayesianModelAveragingRegressor().fit(X, y)
    assert_allclose(bma.inclusion_probability_[0], bma.inclusion_probability_[1], rtol=1e-10)
    assert bma.inclusion_probability_[2] < 0.2
    assert bma.coef_[2] == 0
    assert np.isfinite(bma.predict_interval(X)).all()


def test_names_are_kept():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    bma = BayesianModelAveragingRegressor(occam_ratio=20, forced=["age"]).fit(X, y)
    assert all("age" in columns for columns in bma.models_["columns"])
    assert_allclose(bma.inclusion_probability_[0], 1, rtol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"prior": "bicc"},
            "BayesianModelAveragingRegressor: prior must be one of 'bic', 'g'; got 'bicc'. "
            "Did you mean 'bic'?",
        ),
        (
            {"prior": "g", "g": -1.0},
            "BayesianModelAveragingRegressor: g must be a number above 0; got -1.0. Try 'bric'.",
        ),
        (
            {"occam_ratio": 0.5},
            "BayesianModelAveragingRegressor: occam_ratio must be a number at least 1; got 0.5. "
            "Use 20, None or 'auto'.",
        ),
        (
            {"occam_ratio": None, "method": "mc3"},
            "BayesianModelAveragingRegressor: occam_ratio must be a number where not all models "
            "are enumerated; got None. Try 20.",
        ),
    ],
)
def test_errors_say_what_to_do(parameters, message):
    X, y = sparse_data()
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        BayesianModelAveragingRegressor(**parameters).fit(X, y)


def test_a_coverage_outside_zero_and_one_is_an_error():
    X, y = sparse_data()
    bma = BayesianModelAveragingRegressor().fit(X, y)
    message = (
        "BayesianModelAveragingRegressor: coverage must be a number above 0 and below 1; got 90. "
        "Try 0.9."
    )
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        bma.predict_interval(X, 90)


def test_more_models_than_wanted_is_a_warning():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 12)), rng.normal(size=50)
    model = BayesianModelAveragingRegressor(method="branch_and_bound", max_models=5)
    with pytest.warns(FoldwiseWarning, match="holds more than 5 models"):
        model.fit(X, y)
    assert len(model.model_probability_) == 5
