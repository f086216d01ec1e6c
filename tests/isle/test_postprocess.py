import numpy as np
import pytest
from numpy.testing import assert_allclose

from foldwise.isle.choice import Grown, choose_point
from foldwise.isle.data import CodedTable, Columns, TreeData
from foldwise.isle.postprocess import reweigh, terms_path


@pytest.fixture
def columns():
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 12))


def rechosen(columns, y, how, choose="min", *, non_negative=False, **changes):
    """Return the coefficients and intercepts at the chosen point of the path."""
    data = TreeData(CodedTable(columns, Columns.numeric(12)), y, np.ones(len(y)), **changes)
    folds = np.random.default_rng(1).permutation(len(y)) % 5

    def fit(rows):
        path = reweigh(rows.table.values, rows, how, non_negative=non_negative)
        return (Grown(rows, ColumnsThemselves(), path),)

    judges = [(fit(data.take(folds != k)), data.take(folds == k)) for k in range(5)]
    choice = choose_point(fit(data), judges, choose)
    return choice.coefs, choice.intercepts


class ColumnsThemselves:
    """A dictionary whose terms are the columns of the table."""

    def matrix(self, table):
        return table.values


@pytest.mark.parametrize("how", ["lasso", "stagewise"])
def test_the_columns_that_matter_are_found(columns, how):
    y = 2 * columns[:, 3] - columns[:, 7] + 0.1 * np.random.default_rng(2).normal(size=200)
    coefs, _ = rechosen(columns, y, how, "1se")
    assert_allclose(coefs[0, [3, 7]], [2, -1], atol=0.15)
    assert np.count_nonzero(coefs) < 6


def test_coefficients_below_zero_can_be_ruled_out(columns):
    y = 2 * columns[:, 3] - columns[:, 7]
    coefs, _ = rechosen(columns, y, "lasso", non_negative=True)
    assert (coefs >= 0).all()


def test_shrinking_keeps_an_average_that_is_right(columns):
    y = columns.mean(axis=1) * 5 + 0.5 * np.random.default_rng(2).normal(size=200)
    coefs, _ = rechosen(columns, y, "shrink", "1se")
    assert_allclose(coefs, 5 / 12, rtol=0.2)


def test_shrinking_averages_the_columns_of_each_class(columns):
    y = (np.arange(200) % 3).astype(float)
    coefs, intercepts = rechosen(columns, y, "shrink", "1se", loss="multinomial", n_outputs=3)
    assert coefs.shape == (3, 12)
    assert intercepts.shape == (3,)
    for k in range(3):
        of_class = coefs[:, k::3]
        assert_allclose(of_class, of_class[:, :1].repeat(4, axis=1), atol=1e-6)


def test_many_terms_end_the_path_earlier_at_the_same_pace(columns):
    many, few = (
        terms_path(columns[:n], TreeData(None, columns[:n, 0], np.ones(n))).lambdas
        for n in (20, 200)
    )
    assert many[-1] / many[0] > 2 * few[-1] / few[0]
    assert_allclose(many[1] / many[0], few[1] / few[0], rtol=0.01)
