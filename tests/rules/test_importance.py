import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_friedman1

from foldwise.isle.table import CodedTable
from foldwise.rules.importance import (
    centred_terms,
    feature_shares,
    local_term_importances,
    term_importances,
)
from foldwise.rules.rulefit import RuleFitRegressor


@pytest.fixture(scope="module")
def fitted():
    X, y = make_friedman1(300, noise=0.5, random_state=0)
    model = RuleFitRegressor(n_estimators=60, random_state=0).fit(X, y)
    return model, X, y


def test_importance_is_the_standard_deviation_of_the_terms_contribution(fitted):
    model, X, _ = fitted
    terms = centred_terms(model.model_, CodedTable(X, model.columns_))
    coefs = np.r_[model.model_.rule_coefs[0], model.model_.linear_coefs[0]]
    assert_allclose(term_importances(model.model_), (terms * coefs).std(axis=0), rtol=1e-8)


def test_the_mean_square_of_local_importances_is_the_square_of_the_global(fitted):
    model, X, _ = fitted
    local = local_term_importances(model.model_, CodedTable(X, model.columns_))
    assert_allclose(np.sqrt((local**2).mean(axis=0)), term_importances(model.model_), rtol=1e-8)


def test_no_importance_is_lost_between_terms_and_columns(fitted):
    model, _, _ = fitted
    assert_allclose(feature_shares(model.model_, 10).sum(axis=1), 1)
    assert_allclose(model.feature_importances_.sum(), 1)
    assert_allclose(model.importances().sum(), model.importances(of="terms").sum())


def test_the_five_columns_of_friedman1_matter_most(fitted):
    model, _, _ = fitted
    assert set(model.importances().index[:5]) == {"x0", "x1", "x2", "x3", "x4"}


def test_a_region_has_its_own_importances():
    rng = np.random.default_rng(0)
    X = rng.random((400, 3))
    y = np.where(X[:, 0] > 0.5, 10 * X[:, 1], 0) + rng.normal(scale=0.1, size=400)
    model = RuleFitRegressor(n_estimators=100, random_state=0).fit(X, y)
    right = model.importances(X[X[:, 0] > 0.5])
    left = model.importances(X[X[:, 0] <= 0.5])
    assert right["x1"] > left["x1"]
    assert_allclose(model.local_importances(X).mean(axis=0).sum(), model.importances(X).sum())
