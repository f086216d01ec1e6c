import numpy as np
import pytest
from scipy.stats import norm
from sklearn.tree import DecisionTreeRegressor

from foldwise import BaggingRegressor
from foldwise.resample.variance import (
    BaggingVariance,
    VarianceCurve,
    between_to_within,
    infinitesimal_jackknife,
    jackknife_after_bootstrap,
    subsample_factor,
    variance_of_mean,
)


def test_the_formula_is_the_variance_of_correlated_means() -> None:
    rng = np.random.default_rng(0)
    sigma2, rho, n = 2.0, 0.3, 5
    covariance = sigma2 * (rho + (1 - rho) * np.eye(n))
    means = rng.multivariate_normal(np.zeros(n), covariance, size=40_000).mean(axis=1)
    assert means.var() == pytest.approx(variance_of_mean(sigma2, rho, n), rel=0.03)


@pytest.mark.parametrize("n_units", [30, 80])
def test_the_jackknife_of_a_mean_is_its_variance(n_units) -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=n_units)
    counts = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=4000).astype(float)
    estimate = infinitesimal_jackknife(counts, counts @ y[:, None] / n_units)
    assert estimate[0] == pytest.approx(y.var() / n_units, rel=0.1)


def test_many_points_get_what_single_points_get() -> None:
    rng = np.random.default_rng(0)
    counts, answers = rng.poisson(1.0, size=(5, 20)).astype(float), rng.normal(size=(5, 9))
    singly = [infinitesimal_jackknife(counts, answers[:, [k]])[0] for k in range(9)]
    np.testing.assert_allclose(infinitesimal_jackknife(counts, answers), singly)


def test_without_the_correction_few_learners_would_mislead() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=200)
    estimates = []
    for _ in range(50):
        counts = rng.multinomial(200, np.full(200, 1 / 200), size=50).astype(float)
        estimates.append(infinitesimal_jackknife(counts, counts @ y[:, None] / 200)[0])
    # Uncorrected the estimate is about five times as large: n/B = 4 more.
    assert np.mean(estimates) == pytest.approx(y.var() / 200, rel=0.25)


def test_subsamples_of_half_the_rows_need_their_factor() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    counts = np.array([np.isin(np.arange(60), rng.permutation(60)[:30]) for _ in range(6000)])
    counts = counts.astype(float)
    estimate = infinitesimal_jackknife(counts, counts @ y[:, None] / 30, subsample_factor(60, 30))
    assert estimate[0] == pytest.approx(y.var() / 60, rel=0.15)


def nearest_neighbours(n_sets, n_learners, n_rows, rng):
    """Yield (counts, answers) of bootstrapped 10-nearest-neighbour learners at one point."""
    for _ in range(n_sets):
        x = rng.random(n_rows)
        y = np.sin(6 * x) + rng.normal(scale=0.3, size=n_rows)
        counts = rng.multinomial(n_rows, np.full(n_rows, 1 / n_rows), size=n_learners)
        nearest = np.argsort(np.abs(x - 0.3))
        drawn = counts[:, nearest]
        used = np.clip(10 - (np.cumsum(drawn, axis=1) - drawn), 0, drawn)
        yield counts.astype(float), used @ y[nearest] / 10


def test_the_measured_variance_of_bagged_means_is_the_formulas() -> None:
    # 2000 training sets: σ² and ρ are measured on ten learners, the variance of means of ten
    # others must agree; a variance over 2000 sets is known to 1 / √1000 = 3.2 %.
    sets = nearest_neighbours(2000, 20, 40, np.random.default_rng(0))
    said = np.array([answers for _, answers in sets])
    first, second = said[:, :10], said[:, 10:]
    covariance = np.cov(first.T)
    sigma2 = covariance.diagonal().mean()
    rho = covariance[~np.eye(10, dtype=bool)].mean() / sigma2
    for n in [1, 3, 10]:
        measured = second[:, :n].mean(axis=1).var(ddof=1)
        assert measured == pytest.approx(variance_of_mean(sigma2, rho, n), rel=0.1)


def test_one_fit_tells_the_variance_between_training_sets() -> None:
    # The truth comes from 800 training sets, known to 1 / √400 = 5 %; each of them estimates it
    # from its own rows alone.
    truths, between, within = [], [], []
    for counts, answers in nearest_neighbours(800, 150, 40, np.random.default_rng(1)):
        truths.append(answers.mean())
        between.append(infinitesimal_jackknife(counts, answers[:, None])[0])
        within.append(answers.var(ddof=1))
    found = BaggingVariance(np.array(between), np.array(within), 150)
    truth = np.var(truths)
    assert np.mean(found.of_mean) == pytest.approx(truth, rel=0.15)
    assert found.curve(np.array([150])).variance[0] == pytest.approx(truth, rel=0.15)
    inside = np.abs(truths - np.mean(truths)) <= 1.645 * np.sqrt(found.of_mean)
    assert np.mean(inside) == pytest.approx(0.9, abs=0.08)


