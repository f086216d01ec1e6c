import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LassoCV
from sklearn.model_selection import PredefinedSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise.errors import InvalidParameterError
from foldwise.paths.lasso import LassoPathClassifier, LassoPathRegressor


@parametrize_with_checks(
    [
        LassoPathRegressor(n_lambdas=5, cv=2),
        LassoPathClassifier(n_lambdas=5, lambda_min_ratio=0.1, cv=2),
    ]
)
def test_scikit_learns_estimator_checks(estimator, check):
    check(estimator)


@pytest.fixture(name="data")
def data_fixture():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 10))
    return X, 3 * X[:, 0] - X[:, 4] + rng.normal(size=150)


def test_without_standardising_it_is_lassocv(data):
    X, y = data
    split = PredefinedSplit(np.arange(150) % 5)
    ours = LassoPathRegressor(standardize=False, cv=split).fit(X, y)
    theirs = LassoCV(cv=split, tol=1e-8).fit(X, y)
    assert_allclose(ours.lambda_, theirs.alpha_)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)


def test_the_units_of_a_column_do_not_matter(data):
    X, y = data
    scale = 10.0 ** np.arange(-5, 5)
    plain = LassoPathRegressor(random_state=0).fit(X, y)
    scaled = LassoPathRegressor(random_state=0).fit(X * scale, y)
    assert_allclose(scaled.coef_ * scale, plain.coef_, atol=1e-8)


@pytest.mark.parametrize("variant", ["relaxed", "adaptive"])
def test_variants_shrink_strong_columns_less(data, variant):
    X, y = data
    plain = LassoPathRegressor(choose="1se", random_state=0).fit(X, y)
    other = LassoPathRegressor(variant=variant, choose="1se", random_state=0).fit(X, y)
    assert abs(other.coef_[0] - 3) < abs(plain.coef_[0] - 3)


def test_counts_are_predicted_by_their_mean():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = rng.poisson(np.exp(1 + X[:, 0]))
    model = LassoPathRegressor(loss="poisson", random_state=0).fit(X, y)
    assert_allclose(model.predict(X).mean(), y.mean(), rtol=1e-3)
    assert_allclose(model.coef_[0], 1, atol=0.1)


def test_outliers_do_not_move_a_huber_fit(data):
    X, y = data
    spoiled = y.copy()
    spoiled[:10] += 1000
    model = LassoPathRegressor(loss="huber", random_state=0).fit(X, spoiled)
    assert_allclose(model.coef_[[0, 4]], [3, -1], atol=0.5)


def test_non_negative_coefficients_are_not_negative(data):
    X, y = data
    model = LassoPathRegressor(non_negative=True, random_state=0).fit(X, y)
    assert (model.coef_ >= 0).all()
    assert model.coef_[0] > 2


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
@pytest.mark.parametrize("variant", ["plain", "relaxed"])
def test_classes_are_told_apart(load, variant):
    X, y = load(return_X_y=True)
    model = LassoPathClassifier(
        n_lambdas=10, lambda_min_ratio=0.02, variant=variant, random_state=0
    ).fit(X, y)
    assert model.score(X, y) > 0.95
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.path_.cv_loss.min() < 0.25


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (
            LassoPathRegressor(variant="relax"),
            ValueError,
            "LassoPathRegressor: variant must be one of 'plain', 'relaxed', 'adaptive'; "
            "got 'relax'. Did you mean 'relaxed'?",
        ),
        (
            LassoPathClassifier(variant="adaptive", l1_ratio=0.5),
            TypeError,
            "LassoPathClassifier: l1_ratio must be 1.0 with variant='adaptive'; got 0.5. "
            "Use variant='plain'.",
        ),
        (
            LassoPathRegressor(variant="relaxed", non_negative=True),
            TypeError,
            "LassoPathRegressor: non_negative must be False with variant='relaxed'; got True. "
            "Use variant='plain'.",
        ),
        (
            LassoPathRegressor(loss="poisson"),
            ValueError,
            "LassoPathRegressor: y must hold counts, none negative, with loss='poisson'; "
            "got -1.0. Use loss='squared' for numbers of either sign.",
        ),
    ],
)
def test_bad_parameters_are_named(model, error, message):
    with pytest.raises(error, match=re.escape(message)):
        model.fit(np.eye(4), [-1, 1, -1, 1])


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({"l1_ratio": 2}, "l1_ratio must be a number at least 0 and at most 1; got 2."),
        ({"lambda_min_ratio": 0}, "lambda_min_ratio must be a number above 0 and at most 1; got 0"),
        ({"tol": "a"}, "tol must be a number above 0; got 'a'."),
        ({"n_lambdas": 0}, "n_lambdas must be a whole number of at least 1; got 0. Try 100."),
    ],
)
@pytest.mark.parametrize("kind", [LassoPathRegressor, LassoPathClassifier])
def test_errors_name_the_estimator(kind, parameters, rule):
    with pytest.raises(InvalidParameterError, match=f"^{kind.__name__}: {rule}"):
        kind(**parameters).fit(np.eye(9), np.arange(9) % 2)
