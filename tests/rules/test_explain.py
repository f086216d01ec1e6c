import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, make_friedman1

from foldwise.errors import InvalidDataError, InvalidParameterError
from foldwise.isle.data import CodedTable
from foldwise.rules.explain import (
    centred_terms,
    feature_shares,
    local_term_importances,
    term_importances,
)
from foldwise.rules.rulefit import RuleFitClassifier, RuleFitRegressor


@pytest.fixture(scope="module")
def fitted():
    X, y = make_friedman1(200, random_state=0)
    return RuleFitRegressor(n_estimators=40, cv=2, random_state=0).fit(X, y), X


def test_contributions_add_up_to_the_prediction(fitted):
    model, X = fitted
    for x in X[:5]:
        why = model.explain(x)
        assert_allclose(why.base + why.terms["contribution"].sum(), why.decision)
        assert_allclose(why.decision, model.predict(x[None])[0])


def test_the_base_is_the_mean_prediction(fitted):
    model, X = fitted
    assert_allclose(model.explain(X[0]).base, model.predict(X).mean(), rtol=1e-6)


def test_the_text_adds_up_too(fitted):
    model, X = fitted
    lines = str(model.explain(X[0])).splitlines()
    numbers = [float(line.split()[0]) for line in lines]
    assert lines[0].endswith("average row")
    assert lines[-1].endswith("this row")
    assert_allclose(sum(numbers[:-1]), numbers[-1], atol=0.02)


@pytest.mark.usefixtures("short_paths")
def test_the_most_probable_class_is_explained_unless_another_is_asked_for():
    X, y = load_iris(return_X_y=True)
    model = RuleFitClassifier(n_estimators=20, cv=2, random_state=0).fit(X, y)
    scores = model.decision_function(X[:1])[0]
    assert_allclose(model.explain(X[0]).decision, scores.max())
    assert_allclose(model.explain(X[0], output=2).decision, scores[2])
    with pytest.raises(InvalidParameterError, match="output must be one of 0, 1, 2; got 7"):
        model.explain(X[0], output=7)


def test_only_one_row_is_explained(fitted):
    model, X = fitted
    with pytest.raises(InvalidDataError, match="x must be one row; got 2"):
        model.explain(np.asarray(X[:2]))


@pytest.fixture(scope="module")
def friedman():
    X, y = make_friedman1(300, noise=0.5, random_state=0)
    model = RuleFitRegressor(n_estimators=60, cv=2, random_state=0).fit(X, y)
    return model, X, y


def test_importance_is_the_standard_deviation_of_the_terms_contribution(friedman):
    model, X, _ = friedman
    terms = centred_terms(model.model_, CodedTable(X, model.columns_))
    coefs = np.r_[model.model_.rule_coefs[0], model.model_.linear_coefs[0]]
    assert_allclose(term_importances(model.model_), (terms * coefs).std(axis=0), rtol=1e-8)


def test_the_mean_square_of_local_importances_is_the_square_of_the_global(friedman):
    model, X, _ = friedman
    local = local_term_importances(model.model_, CodedTable(X, model.columns_))
    assert_allclose(np.sqrt((local**2).mean(axis=0)), term_importances(model.model_), rtol=1e-8)


def test_no_importance_is_lost_between_terms_and_columns(friedman):
    model, _, _ = friedman
    assert_allclose(feature_shares(model.model_, 10).sum(axis=1), 1)
    assert_allclose(model.feature_importances_.sum(), 1)
    assert_allclose(model.importances().sum(), model.importances(of="terms").sum())


def test_the_five_columns_of_friedman1_matter_most(friedman):
    model, _, _ = friedman
    assert set(model.importances().index[:5]) == {"x0", "x1", "x2", "x3", "x4"}


def test_a_region_has_its_own_importances():
    rng = np.random.default_rng(0)
    X = rng.random((400, 3))
    y = np.where(X[:, 0] > 0.5, 10 * X[:, 1], 0) + rng.normal(scale=0.1, size=400)
    model = RuleFitRegressor(n_estimators=100, cv=2, random_state=0).fit(X, y)
    right = model.importances(X[X[:, 0] > 0.5])
    left = model.importances(X[X[:, 0] <= 0.5])
    assert right["x1"] > left["x1"]
    assert_allclose(model.local_importances(X).mean(axis=0).sum(), model.importances(X).sum())
