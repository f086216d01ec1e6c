import itertools
import warnings

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise import BayesianModelAveragingClassifier
from foldwise.errors import FoldwiseWarning
from foldwise.subset.logistic import scaled_rows
from foldwise.subset.moments import SubsetRows


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


def three_classes(n=150, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 1
    noise = rng.gumbel(size=(n, 3))
    return X, (noise + np.outer(X[:, 0], [0, 1, -1]) + np.outer(X[:, 1], [0.5, 0, 0])).argmax(1)


def test_averages_of_several_classes_equal_multinomial_brute_force():
    X, y = three_classes()
    subsets = [c for size in range(4) for c in itertools.combinations(range(3), size)]
    deviances, chances = [], []
    for columns in subsets:
        Z = np.column_stack([np.zeros(150), X[:, columns]])
        model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(Z, y)
        chances.append(model.predict_proba(Z))
        deviances.append(2 * log_loss(y, chances[-1], normalize=False))
    # Two coefficients a column, and two intercepts.
    n_parameters = 2 * (1 + np.array([len(columns) for columns in subsets]))
    weights = np.exp(-0.5 * (np.array(deviances) + n_parameters * np.log(150)))
    weights /= weights.sum()
    bma = BayesianModelAveragingClassifier().fit(X, y)
    supports = [tuple(np.flatnonzero(support)) for support in bma.model_support_]
    found = dict(zip(supports, bma.model_probability_, strict=True))
    assert_allclose([found.get(c, 0.0) for c in subsets], weights, rtol=1e-5, atol=1e-10)
    expected = np.tensordot(weights, chances, axes=1)
    assert_allclose(bma.predict_proba(X), expected, rtol=1e-4)
    assert_array_equal(bma.predict(X), expected.argmax(axis=1))
    assert bma.coef_.shape == bma.coef_sd_.shape == (2, 3)
    assert bma.model_coef_.shape == (len(supports), 2, 3)
    assert bma.intercept_.shape == (2,)


def test_a_third_class_with_one_column_more_changes_no_name_or_order():
    X, y = three_classes()
    names = np.array(["c", "a", "b"])
    by_name = BayesianModelAveragingClassifier().fit(X, names[y])
    by_number = BayesianModelAveragingClassifier().fit(X, y)
    order = [1, 2, 0]
    assert by_name.classes_.tolist() == ["a", "b", "c"]
    assert_allclose(by_name.predict_proba(X), by_number.predict_proba(X)[:, order], rtol=1e-6)
    assert_allclose(by_name.model_probability_, by_number.model_probability_, rtol=1e-6)


def test_neighbours_find_the_models_of_several_classes_that_enumeration_finds():
    X, y = three_classes(n=250, p=7, seed=1)
    every = BayesianModelAveragingClassifier(occam_ratio=20, method="enumerate").fit(X, y)
    quick = BayesianModelAveragingClassifier(method="branch_and_bound").fit(X, y)
    assert_array_equal(quick.model_support_, every.model_support_)
    assert_allclose(quick.predict_proba(X), every.predict_proba(X), rtol=1e-8)
    forced = BayesianModelAveragingClassifier(forced=[6], method="branch_and_bound").fit(X, y)
    assert forced.model_support_[:, 6].all()


def test_many_rows_and_columns_need_no_array_of_all_products(monkeypatch):
    X, y = three_classes(n=120, p=4)
    for classes in (y, y > 0):
        whole = BayesianModelAveragingClassifier().fit(X, classes)
        with monkeypatch.context() as little:
            little.setattr("foldwise.subset.logistic.AT_ONCE", 120 * 5 * 5 - 1)
            assert scaled_rows(SubsetRows(X, y, np.ones(120)))[0].products is None
            bma = BayesianModelAveragingClassifier().fit(X, classes)
        assert_allclose(bma.model_probability_, whole.model_probability_, rtol=1e-9)
        assert_allclose(bma.coef_, whole.coef_, rtol=1e-9)


def test_the_largest_size_holds_for_the_quadratic_search():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 9))
    signal = X[:, :4].sum(axis=1) + 2 * rng.normal(size=300)
    for y in (signal > 0, np.digitize(signal, [-1, 1])):
        bma = BayesianModelAveragingClassifier(method="branch_and_bound", max_size=2).fit(X, y)
        assert bma.model_support_.sum(axis=1).max() == 2


def test_the_quadratic_search_finds_the_models_that_enumeration_finds():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 9))
    y = (rng.random(300) < expit(X[:, 0] - 0.4 * X[:, 4])).astype(int)
    every = BayesianModelAveragingClassifier(occam_ratio=20, method="enumerate").fit(X, y)
    quick = BayesianModelAveragingClassifier(method="branch_and_bound").fit(X, y)
    assert_array_equal(quick.model_support_, every.model_support_)
    assert_allclose(quick.predict_proba(X), every.predict_proba(X), rtol=1e-9)


def test_neighbours_find_the_models_of_two_classes_that_bounds_find(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 12))
    X[:, 6:] += X[:, :6]
    y = (rng.random(200) < expit(X[:, 0] - 0.4 * X[:, 4])).astype(int)
    bounds = BayesianModelAveragingClassifier(method="branch_and_bound").fit(X, y)
    monkeypatch.setattr("foldwise.subset.bma_classifier.SEARCHABLE_COLUMNS", 0)
    spread = BayesianModelAveragingClassifier(method="branch_and_bound").fit(X, y)
    assert_array_equal(spread.model_support_, bounds.model_support_)


def test_the_search_recovers_where_all_columns_together_separate_the_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 13))
    y = (rng.random(100) < expit(3 * (X[:, 0] - X[:, 1]))).astype(int)
    every = BayesianModelAveragingClassifier(occam_ratio=20, method="enumerate").fit(X, y)
    quick = BayesianModelAveragingClassifier(method="branch_and_bound").fit(X, y)
    assert_array_equal(quick.model_support_, every.model_support_)


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
