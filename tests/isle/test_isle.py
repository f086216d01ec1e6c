import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_friedman1
from sklearn.ensemble import (
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

from foldwise.errors import InvalidDataError, InvalidParameterError, UnsupportedError
from foldwise.isle.data import CodedTable, Columns, TreeData
from foldwise.isle.isle import ISLEClassifier, ISLERegressor

WEIGHTS_RESAMPLED = dict.fromkeys(
    [
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ],
    "the trees see random samples of the rows, and LightGBM bins the columns",
)


@pytest.mark.usefixtures("short_paths")
@parametrize_with_checks(
    [
        ISLERegressor(n_estimators=8, linear_terms=False, cv=2, random_state=0),
        ISLEClassifier(n_estimators=8, cv=2, random_state=0),
    ],
    expected_failed_checks=lambda _: WEIGHTS_RESAMPLED,
)
def test_scikit_learn_checks(estimator, check, request):
    if request.node.get_closest_marker("xfail"):
        pytest.xfail("what cannot hold takes longest")
    check(estimator)


@pytest.fixture(scope="module")
def friedman():
    return make_friedman1(800, noise=1.0, random_state=0)


@pytest.mark.parametrize("trees", ["lightgbm", "sklearn"])
def test_fewer_trees_predict_better_than_a_constant_by_far(friedman, trees):
    X, y = friedman
    isle = ISLERegressor(n_estimators=200, trees=trees, cv=2, random_state=0).fit(X[:400], y[:400])
    assert isle.n_trees_grown_ == 200
    assert isle.n_trees_ < 170
    assert len(isle.trees_) == isle.n_trees_
    assert np.mean((y[400:] - isle.predict(X[400:])) ** 2) < 0.15 * y.var()


def test_unused_trees_are_gone_and_predictions_are_those_of_all_trees(friedman):
    X, y = friedman
    forest = RandomForestRegressor(50, max_leaf_nodes=10, random_state=0).fit(X, y)
    isle = ISLERegressor.from_fitted(forest, cv=2, random_state=0).fit(X, y)
    by_tree = np.column_stack([tree.predict(X) for tree in forest.estimators_])
    # The kept trees' leaves hold coefficient times value: regress to read coefficients off.
    kept = [
        k for k, tree in enumerate(forest.estimators_) if tree.tree_ in isle.trees_.finder.trees
    ]
    assert len(kept) == isle.n_trees_ < 50
    design = np.column_stack([np.ones(len(y)), by_tree[:, kept]])
    fitted, residual, *_ = np.linalg.lstsq(design, isle.predict(X), rcond=None)
    assert residual.sum() < 1e-12
    assert_allclose(fitted[0], isle.intercepts_[0], atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(40, max_leaf_nodes=8, random_state=0),
        ExtraTreesRegressor(40, max_leaf_nodes=8, random_state=0),
        GradientBoostingRegressor(n_estimators=40, random_state=0),
        BaggingRegressor(n_estimators=40, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_sklearn_ensembles_are_read(friedman, model):
    X, y = friedman
    model = clone(model).fit(X[:400], y[:400])
    isle = ISLERegressor.from_fitted(model, cv=2, random_state=0).fit(X[400:], y[400:])
    assert isle.n_trees_grown_ == 40
    plain = np.mean((y[400:] - model.predict(X[400:])) ** 2)
    assert np.mean((y[400:] - isle.predict(X[400:])) ** 2) < 1.02 * plain


def test_lightgbm_models_are_read_and_shortened(friedman):
    from lightgbm import LGBMRegressor

    X, y = friedman
    model = LGBMRegressor(n_estimators=60, num_leaves=6, n_jobs=1, verbose=-1).fit(X, y)
    isle = ISLERegressor.from_fitted(model, post="shrink", cv=2, random_state=0).fit(X, y)
    assert isle.n_trees_ == 60
    smaller = ISLERegressor.from_fitted(model, cv=2, random_state=0).fit(X, y)
    assert smaller.trees_.finder.booster.num_trees() == smaller.n_trees_ < 60
    assert np.mean((y - smaller.predict(X)) ** 2) < np.mean((y - model.predict(X)) ** 2) * 1.1


@pytest.mark.usefixtures("short_paths")
def test_lightgbm_models_of_several_classes_are_read():
    from lightgbm import LGBMClassifier

    X, y = load_iris(return_X_y=True)
    model = LGBMClassifier(n_estimators=20, num_leaves=4, min_child_samples=5, n_jobs=1, verbose=-1)
    isle = ISLEClassifier.from_fitted(model.fit(X, y), cv=2, random_state=0).fit(X, y)
    assert isle.n_trees_grown_ == 60
    assert isle.score(X, y) > 0.95


def test_xgboost_models_are_read_and_shortened(friedman):
    xgboost = pytest.importorskip("xgboost")
    X, y = friedman
    model = xgboost.XGBRegressor(n_estimators=60, max_depth=3).fit(X, y)
    isle = ISLERegressor.from_fitted(model, cv=2, random_state=0).fit(X, y)
    assert isle.trees_.finder.booster.num_boosted_rounds() == isle.n_trees_ < 60
    columns = isle.trees_.columns(X)
    assert_allclose(columns.sum(axis=1) + isle.intercepts_[0], isle.predict(X), rtol=1e-5)
    assert np.mean((y - isle.predict(X)) ** 2) < 0.2 * y.var()


def test_classifier_forests_give_probabilities_not_votes():
    X, y = make_classification(600, random_state=0)
    forest = RandomForestClassifier(50, max_leaf_nodes=8, random_state=0).fit(X[:300], y[:300])
    isle = ISLEClassifier.from_fitted(forest, cv=2, random_state=0).fit(X[300:], y[300:])
    assert_allclose(isle.predict_proba(X)[:, 1], expit(isle.decision_function(X)))
    assert isle.n_trees_ < 50


@pytest.mark.usefixtures("short_paths")
def test_forests_of_several_classes_are_read():
    X, y = load_iris(return_X_y=True)
    labels = np.array(["a", "b", "c"])[y]
    forest = RandomForestClassifier(30, max_leaf_nodes=4, random_state=0).fit(X, labels)
    isle = ISLEClassifier.from_fitted(forest, cv=2, random_state=0).fit(X, labels)
    assert isle.predict_proba(X).shape == (150, 3)
    assert isle.score(X, labels) > 0.95
    assert isle.n_trees_ < 30


def test_an_unfitted_ensemble_is_cloned_and_fitted(friedman):
    X, y = friedman
    forest = RandomForestRegressor(20, max_leaf_nodes=8, random_state=0)
    isle = ISLERegressor(forest, cv=2, random_state=0).fit(X, y)
    assert isle.n_trees_grown_ == 20
    assert not hasattr(forest, "estimators_")


def test_cloning_keeps_the_fitted_model(friedman):
    X, y = friedman
    forest = RandomForestRegressor(20, max_leaf_nodes=8, random_state=0).fit(X, y)
    isle = clone(ISLERegressor.from_fitted(forest, cv=2, random_state=0)).fit(X, y)
    assert isle.n_trees_grown_ == 20


def test_shrinking_hard_gives_the_average_back(friedman):
    X, y = friedman
    forest = RandomForestRegressor(30, max_leaf_nodes=8, random_state=0).fit(X, y)
    from foldwise.isle.postprocess import reweigh
    from foldwise.isle.tree_set import read_trees

    columns = read_trees("test", forest).columns(X)
    rng = np.random.default_rng(0)
    table = CodedTable(X, Columns.numeric(X.shape[1]))
    data = TreeData(table, rng.permutation(y), np.ones(len(y)))
    # Below the penalty that leaves a constant, all coefficients are equal.
    coefs = reweigh(columns, data, "shrink").coefs
    first = coefs[coefs.any(axis=1)][0]
    assert_allclose(first, first[0], rtol=1e-6)


def test_shrinking_is_hardly_worse_than_the_ensemble_on_rows_it_has_not_seen(friedman):
    X, y = friedman
    forest = RandomForestRegressor(60, random_state=0).fit(X[:300], y[:300])
    isle = ISLERegressor.from_fitted(forest, post="shrink", random_state=0)
    isle.fit(X[300:600], y[300:600])
    errors = [np.mean((y[600:] - m.predict(X[600:])) ** 2) for m in (isle, forest)]
    assert errors[0] < 1.05 * errors[1]


def test_stagewise_drops_trees_too(friedman):
    X, y = friedman
    forest = RandomForestRegressor(50, max_leaf_nodes=8, random_state=0).fit(X, y)
    isle = ISLERegressor.from_fitted(forest, post="stagewise", cv=2, random_state=0).fit(X, y)
    assert isle.n_trees_ < 50
    assert np.mean((y - isle.predict(X)) ** 2) < 1.05 * np.mean((y - forest.predict(X)) ** 2)


def test_counts_have_positive_means():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = rng.poisson(np.exp(1 + (X[:, 0] > 0)))
    isle = ISLERegressor(loss="poisson", n_estimators=50, cv=2, random_state=0).fit(X, y)
    assert (isle.predict(X) > 0).all()
    assert_allclose(isle.predict(X).mean(), y.mean(), rtol=0.01)


def test_a_smaller_sample_is_wider(friedman):
    X, y = friedman
    # Hardly any memory: the trees differ by their row samples alone.
    shared = {"n_estimators": 60, "learning_rate": 1e-6, "cv": 2, "random_state": 0}
    widths = [
        ISLERegressor(subsample=share, **shared).fit(X, y).width_ for share in (1.0, 0.5, 0.05)
    ]
    assert widths[0].sigma < widths[1].sigma < widths[2].sigma
    assert widths[0].similarity > widths[1].similarity > widths[2].similarity
    assert widths[0].sigma >= 0
    assert widths[0].verdict.startswith("narrow")


def test_the_summary_says_how_much_smaller_it_is(friedman):
    X, y = friedman
    forest = RandomForestRegressor(100, random_state=0).fit(X[:400], y[:400])
    isle = ISLERegressor.from_fitted(forest, cv=2, random_state=0).fit(X[400:], y[400:])
    text = isle.summary()
    assert text.startswith(f"trees   {isle.n_trees_} of 100\n")
    assert isle.n_leaves_ < isle.n_leaves_grown_
    assert isle.speedup_ > 1


def test_a_pickled_model_predicts_the_same(friedman):
    X, y = friedman
    isle = ISLERegressor(n_estimators=50, cv=2, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(isle))
    assert_allclose(again.predict(X), isle.predict(X))


def test_unreadable_ensembles_are_refused(friedman):
    X, y = friedman
    with pytest.raises(UnsupportedError, match="got 'HistGradientBoostingRegressor'"):
        ISLERegressor(HistGradientBoostingRegressor(max_iter=2)).fit(X, y)
    with pytest.raises(UnsupportedError, match="must show every tree all columns; got"):
        ISLERegressor(BaggingRegressor(n_estimators=3, max_features=0.5)).fit(X, y)


def test_other_columns_than_the_ensembles_are_refused(friedman):
    X, y = friedman
    forest = RandomForestRegressor(3).fit(X, y)
    with pytest.raises(InvalidDataError, match="must have the 10 columns the ensemble was fitted"):
        ISLERegressor.from_fitted(forest).fit(X[:, :4], y)


def test_sklearn_trees_have_no_poisson_loss():
    with pytest.raises(InvalidParameterError, match='trees must be "lightgbm" with loss="poisson"'):
        ISLERegressor(trees="sklearn", loss="poisson").fit(np.eye(10), np.arange(10.0))


def test_bad_words_are_named():
    with pytest.raises(InvalidParameterError) as caught:
        ISLERegressor(post="laso").fit(np.eye(10), np.arange(10.0))
    assert str(caught.value) == (
        "ISLERegressor: post must be one of 'lasso', 'stagewise', 'shrink'; got 'laso'. "
        "Did you mean 'lasso'?"
    )


@pytest.mark.parametrize("trees", ["lightgbm", "sklearn"])
def test_without_memory_no_tree_knows_of_the_others(trees):
    X, y = make_friedman1(100, random_state=0)
    plain = {"learning_rate": 0, "subsample": 1.0, "trees": trees, "n_estimators": 5}
    isle = ISLERegressor(**plain, cv_score=False, cv=2, random_state=0)
    data = TreeData(CodedTable(X, Columns.numeric(10)), y, np.ones(100))
    growth = isle._growth((6,) * 5, np.random.default_rng(0))
    columns = isle._dictionary("test", data, growth).columns(X)
    assert_allclose(columns, columns[:, :1].repeat(5, axis=1), rtol=0, atol=1e-6)
    assert isle.fit(X, y).score(X, y) > 0.3


def test_a_huber_delta_that_is_no_size_is_named_by_us(capfd):
    message = (
        "ISLERegressor: huber_delta must be a number above 0; got -1. "
        "Leave it out for 1.345 robust standard deviations of y."
    )
    with pytest.raises(InvalidParameterError) as raised:
        ISLERegressor(loss="huber", huber_delta=-1).fit(np.eye(9), np.arange(9.0))
    assert str(raised.value) == message
    assert capfd.readouterr() == ("", "")
