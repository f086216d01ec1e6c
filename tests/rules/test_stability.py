import numpy as np
import pandas as pd
from sklearn.datasets import make_friedman1

from foldwise.rules.rulefit import RuleFitRegressor
from foldwise.rules.stability import rule_stability


def test_a_rule_that_is_there_comes_back_and_noise_does_not():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((300, 3)), columns=["a", "b", "c"])
    y = 5.0 * ((X["a"] > 0.5) & (X["b"] > 0.5)) + rng.normal(scale=0.3, size=300)
    model = RuleFitRegressor(n_estimators=40, max_terms=6, cv=2, random_state=0).fit(X, y)
    found = rule_stability(model, X, y, n_resamples=4, random_state=0)
    assert found.rules.iloc[0]["frequency"] == 1
    noise = rng.normal(size=300)
    # A dictionary that saw all rows finds rules in noise, too.
    lost = RuleFitRegressor(n_estimators=40, max_terms=6, cv=2, dictionary="shared", random_state=0)
    again = rule_stability(lost.fit(X, noise), X, noise, n_resamples=4, random_state=0)
    assert len(again.rules)
    assert again.dice < found.dice


def test_the_same_rows_give_the_same_rules():
    X, y = make_friedman1(150, random_state=0)
    model = RuleFitRegressor(n_estimators=20, cv=2, random_state=0).fit(X, y)
    found = rule_stability(model, X, y, n_resamples=2, share=1.0)
    assert found.dice == 1
    assert (found.rules["frequency"] == 1).all()


def test_a_model_without_rules_is_stable():
    X, y = make_friedman1(60, random_state=0)
    model = RuleFitRegressor(n_estimators=0).fit(X, y)
    assert rule_stability(model, X, y, n_resamples=1).dice == 1
