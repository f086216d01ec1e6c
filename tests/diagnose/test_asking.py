from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import get_scorer, mean_squared_error

from foldwise.diagnose import asking
from foldwise.diagnose.asking import scores_when_shuffled, stacked
from foldwise.diagnose.columns import shuffled

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
    monkeypatch.setattr(asking, "MOST_CELLS", cells)
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
