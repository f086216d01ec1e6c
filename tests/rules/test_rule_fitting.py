import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import make_friedman1

from foldwise.isle.grow import Growth
from foldwise.isle.table import CodedTable, Columns
from foldwise.paths import penalised_path
from foldwise.rules.dictionary import grow_dictionary
from foldwise.rules.rule_fitting import (
    RuleSettings,
    fit_rule_ensemble,
    penalty_grid,
    regrown_losses,
)

GROWTH = Growth("squared", (3,) * 20, 1.0, 0.1, 5, None, 1, 1.0, 0, 1)
SETTINGS = RuleSettings(GROWTH, 0.5, 0.025, 1.0, "min", None, False)


def test_regrown_losses_are_those_of_whole_fits_without_the_fold():
    X, y = make_friedman1(120, random_state=0)
    table, weight, folds = CodedTable(X, Columns.numeric(10)), np.ones(120), np.arange(120) % 3
    lambdas = np.array([0.5, 0.1])
    found, _ = regrown_losses(table, y, weight, folds, SETTINGS, lambdas)
    wanted = np.zeros(2)
    for fold in range(3):
        seen = folds != fold
        dictionary, _ = grow_dictionary(
            table.rows(seen), y[seen], weight[seen], SETTINGS.growth_for(80), 0.025
        )
        path = penalised_path(dictionary.matrix(table.rows(seen)), y[seen], lambdas=lambdas)
        held = dictionary.matrix(table.rows(~seen))
        wanted += ((y[~seen] - path.predictor(held)) ** 2).sum(axis=1) / 2 / 120
    assert_allclose(found, wanted, rtol=1e-3)


def test_the_model_is_the_lasso_at_the_chosen_penalty():
    X, y = make_friedman1(120, random_state=0)
    table, weight, folds = CodedTable(X, Columns.numeric(10)), np.ones(120), np.arange(120) % 3
    fitted = fit_rule_ensemble(table, y, weight, folds, SETTINGS)
    dictionary, _ = grow_dictionary(table, y, weight, SETTINGS.growth_for(120), 0.025)
    D = dictionary.matrix(table)
    path = penalised_path(D, y, lambdas=fitted.lambdas[: fitted.index + 1])
    assert_allclose(fitted.model.decision(table)[:, 0], path.predictor(D)[-1], atol=0.02 * y.std())


def test_many_terms_end_the_path_earlier_at_the_same_pace():
    many, few = penalty_grid(100, 80), penalty_grid(1000, 80)
    pace = [np.log(grid["lambda_min_ratio"]) / (grid["n_lambdas"] - 1) for grid in (many, few)]
    assert_allclose(pace[0], pace[1], rtol=0.01)
