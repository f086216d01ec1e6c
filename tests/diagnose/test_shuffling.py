from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import get_scorer, mean_squared_error

from foldwise.diagnose import shuffling
from foldwise.diagnose.shuffling import column_groups, scores_when_shuffled, shuffled, stacked
from foldwise.errors import InvalidParameterError

CELLS = np.arange(12.0).reshape(4, 3)
ORDER = np.array([2, 0, 3, 1])
WANTED = CELLS.copy()
WANTED[:, [0, 2]] = CELLS[ORDER][:, [0, 2]]


@pytest.mark.parametrize(
    "make",
    [np.asarray, sparse.csr_array, sparse.csc_array, pd.DataFrame,
     lambda CELLS: pl.DataFrame(CELLS, schema=list("abc"))],
)  # fmt: skip
def test_named_columns_move_together_and_others_stay(make) -> None:
    given = make(CELLS)
    found = shuffled(given, [0, 2], ORDER)
    assert type(found) is type(given)
    assert_array_equal(found.toarray() if sparse.issparse(found) else np.asarray(found), WANTED)
    assert_array_equal(given.toarray() if sparse.issparse(given) else np.asarray(given), CELLS)


def test_types_and_index_of_a_frame_are_kept() -> None:
    frame = pd.DataFrame(
        {"c": pd.Categorical(["a", "b", None]), "t": pd.to_datetime(["2020", "2021", "2022"])},
        index=[7, 7, 9],
    )
    found = shuffled(frame, [0, 1], np.array([1, 2, 0]))
    assert (found.dtypes == frame.dtypes).all()
    assert found.index.tolist() == [7, 7, 9]
    assert found["c"].iloc[0] == "b"


def test_columns_of_the_same_name_are_told_apart() -> None:
    frame = pd.DataFrame(CELLS[:, :2], columns=["a", "a"])
    assert column_groups(frame, None, "x") == {"a (0)": [0], "a (1)": [1]}
    assert_array_equal(shuffled(frame, [1], ORDER).iloc[:, 1], CELLS[ORDER, 1])


def test_groups_by_name_and_number() -> None:
    frame = pd.DataFrame(CELLS, columns=list("abc"))
    assert column_groups(frame, {"both": ["a", 2]}, "x") == {"both": [0, 2]}
    assert column_groups(frame, ["b"], "x") == {"b": [1]}
    assert list(column_groups(CELLS, None, "x")) == ["x0", "x1", "x2"]


def test_unknown_columns_are_named() -> None:
    with pytest.raises(InvalidParameterError) as error:
        column_groups(pd.DataFrame({"price": [1]}), ["prize"], "permutation_importance")
    assert str(error.value) == (
        "permutation_importance: columns must name columns of X; got 'prize'. Did you mean 'price'?"
    )


RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + 2 * X[:, 1] + 0.1 * RNG.normal(size=60)
SHUFFLES = [([c], RNG.permutation(60)) for c in (0, 1, 2, 0, 1)] + [([0, 2], RNG.permutation(60))]
KINDS = [
    lambda v: v,
    lambda v: pd.DataFrame(v, columns=list("abc")),
    lambda v: pl.DataFrame(v, schema=list("abc")),
    sparse.csr_array,
]


@pytest.mark.parametrize("kind", KINDS, ids=["numpy", "pandas", "polars", "sparse"])
def test_one_table_holds_what_many_would(kind: Any) -> None:
    table = stacked(kind(X), SHUFFLES)
    expected = np.vstack([shuffled(X, columns, order) for columns, order in SHUFFLES])
    values = table.toarray() if sparse.issparse(table) else np.asarray(table)
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy", "roc_auc", "neg_brier_score"])
@pytest.mark.parametrize("cells", [1, 400, 10**9])
def test_scores_are_those_of_one_call_a_shuffle(
    scoring: str, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    y = (Y > 0).astype(int)
    model, scorer = LogisticRegression().fit(X, y), get_scorer(scoring)
    monkeypatch.setattr(shuffling, "MOST_CELLS", cells)
    plain, scores = scores_when_shuffled(model, X, lambda m, t: scorer(m, t, y), SHUFFLES)
    expected = [scorer(model, shuffled(X, columns, order), y) for columns, order in SHUFFLES]
    np.testing.assert_allclose(plain, scorer(model, X, y), rtol=1e-12)
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_decisions_are_asked_for_where_a_scorer_wants_them() -> None:
    y = (Y > 0).astype(int)
    model, scorer = RidgeClassifier().fit(X, y), get_scorer("roc_auc")
    _, scores = scores_when_shuffled(model, X, lambda m, t: scorer(m, t, y), SHUFFLES)
    expected = [scorer(model, shuffled(X, columns, order), y) for columns, order in SHUFFLES]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_a_model_is_asked_twice_however_many_shuffles() -> None:
    calls = []

    class Counting(LinearRegression):
        def predict(self, X: Any) -> Any:
            calls.append(len(X))
            return super().predict(X)

    model = Counting().fit(X, Y)
    scores_when_shuffled(model, X, lambda m, t: -mean_squared_error(Y, m.predict(t)), SHUFFLES)
    assert calls == [60, 360]
