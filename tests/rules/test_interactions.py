from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_friedman1

from foldwise.isle.data import CodedTable
from foldwise.rules.interactions import PartialDependence, interaction_null
from foldwise.rules.rulefit import RuleFitClassifier, RuleFitRegressor


@pytest.fixture(scope="module")
def fitted():
    X, y = make_friedman1(60, n_features=5, noise=0.1, random_state=0)
    # Not chosen from lines alone, which have no interactions.
    return RuleFitRegressor(n_estimators=60, cv=2, dictionary="shared", random_state=0).fit(X, y), X


def brute_force(model, X, features):
    """Partial dependence by predicting every pair of rows."""
    n = len(X)
    out = np.zeros(n)
    for i, k in product(range(n), range(n)):
        row = X[k].copy()
        row[list(features)] = X[i, list(features)]
        out[i] += model.predict(row[None])[0] / n
    return out - out.mean()


@pytest.mark.parametrize("features", [{0}, {0, 1}, {0, 1, 3}])
def test_partial_dependence_agrees_with_brute_force(fitted, features):
    model, X = fitted
    X = X[:15]
    exact = PartialDependence(model.model_, CodedTable(X, model.columns_), np.ones(len(X)))
    assert_allclose(
        exact.of(frozenset(features))[:, 0], brute_force(model, X, features), atol=1e-10
    )


def test_h_agrees_with_its_definition(fitted):
    model, X = fitted
    X = X[:12]
    pair, one, two = (brute_force(model, X, f) for f in ({0, 1}, {0}, {1}))
    wanted = np.sqrt(np.sum((pair - one - two) ** 2) / np.sum(pair**2))
    frame = model.interactions(X)
    found = frame[(frame["feature_1"] == "x0") & (frame["feature_2"] == "x1")]["H"].item()
    assert_allclose(found, wanted, rtol=1e-8)


def test_the_interacting_pair_of_friedman1_comes_first():
    X, y = make_friedman1(400, noise=0.5, random_state=0)
    model = RuleFitRegressor(n_estimators=100, cv=2, random_state=0).fit(X, y)
    assert model.interactions(X).iloc[0][["feature_1", "feature_2"]].tolist() == ["x0", "x1"]
    assert set(model.interactions(X, order=1)["feature_1"][:2]) == {"x0", "x1"}
    assert (model.interactions(X, order=3)["H"] < 1).all()


def test_real_interactions_stand_out_of_the_null_and_others_do_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = 3 * (X[:, 0] > 0) * (X[:, 1] > 0) + X[:, 2] + X[:, 3] + rng.normal(scale=0.5, size=300)
    model = RuleFitRegressor(n_estimators=60, cv=2, random_state=0).fit(X, y)
    frame = interaction_null(model, X, y, n_bootstrap=3, random_state=0)
    first, rest = frame.iloc[0], frame.iloc[1:]
    assert (first["feature_1"], first["feature_2"]) == ("x0", "x1")
    assert first["excess"] > 3 * rest["excess"].max()


def test_classes_are_redrawn_from_probabilities():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] * X[:, 1] + rng.normal(scale=0.3, size=200) > 0, "yes", "no")
    model = RuleFitClassifier(n_estimators=40, cv=2, random_state=0).fit(X, y)
    frame = interaction_null(model, X, y, n_bootstrap=2, random_state=0)
    assert (frame.iloc[0]["feature_1"], frame.iloc[0]["feature_2"]) == ("x0", "x1")


@pytest.mark.usefixtures("short_paths")
def test_counts_are_redrawn_as_counts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = rng.poisson(np.exp(0.5 + (X[:, 0] > 0) * (X[:, 1] > 0)))
    model = RuleFitRegressor(loss="poisson", n_estimators=20, cv=2, random_state=0).fit(X, y)
    frame = interaction_null(model, X, y, n_bootstrap=1, random_state=0)
    assert frame["null_std"].eq(0).all()
