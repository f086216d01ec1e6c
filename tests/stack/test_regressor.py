import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_regression
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import root_mean_squared_error
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from foldwise import StackingRegressor
from foldwise.errors import LearnerFailedWarning

X, Y = make_regression(72, 5, noise=20, random_state=0)
LEARNERS = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0))]
UPPER = [("ols", LinearRegression()), ("small", DecisionTreeRegressor(max_depth=2, random_state=0))]


def by_hand(
    layers: list, train: np.ndarray, new: np.ndarray, folds: list[np.ndarray], passed: bool
) -> np.ndarray:
    """Stacked out-of-fold generalisation by recursion: the last layer's predictions of new rows.

    Each layer is trained on features of the layer below that did not see the row's fold.
    """
    *lower, top = layers
    if not lower:
        return np.column_stack([m.fit(X[train], Y[train]).predict(X[new]) for _, m in top])
    rows, features = [], []
    for fold in folds:
        inside, rest = np.intersect1d(fold, train), np.setdiff1d(train, fold)
        others = [f for f in folds if f is not fold]
        features.append(by_hand(lower, rest, inside, others, passed))
        rows.append(inside)
    seen, order = np.vstack(features), np.concatenate(rows)
    ahead = by_hand(lower, train, new, folds, passed)
    if passed:
        seen, ahead = np.hstack([seen, X[order]]), np.hstack([ahead, X[new]])
    return np.column_stack([m.fit(seen, Y[order]).predict(ahead) for _, m in top])


LAYERS = {
    "two": [LEARNERS, UPPER],
    "three": [LEARNERS, UPPER, [("last", Ridge(2.0)), ("late", LinearRegression())]],
}


@pytest.mark.parametrize("passed", [False, True])
@pytest.mark.parametrize("n_layers", LAYERS)
def test_layers_are_stacked_by_recursion(n_layers: str, passed: bool) -> None:
    layers = LAYERS[n_layers]
    stack = StackingRegressor(
        layers, "mean", cv=5, hold_out="node", passthrough=passed, random_state=0
    ).fit(X, Y)
    lattice = stack.deals_[0].lattice
    expected, chains = np.empty((72, len(layers[-1]))), []
    for i, (train, test) in enumerate(zip(lattice.trains, lattice.tests, strict=True)):
        others = [fold for j, fold in enumerate(lattice.tests) if j != i]
        every = by_hand(layers, train, np.arange(72), others, passed)
        expected[test] = every[test]
        chains.append(every.mean(axis=1))
    np.testing.assert_allclose(stack.oof_, expected, rtol=1e-7)
    error = root_mean_squared_error(Y, expected.mean(axis=1))
    assert -stack.score_ == pytest.approx(error, rel=1e-7)
    # New rows go through the chain of each single node; the mean of the chains is predicted.
    np.testing.assert_allclose(stack.predict(X), np.mean(chains, axis=0), rtol=1e-7)


def test_layers_count_their_fits() -> None:
    # K=5: singles, pairs and triples below, singles and pairs above.
    stack = StackingRegressor([LEARNERS, UPPER], "mean", cv=5).fit(X, Y)
    assert stack.n_fits_ == 2 * (5 + 10 + 10) + 2 * (5 + 10)


@pytest.mark.parametrize("top", [None, "mean", "best", "nnls", "ridge", LinearRegression()])
@pytest.mark.parametrize("n_layers", [1, 2])
def test_several_targets_under_every_top(top: object, n_layers: int) -> None:
    targets = np.column_stack([Y, -2 * Y, Y**2 / 100])
    layers = [LEARNERS, UPPER][:n_layers]
    stack = StackingRegressor(layers, top, cv=4, random_state=0).fit(X, targets)
    assert stack.predict(X).shape == (72, 3)
    assert stack.score_ < 0 < stack.score_se_
    last = UPPER if n_layers == 2 else LEARNERS
    assert list(stack.oof_.columns) == [f"{name}__{t}" for name, _ in last for t in range(3)]


def test_one_target_in_a_column_is_one_target() -> None:
    frame = pd.DataFrame({"target": Y})
    stack = StackingRegressor(LEARNERS, "mean", cv=3, random_state=0)
    with pytest.warns(UserWarning, match="column-vector y"):
        stack.fit(X, frame)
    assert stack.predict(X).shape == (72,)


def test_a_learner_for_one_target_only_is_dropped() -> None:
    learners = [("svr", SVR()), ("ridge", Ridge())]
    stack = StackingRegressor(learners, "mean", cv=3, random_state=0)
    with pytest.warns(LearnerFailedWarning, match="'svr' was dropped"):
        stack.fit(X, np.column_stack([Y, Y]))
    assert list(stack.failures_) == ["svr"]


@pytest.mark.parametrize("kind", ["int64", "Int64", "float32", "bool"])
def test_numbers_of_any_kind_are_targets(kind: str) -> None:
    y = pd.Series((Y > 0).astype(int)).astype(kind)
    stack = StackingRegressor(LEARNERS, "mean", cv=3, random_state=0).fit(X, y)
    assert stack.predict(X).dtype == np.float64


def test_the_mode_decides_which_models_predict() -> None:
    forest = [("forest", RandomForestRegressor(3, random_state=0))]
    fold = np.arange(72) % 3
    splits = [(fold != i, fold == i) for i in range(3)]

    def fitted(rows: np.ndarray) -> np.ndarray:
        return RandomForestRegressor(3, random_state=0).fit(X[rows], Y[rows]).predict(X)

    expected = {
        "folds": np.mean([fitted(fold != i) for i in range(3)], axis=0),
        "refit": fitted(fold >= 0),
        "pairs": np.mean([fitted(fold == i) for i in range(3)], axis=0),
    }
    for mode, values in expected.items():
        stack = StackingRegressor(forest, "mean", cv=splits, predict_with=mode).fit(X, Y)
        np.testing.assert_allclose(stack.predict(X), values)