def test_the_estimators_variance_is_that_of_its_draws_and_answers() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 2)), rng.normal(size=40)
    model = BaggingRegressor(DecisionTreeRegressor(max_depth=3), 30, random_state=0).fit(X, y)
    found = model.variance(X[:5])
    counts = np.array([model.draws_.units(seed) for seed in model.seeds_])
    answers = np.array([tree.predict(X[:5]) for tree in model.estimators_])
    np.testing.assert_allclose(found.between, infinitesimal_jackknife(counts, answers))
    np.testing.assert_allclose(found.within, answers.var(axis=0, ddof=1))
    said = np.array([tree.predict(X) for tree in model.estimators_])[:, :, None]
    ratio, error = between_to_within(counts, said, np.arange(40), 1.0)
    half = norm.ppf(0.9) * np.sqrt((ratio + error + 1 / 30) * found.within)
    np.testing.assert_allclose(
        model.confidence_interval(X[:5], 0.8), np.c_[-half, half] + model.predict(X[:5])[:, None]
    )


def test_the_curve_falls_to_its_floor() -> None:
    found = BaggingVariance(np.array([0.2, 0.4]), np.array([1.0, 1.4]), 50)
    assert found.sigma2 == pytest.approx(1.5)
    assert found.rho == pytest.approx(0.2)
    curve = found.curve()
    assert curve.variance[0] == pytest.approx(1.5)
    assert (np.diff(curve.variance) < 0).all()
    assert curve.floor == pytest.approx(0.3)
    assert curve.enough(0.1) == 40
    np.testing.assert_allclose(found.of_mean, [0.2 + 0.02, 0.4 + 0.028])


def test_a_negative_estimate_is_no_floor() -> None:
    found = BaggingVariance(np.array([-0.1]), np.array([1.0]), 10)
    assert found.rho == 0
    assert found.curve().enough() == 10**9
    assert found.of_mean.tolist() == [0.1]


def test_no_variance_at_all_is_no_trouble() -> None:
    curve = BaggingVariance(np.zeros(1), np.zeros(1), 3).curve(np.array([1, 2]))
    assert isinstance(curve, VarianceCurve)
    assert curve.variance.tolist() == [0, 0]


def bagged_means(n_sets, n_learners, n_rows, rng):
    """Yield (counts, answers) of the mean of drawn rows, whose variance is 1 / n_rows."""
    for _ in range(n_sets):
        counts = rng.multinomial(n_rows, np.full(n_rows, 1 / n_rows), size=n_learners)
        yield counts.astype(float), (counts @ rng.normal(size=n_rows) / n_rows)[:, None]


def test_few_learners_do_not_bias_the_jackknives() -> None:
    rng = np.random.default_rng(0)
    few, more = (list(bagged_means(1500, n, 20, rng)) for n in (8, 25))
    low = np.mean([infinitesimal_jackknife(*bag) for bag in few])
    high = np.mean([jackknife_after_bootstrap(*bag) for bag in more])
    nothing = np.mean([infinitesimal_jackknife(c, rng.normal(size=(8, 1))) for c, _ in few])
    assert low == pytest.approx(0.95 / 20, rel=0.1)  # of 20 rows: (n − 1) / n²
    assert 1 / 20 < high < 1.4 / 20
    assert abs(nothing) < 0.1  # noise of the learners alone, of variance 1


def test_points_together_tell_the_ratio_of_the_variances() -> None:
    # The mean of drawn rows varies within a fit as much as between training sets.
    ratios = [
        between_to_within(counts, np.tile(said[:, None], (1, 20, 1)), np.arange(20), 1.0)[0]
        for counts, said in bagged_means(60, 60, 20, np.random.default_rng(1))
    ]
    assert np.mean(ratios) == pytest.approx(1.0, rel=0.25)


def test_too_few_learners_tell_no_ratio() -> None:
    counts = np.array([[0.0, 2.0], [2.0, 0.0]])
    assert np.isnan(between_to_within(counts, np.zeros((2, 2, 1)), np.arange(2), 1.0)).all()


def test_learners_that_agree_have_no_spread() -> None:
    counts = np.random.default_rng(0).multinomial(5, [0.2] * 5, size=40).astype(float)
    assert between_to_within(counts, np.zeros((40, 5, 1)), np.arange(5), 1.0) == (0.0, 0.0)


def test_a_confidence_interval_holds_the_expected_prediction_as_often_as_it_says() -> None:
    # The expected prediction is the mean over the 24 training sets.
    X_new, inside, centres = np.random.default_rng(1).random((25, 3)), [], []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        X = rng.random((60, 3))
        y = 4 * X[:, 0] + np.sin(6 * X[:, 1]) + rng.normal(size=60)
        model = BaggingRegressor(DecisionTreeRegressor(min_samples_leaf=3), 60)
        model.set_params(split_features=2, random_state=seed).fit(X, y)
        inside.append(model.confidence_interval(X_new, 0.9))
        centres.append(model.predict(X_new))
    low, high = np.moveaxis(inside, -1, 0)
    expected = np.mean(centres, axis=0)
    assert 0.87 <= np.mean((low <= expected) & (expected <= high)) <= 0.985
