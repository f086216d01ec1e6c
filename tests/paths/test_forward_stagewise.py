import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, make_classification
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise.paths import cross_validated_stagewise_path
from foldwise.paths.forward_stagewise import ForwardStagewiseClassifier, ForwardStagewiseRegressor


@parametrize_with_checks(
    [
        ForwardStagewiseRegressor(max_steps=300, cv=2),
        ForwardStagewiseRegressor(epsilon=0.0, cv=2),
        ForwardStagewiseClassifier(max_steps=20, epsilon=0.1, cv=2),
    ]
)
def test_scikit_learns_estimator_checks(estimator, check):
    check(estimator)


@pytest.fixture(name="data")
def data_fixture():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 6)) * 10.0 ** np.arange(6)
    return X, 3 * X[:, 0] + 0.001 * X[:, 4] + rng.normal(size=100)


@pytest.mark.parametrize("epsilon", [0.0, 0.01])
def test_coefficients_are_the_chosen_point_of_the_path_in_the_users_units(data, epsilon):
    X, y = data
    folds = np.arange(100) % 4
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(4)]
    model = ForwardStagewiseRegressor(epsilon=epsilon, cv=splits).fit(X, y)
    path = cross_validated_stagewise_path(
        X / X.std(axis=0), y, fold_of=folds, epsilon=epsilon * y.std()
    )
    assert_allclose(model.coef_, path.coefs[path.index_min] / X.std(axis=0), rtol=1e-6)
    assert_allclose(model.predict(X), X @ model.coef_ + model.intercept_)


def test_the_scale_of_columns_and_target_does_not_matter(data):
    X, y = data
    plain = ForwardStagewiseRegressor(random_state=0).fit(X, y)
    scaled = ForwardStagewiseRegressor(random_state=0).fit(X / 7 + 2, 1000 * y)
    assert_allclose(scaled.predict(X / 7 + 2), 1000 * plain.predict(X), rtol=1e-6)


def test_one_standard_error_stops_no_later(data):
    X, y = data
    early = ForwardStagewiseRegressor(choose="1se", random_state=0).fit(X, y)
    late = ForwardStagewiseRegressor(choose="min", random_state=0).fit(X, y)
    assert early.index_ <= late.index_


def test_names_of_columns_are_kept_and_groups_stay_together(data):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = ForwardStagewiseRegressor(cv=3).fit(frame, y, groups=np.arange(100) // 10)
    assert list(model.feature_names_in_) == list("abcdef")


def test_several_classes_have_probabilities_that_sum_to_one():
    X, y = load_iris(return_X_y=True)
    model = ForwardStagewiseClassifier(random_state=0).fit(X, np.array(["u", "v", "w"])[y])
    assert model.score(X, np.array(["u", "v", "w"])[y]) > 0.93
    assert model.coef_.shape == (3, 4)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_two_classes_have_one_row_of_coefficients():
    X, y = make_classification(200, 5, random_state=0)
    model = ForwardStagewiseClassifier(random_state=0).fit(X, y)
    assert model.coef_.shape == (1, 5)
    odds = np.log(model.predict_proba(X)[:, 1] / model.predict_proba(X)[:, 0])
    assert_allclose(odds, model.decision_function(X), atol=1e-9)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            ForwardStagewiseRegressor(epsilon=-1),
            "ForwardStagewiseRegressor: epsilon must be a number at least 0; got -1. Try 0.01.",
        ),
        (
            ForwardStagewiseClassifier(epsilon=0),
            "ForwardStagewiseClassifier: epsilon must be a number above 0; got 0. Try 0.01.",
        ),
        (
            ForwardStagewiseRegressor(choose="mim"),
            "ForwardStagewiseRegressor: choose must be one of 'min', '1se'; got 'mim'. "
            "Did you mean 'min'?",
        ),
    ],
)
def test_bad_parameters_are_named(model, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        model.fit(np.eye(4), [0, 1, 0, 1])
