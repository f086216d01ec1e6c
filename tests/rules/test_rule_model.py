import numpy as np
from numpy.testing import assert_allclose

from foldwise.isle.table import CodedTable, Columns
from foldwise.rules.conditions import Interval
from foldwise.rules.dictionary import TermDictionary
from foldwise.rules.linear_terms import linear_terms
from foldwise.rules.rule import Rule
from foldwise.rules.rule_model import kept_terms


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
