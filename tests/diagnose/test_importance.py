import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.neighbors import KNeighborsRegressor

from foldwise import StackingRegressor
from foldwise.diagnose import permutation_importance
from foldwise.errors import InvalidDataError, InvalidParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))
Y = 3 * X[:, 0] + X[:, 1] + X[:, 2]
LINEAR = LinearRegression().fit(X, Y)


def test_a_linear_models_drop_is_the_variance_it_loses() -> None:
    found = permutation_importance(
        LINEAR, X, Y, scoring="neg_mean_squared_error", n_repeats=40, random_state=0
    )
    # E (b x - b x')^2 = 2 b^2 Var x for a shuffle; 40 shuffles of 400 rows: to 5 percent.
    assert_allclose(found.importance, 2 * np.array([9, 1, 1, 0]) * X.var(axis=0), rtol=0.05,
                    atol=1e-12)  # fmt: skip


def test_columns_shuffled_together_lose_together() -> None:
    twins = np.column_stack([X[:, 0], X[:, 0], X[:, 1]])
    model = Ridge().fit(twins, Y)
    groups = {"twins": [0, 1], "other": [2]}
    found = permutation_importance(model, twins, Y, columns=groups, random_state=0)
    single = permutation_importance(model, twins, Y, random_state=0)
    assert found.names == ("twins", "other")
    assert found.importance[0] > 1.5 * single.importance[0]


def test_through_a_whole_stack_with_frames_and_its_own_scoring() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    stack = StackingRegressor(
        [("ridge", Ridge()), ("knn", KNeighborsRegressor())],
        scoring="neg_mean_absolute_error",
        random_state=0,
    ).fit(frame[:200], Y[:200])
    found = permutation_importance(stack, frame[200:], Y[200:], random_state=0)
    assert found.metric == "neg_mean_absolute_error"
    assert found.to_frame()["column"][0] == "a"
    assert found.to_frame()["column"][3] == "d"
    assert str(found).startswith("Permutation importance (neg_mean_absolute_error, -")


def test_weights_of_zero_leave_rows_out_of_the_score() -> None:
    spoiled = Y.copy()
    spoiled[:100] = 1e6
    weight = np.r_[np.zeros(100), np.ones(300)]
    found = permutation_importance(LINEAR, X, spoiled, sample_weight=weight, random_state=0)
    assert abs(found.score) < 1e-8


def test_the_model_decides_the_default_metric() -> None:
    y = (Y > 0).astype(int)
    assert permutation_importance(LogisticRegression().fit(X, y), X, y).metric == "neg_log_loss"
    scorer = make_scorer(mean_absolute_error, greater_is_better=False)
    assert permutation_importance(LINEAR, X, Y, scoring=scorer, columns=[0]).importance[0] > 0
    useless = permutation_importance(DummyClassifier().fit(X, y), X, y, n_repeats=1)
    assert useless.importance.tolist() == [0.0] * 4
    assert np.isnan(useless.importance_se).all()


@pytest.mark.parametrize("kind", [sparse.coo_matrix, sparse.bsr_array, sparse.dia_matrix])
def test_every_sparse_format_is_shuffled_as_an_array(kind) -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = Ridge().fit(X, X[:, 0])
    asked = {"y": X[:, 0], "random_state": 0}
    found, wanted = (permutation_importance(model, table, **asked) for table in (kind(X), X))
    assert_allclose(found.importance, wanted.importance, rtol=1e-12, atol=1e-12)


def test_one_seed_gives_one_answer() -> None:
    one = permutation_importance(LINEAR, X, Y, random_state=3)
    two = permutation_importance(LINEAR, X, Y, random_state=3)
    assert one.drops.tolist() == two.drops.tolist()


def test_wrong_arguments() -> None:
    with pytest.raises(InvalidDataError) as error:
        permutation_importance(LINEAR, X, Y[:-1])
    assert str(error.value) == (
        "permutation_importance: y must have one entry for each of the 400 rows of X (inconsistent "
        "numbers of samples); got 399. "
        "Give the same rows to both."
    )
    with pytest.raises(InvalidParameterError) as error:
        permutation_importance(LINEAR, X, Y, n_repeats=0)
    assert str(error.value) == (
        "permutation_importance: n_repeats must be a whole number of at least 1; got 0. Try 5."
    )
