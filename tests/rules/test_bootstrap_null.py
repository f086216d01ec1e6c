import numpy as np

from foldwise.rules.bootstrap_null import interaction_null
from foldwise.rules.rulefit import RuleFitClassifier, RuleFitRegressor


def test_real_interactions_stand_out_of_the_null_and_others_do_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = 3 * (X[:, 0] > 0) * (X[:, 1] > 0) + X[:, 2] + X[:, 3] + rng.normal(scale=0.5, size=300)
    model = RuleFitRegressor(n_estimators=60, random_state=0).fit(X, y)
    frame = interaction_null(model, X, y, n_bootstrap=3, random_state=0)
    first, rest = frame.iloc[0], frame.iloc[1:]
    assert (first["feature_1"], first["feature_2"]) == ("x0", "x1")
    assert first["excess"] > 3 * rest["excess"].max()


def test_classes_are_redrawn_from_probabilities():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] * X[:, 1] + rng.normal(scale=0.3, size=200) > 0, "yes", "no")
    model = RuleFitClassifier(n_estimators=40, random_state=0).fit(X, y)
    frame = interaction_null(model, X, y, n_bootstrap=2, random_state=0)
    assert (frame.iloc[0]["feature_1"], frame.iloc[0]["feature_2"]) == ("x0", "x1")


def test_counts_are_redrawn_as_counts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = rng.poisson(np.exp(0.5 + (X[:, 0] > 0) * (X[:, 1] > 0)))
    model = RuleFitRegressor(loss="poisson", n_estimators=20, random_state=0).fit(X, y)
    frame = interaction_null(model, X, y, n_bootstrap=1, random_state=0)
    assert frame["null_std"].eq(0).all()
