import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from foldwise.boost.learner import make_table
from foldwise.boost.rounds import round_fitter


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, (X[:, 0] + rng.normal(size=60) > 0).astype(int)


def fitter(learner, X, codes, start=None, draw=False):
    start = np.ones(len(X)) if start is None else start
    return round_fitter(learner, make_table(X, [learner]), codes, start, np.arange(9), draw=draw)


def test_sorted_columns_and_weights_grow_the_same_stump(rows) -> None:
    X, codes = rows
    start = np.arange(60.0)  # the first row has no weight
    weight = start / start.sum()
    quick = fitter(DecisionTreeClassifier(max_depth=1), X, codes, start)(0, weight)
    slow = fitter(DecisionTreeClassifier(max_depth=1, min_samples_split=3), X, codes, start)(
        0, weight
    )
    np.testing.assert_allclose(quick.predict_proba(X), slow.predict_proba(X), atol=1e-9)
    assert quick.tree_.threshold[0] == slow.tree_.threshold[0]


def test_a_table_without_a_split_grows_a_root(rows) -> None:
    _, codes = rows
    fit = fitter(DecisionTreeClassifier(max_depth=1), np.zeros((60, 2)), codes)
    assert fit(0, np.full(60, 1 / 60)).tree_.node_count == 1


def test_drawn_rows_follow_the_weights(rows) -> None:
    X, codes = rows
    weight = np.zeros(60)
    weight[:4] = 0.25
    model = fitter(KNeighborsClassifier(1), X, codes, draw=True)(0, weight)
    assert {tuple(row) for row in model._fit_X} <= {tuple(row) for row in X[:4]}


def test_learners_of_different_rounds_have_different_seeds(rows) -> None:
    X, codes = rows
    fit = fitter(DecisionTreeClassifier(max_depth=2), X, codes)
    weight = np.full(60, 1 / 60)
    assert fit(0, weight).random_state != fit(1, weight).random_state


def test_rows_of_one_class_still_grow_a_stump(rows) -> None:
    # The rows left after setting some apart may all be of the first class.
    X, codes = rows
    model = fitter(DecisionTreeClassifier(max_depth=1), X, np.zeros_like(codes))(
        0, np.full(60, 1 / 60)
    )
    assert set(model.predict(X)) == {0}
