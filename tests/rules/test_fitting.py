import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import make_friedman1

from foldwise.isle.data import CodedTable, Columns, TreeData
from foldwise.isle.grow import Growth
from foldwise.paths import penalised_path
from foldwise.rules.dictionary import TermDictionary, grow_dictionary
from foldwise.rules.fitting import (
    RuleSettings,
    fit_rule_ensemble,
    kept_terms,
    regrown_losses,
)
from foldwise.rules.linear_terms import linear_terms
from foldwise.rules.rule import Interval, Rule

GROWTH = Growth((3,) * 20, sample_fraction=0.5, memory=0.1, min_samples_leaf=5)
SETTINGS = RuleSettings(GROWTH, 0.025, 1.0, "min", None, False)


def test_regrown_losses_are_those_of_whole_fits_without_the_fold():
    X, y = make_friedman1(120, random_state=0)
    table, folds = CodedTable(X, Columns.numeric(10)), np.arange(120) % 3
    data = TreeData(table, y, np.ones(120))
    lambdas = np.array([0.5, 0.1])
    found, _ = regrown_losses(data, folds, SETTINGS, lambdas)
    wanted = np.zeros(2)
    for fold in range(3):
        seen = folds != fold
        dictionary, _ = grow_dictionary(data.take(seen), GROWTH, 0.025)
        path = penalised_path(dictionary.matrix(table.rows(seen)), y[seen], lambdas=lambdas)
        held = dictionary.matrix(table.rows(~seen))
        wanted += ((y[~seen] - path.predictor(held)) ** 2).sum(axis=1) / 2 / 120
    assert_allclose(found, wanted, rtol=1e-3)


def test_the_model_is_the_lasso_at_the_chosen_penalty():
    X, y = make_friedman1(120, random_state=0)
    table, folds = CodedTable(X, Columns.numeric(10)), np.arange(120) % 3
    data = TreeData(table, y, np.ones(120))
    fitted = fit_rule_ensemble(data, folds, SETTINGS)
    dictionary, _ = grow_dictionary(data, GROWTH, 0.025)
    D = dictionary.matrix(table)
    path = penalised_path(D, y, lambdas=fitted.lambdas[: fitted.index + 1])
    assert_allclose(fitted.model.decision(table)[:, 0], path.predictor(D)[-1], atol=0.02 * y.std())


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
