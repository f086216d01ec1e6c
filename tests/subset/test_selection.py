import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import KFold

from foldwise.subset.columns import choose_from
from foldwise.subset.criteria import Sample
from foldwise.subset.moments import all_rows, by_split
from foldwise.subset.search import Run
from foldwise.subset.selection import (
    Task,
    by_criterion,
    by_cross_validation,
    criteria_table,
    named_table,
)

RUN = Run("Test")


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    return X, X[:, 1] + rng.normal(size=40)


def test_the_empty_model_is_chosen_only_where_allowed():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    choice = choose_from("Test", 3, None, None, None, intercept=True)
    moments = all_rows(X, y, np.ones(40))
    folds = by_split(X, y, np.ones(40), list(KFold(4).split(X)))
    for empty in (True, False):
        task = Task(choice, 3, empty_model=empty)
        assert by_criterion("bic", moments, task, RUN).kept.any() != empty
        one = by_criterion("bic", moments, Task(choice, 3, empty, each_size=False), RUN)
        assert one.kept.any() != empty
        found = by_cross_validation(*folds, task, RUN)
        assert found.rivals.any(axis=1).all() != empty


def test_the_table_has_a_standard_error_over_folds(data):
    X, y = data
    splits = list(KFold(4).split(X))
    task = Task(choose_from("Test", 4, None, None, None, intercept=True), 4)
    found = by_cross_validation(*by_split(X, y, np.ones(40), splits), task, RUN)
    empty = [np.mean((y[test] - y[train].mean()) ** 2) for train, test in splits]
    assert_allclose(found.rivals_table["mse"][0], np.mean(empty), rtol=1e-10)
    assert_allclose(found.rivals_table["mse_se"][0], np.std(empty, ddof=1) / 2, rtol=1e-10)


def test_r2_and_adjusted_r2_are_what_their_formulas_say():
    table = criteria_table(np.array([40.0]), np.array([3]), Sample(50.0, 100.0))
    assert_allclose(table["r2"], 0.6)
    assert_allclose(table["adjusted_r2"], 1 - (40 / 46) / (100 / 49))


def test_names_are_those_of_the_columns(data):
    X, y = data
    choice = choose_from("Test", 4, list("abcd"), ["d"], None, intercept=True)
    found = by_criterion("bic", all_rows(X, y, np.ones(40)), Task(choice, 3), RUN)
    table = named_table(found, choice, np.array(list("abcd")))
    assert table["columns"][0] == ("d",)
    assert table["columns"][1] == ("b", "d")
