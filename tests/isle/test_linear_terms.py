import numpy as np
from numpy.testing import assert_allclose

from foldwise.isle.data import CodedTable, Columns
from foldwise.isle.linear_terms import linear_terms, weighted_quantile


def test_terms_are_winsorised_centred_and_spread_like_a_rule():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1000, 2))
    x[0, 0] = 1e6
    terms = linear_terms(CodedTable(x, Columns.numeric(2)), np.ones(1000))
    values = terms.matrix(CodedTable(x, Columns.numeric(2)))
    assert_allclose(values.mean(axis=0), 0, atol=1e-12)
    assert_allclose(values.std(axis=0), 0.4)
    low, high = np.quantile(x[:, 0], [0.025, 0.975], method="inverted_cdf")
    assert_allclose([terms.low[0], terms.high[0]], [low, high])


def test_weights_equal_repetition():
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=(60, 1)), rng.integers(1, 4, 60)
    weighted = linear_terms(CodedTable(x, Columns.numeric(1)), weight.astype(float))
    rows = np.repeat(x, weight, axis=0)
    repeated = linear_terms(CodedTable(rows, Columns.numeric(1)), np.ones(len(rows)))
    for name in ("low", "high", "mean", "deviation"):
        assert_allclose(getattr(weighted, name), getattr(repeated, name))


def test_missing_values_count_as_the_mean():
    x = np.array([[1.0], [2.0], [3.0], [np.nan]])
    terms = linear_terms(CodedTable(x, Columns.numeric(1)), np.ones(4))
    assert terms.matrix(CodedTable(x, Columns.numeric(1)))[3, 0] == 0


def test_constants_have_no_term_and_categories_one_a_level_that_is_not_rare():
    x = np.array([[1.0, 0.0, 5.0], [2.0, 1.0, 5.0], [3.0, np.nan, 5.0], [3.0, 2.0, 5.0]])
    table = CodedTable(x, Columns(("a", "b", "c"), {1: ("x", "y", "z")}))
    terms = linear_terms(table, np.array([100.0, 100.0, 100.0, 1.0]))
    assert terms.features.tolist() == [0, 1, 1]
    assert terms.matrix(table)[:, 1:].tolist() == [[1, 0], [0, 1], [0, 0], [0, 0]]


def test_a_rare_flag_keeps_its_linear_term():
    x = np.zeros((1000, 1))
    x[:5] = 1
    assert len(linear_terms(CodedTable(x, Columns.numeric(1)), np.ones(1000))) == 1


def test_weighted_quantiles_are_those_of_repeated_rows():
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=50), rng.integers(1, 5, 50)
    for q in (0.025, 0.5, 0.975):
        wanted = np.quantile(np.repeat(x, weight), q, method="inverted_cdf")
        assert weighted_quantile(x, weight.astype(float), q) == wanted
