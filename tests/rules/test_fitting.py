import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import make_friedman1

from foldwise import RuleFitRegressor
from foldwise.isle.choice import fit_terms
from foldwise.isle.data import CodedTable, Columns, TreeData
from foldwise.isle.grow import Growth
from foldwise.isle.linear_terms import linear_terms
from foldwise.paths import penalised_path
from foldwise.rules.dictionary import TermDictionary, grow_dictionary
from foldwise.rules.fitting import kept_terms
from foldwise.rules.rule import Interval, Rule

GROWTH = Growth((3,) * 20, sample_fraction=0.5, memory=0.1, min_samples_leaf=5)


def test_the_curve_is_of_whole_fits_without_the_fold():
    X, y = make_friedman1(120, random_state=0)
    folds = np.arange(120) % 3
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]
    model = RuleFitRegressor(n_estimators=20, cv=splits, cv_score=False, random_state=0).fit(X, y)
    wanted = np.zeros(len(model.cv_loss_))
    for train, test in splits:
        # One deal, one seed, one path: the fold's own loss at each penalty beside the largest.
        alone = RuleFitRegressor(n_estimators=20, cv=3, cv_score=False, random_state=0)
        alone.fit(X[train], y[train])
        grown = fit_terms(*_dictionary(alone, X[train], y[train]), l1_ratio=1.0)
        held = grown.losses(TreeData(CodedTable(X[test], alone.columns_), y[test], np.ones(40)))
        wanted += held.sum(axis=1) / 120
    assert_allclose(model.cv_loss_, wanted, rtol=1e-3)


def _dictionary(model, X, y):
    """Return the dictionary an estimator grows from some rows, and the rows."""
    from foldwise.isle.grow import tree_sizes

    rng = np.random.default_rng(np.random.RandomState(0).randint(2**31 - 1))
    sizes = tree_sizes(20, model.mean_leaves, rng)
    rows = TreeData(CodedTable(X, model.columns_), y, np.ones(len(y)))
    growth = model._growth(sizes, rng)
    return grow_dictionary("test", rows, growth, 0.025)[0], rows


def test_the_model_is_the_lasso_at_the_chosen_penalty():
    X, _ = make_friedman1(120, random_state=0)
    y = 10.0 * ((X[:, 0] > 0.5) & (X[:, 1] < 0.5)) + X[:, 2]
    table = CodedTable(X, Columns.numeric(10))
    model = RuleFitRegressor(n_estimators=20, cv=3, random_state=0).fit(X, y)
    D = _dictionary(model, X, y)[0].matrix(table)
    path = penalised_path(D, y, lambdas=model.lambdas_[: model.index_ + 1])
    assert_allclose(model.predict(X), path.predictor(D)[-1], atol=0.02 * y.std())


def test_the_kept_terms_predict_what_all_terms_predict():
    rng = np.random.default_rng(0)
    table = CodedTable(rng.normal(size=(50, 3)), Columns.numeric(3))
    rules = tuple(Rule((Interval(j, low=c),)) for j in range(3) for c in (-0.5, 0.5))
    dictionary = TermDictionary(rules, np.full(6, 0.5), linear_terms(table, np.ones(50)))
    coefs = rng.normal(size=(2, 9)) * (rng.random(9) < 0.5)
    model = kept_terms(dictionary, coefs, np.array([1.0, 2.0]))
    assert_allclose(
        model.decision(table), dictionary.matrix(table) @ coefs.T + [1.0, 2.0], atol=1e-12
    )
    used = coefs.any(axis=0)
    assert len(model.rules) == used[:6].sum()
    assert len(model.linear) == used[6:].sum()
