"""Penalties are chosen, and scores reported, by dictionaries that never saw the rows judged."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import log_loss, mean_poisson_deviance, mean_squared_error
from sklearn.model_selection import KFold, cross_val_predict

from foldwise import (
    ISLEClassifier,
    ISLERegressor,
    LassoPathRegressor,
    RuleFitClassifier,
    RuleFitRegressor,
)
from foldwise.isle import choice
from foldwise.isle.choice import mean_score

REGRESSORS = [
    RuleFitRegressor(n_estimators=8, random_state=0),
    RuleFitRegressor(n_estimators=8, max_terms=4, random_state=0),
    RuleFitRegressor(n_estimators=8, loss="huber", random_state=0),
    ISLERegressor(n_estimators=8, random_state=0),
    ISLERegressor(n_estimators=8, post="stagewise", choose="1se", random_state=0),
    ISLERegressor(n_estimators=8, post="shrink", random_state=0),
]


def judged_points(model, X, y, monkeypatch):
    """Return the coefficients and terms that were deployed, then those that judged each fold."""
    made, original = [], choice.choose_point
    monkeypatch.setattr(
        choice, "choose_point", lambda *args: made.append(original(*args)) or made[-1]
    )
    model.fit(X, y)
    monkeypatch.undo()
    return [(each.coefs, each.grown.dictionary.matrix(_table(model, X))) for each in made]


def _table(model, X):
    from foldwise.isle.data import new_table

    return new_table(model, X)


@pytest.mark.parametrize("model", REGRESSORS, ids=repr)
def test_changing_the_targets_of_a_fold_changes_nothing_that_judges_it(model, monkeypatch):
    X, y = make_friedman1(90, noise=3.0, random_state=0)
    model.set_params(cv=KFold(3))
    before = judged_points(model, X, y, monkeypatch)
    for fold in range(3):
        changed = y.copy()
        changed[30 * fold : 30 * fold + 30] = 1e3 * np.random.default_rng(fold).normal(size=30)
        after = judged_points(model, X, changed, monkeypatch)
        assert before[0][0].shape != after[0][0].shape or (before[0][0] != after[0][0]).any()
        for one, other in zip(before[1 + fold], after[1 + fold], strict=True):
            assert (one == other).all()


@pytest.mark.parametrize(
    "kind", [RuleFitRegressor, ISLERegressor, partial(ISLERegressor, post="shrink")]
)
def test_on_noise_the_loss_is_that_of_a_constant_and_the_score_says_so(kind):
    ratios, optimism = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(150, 10)), rng.normal(size=150)
        model = kind(n_estimators=50, random_state=seed).fit(X, y)
        loss = np.mean((rng.normal(size=2000) - model.predict(rng.normal(size=(2000, 10)))) ** 2)
        ratios.append(loss)
        optimism.append(1 - -model.score_ / y.var())
    assert np.mean(ratios) < 1.05
    assert np.mean(optimism) < 0.02


@pytest.mark.parametrize(
    ("model", "loss"),
    [
        (RuleFitRegressor(), mean_squared_error),
        (RuleFitRegressor(loss="poisson"), mean_poisson_deviance),
        (RuleFitClassifier(), log_loss),
    ],
)
def test_the_score_is_minus_the_metric_of_rows_held_out(model, loss):
    # Without a column that varies every model is a constant, the mean of the other folds.
    y, X = np.random.default_rng(0).integers(0, 2, 60), np.ones((60, 2))
    model.set_params(cv=KFold(4), n_estimators=5, random_state=0).fit(X, y)
    how = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    out = cross_val_predict(model, X, y, cv=KFold(4), method=how)
    assert_allclose(model.score_, -loss(y, out), rtol=1e-6)


def test_the_standard_error_counts_groups_not_rows():
    losses = np.array([1.0, 3.0, 1.0, 3.0])
    assert mean_score(losses, np.ones(4), None) == (-2.0, pytest.approx(1 / np.sqrt(3)))
    assert mean_score(losses, np.ones(4), np.array([0, 1, 0, 1])) == (-2.0, pytest.approx(1.0))


def test_there_is_no_score_where_none_can_be_honest():
    X, y = make_friedman1(60, random_state=0)
    forest = RandomForestRegressor(5, max_leaf_nodes=4, random_state=0).fit(X, y)
    few = {"n_estimators": 5, "random_state": 0}
    for model in (
        ISLERegressor.from_fitted(forest, random_state=0),
        ISLERegressor(cv=2, **few),
        RuleFitRegressor(dictionary="shared", **few),
        RuleFitRegressor(cv_score=False, **few),
    ):
        model.fit(X, y)
        assert np.isnan(model.score_)
        assert np.isnan(model.score_se_)


@pytest.mark.usefixtures("short_paths")
@pytest.mark.parametrize("kind", [ISLEClassifier, RuleFitClassifier])
def test_a_class_missing_from_some_training_rows_is_no_trouble(kind):
    X = np.random.default_rng(0).normal(size=(40, 3))
    for y in (np.r_[np.zeros(36), 1, 1, 2, 2], np.r_[np.zeros(38), 1, 1]):
        model = kind(n_estimators=5, cv=3, random_state=0).fit(X, y)
        assert np.isfinite(model.score_)
        assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("kind", [RuleFitRegressor, ISLERegressor])
def test_where_straight_lines_are_the_truth_the_folds_choose_them_alone(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    y = X[:, 0] - X[:, 1] + rng.normal(size=200)
    model = kind(n_estimators=50, cv_score=False, random_state=0).fit(X, y)
    if kind is RuleFitRegressor:
        assert not model.model_.rules
        assert model.n_candidates_ > 100
    else:
        assert model.n_trees_ == 0
        assert f"lines   {len(model.lines_)} instead of trees" in model.summary()
        # Trees that saw the folds are no fair rivals of lines.
        assert model.set_params(dictionary="shared").fit(X, y).lines_ is None
        model.set_params(dictionary="regrown").fit(X, y)
    lasso = LassoPathRegressor(random_state=0).fit(X, y)
    X_new = rng.normal(size=(2000, 8))
    truth = X_new[:, 0] - X_new[:, 1]
    ours, theirs = (1 + np.mean((truth - m.predict(X_new)) ** 2) for m in (model, lasso))
    assert ours < 1.02 * theirs


@pytest.mark.parametrize(
    "model", [RuleFitRegressor(n_estimators=0), ISLERegressor(n_estimators=10)], ids=repr
)
def test_levels_are_terms_of_the_lines_too(model):
    rng = np.random.default_rng(0)
    town = rng.choice(["Bonn", "Oslo", "Rome"], 200)
    X = pd.DataFrame({"size": rng.normal(size=200), "town": town})
    y = X["size"] + 2.0 * (town == "Rome") + 0.1 * rng.normal(size=200)
    model.set_params(cv=3, cv_score=False, random_state=0).fit(X, y)
    new = pd.DataFrame({"size": [0.0, 0.0, 0.0, 1.0], "town": ["Rome", "Oslo", "Nice", "Oslo"]})
    assert_allclose(model.predict(new), [2.0, 0.0, 0.0, 1.0], atol=0.15)
    if isinstance(model, RuleFitRegressor):
        assert "town in {'Rome'}" in set(model.rules_["rule"])
