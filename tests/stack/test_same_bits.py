"""Promise 3: one seed gives one model, bit for bit, whatever n_jobs."""

import threading
import time
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

from foldwise import StackingClassifier, StackingRegressor
from foldwise.stack.table import read
from foldwise.stack.table.read import MANY_ROWS

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4))
Y = X[:, 0] + RNG.normal(size=N)
X_NEW = RNG.normal(size=(20, 4))
GROUPS = np.arange(N) // 4
TOPS = ["mean", "nnls", (Ridge(), {"alpha": [1.0, 100.0]})]


def learners(seed=None):
    return [
        ("forest", RandomForestRegressor(5, random_state=seed)),
        ("tree", ExtraTreeRegressor(random_state=seed)),
        ("ridge", make_pipeline(StandardScaler(), Ridge())),
    ]


def bits(stack):
    """Everything that comes out of a fit, as bytes."""
    parts = [stack.predict(X_NEW), stack.score_, stack.score_se_, stack.fold_scores_]
    parts.append(stack.oof_.to_numpy())
    return [np.asarray(part, dtype=float).tobytes() for part in parts]


CASES = {
    "plain": {"cv": 4},
    "splitter": {"cv": KFold(4, shuffle=True)},
    "groups": {"cv": GroupKFold(4)},
    "time": {"cv": TimeSeriesSplit(4)},
    "pairs": {"cv": 4, "predict_with": "pairs"},
    "refit": {"cv": 4, "predict_with": "refit"},
    "repeats": {"cv": 3, "n_repeats": 2},
    "tune": {"cv": 3, "tune": {"tree": {"max_depth": [1, 3]}}},
}


ONE_AND_TWO = [(case, 1) for case in CASES] + [("plain", 2), ("time", 2)]


@pytest.mark.parametrize(("case", "n_layers"), ONE_AND_TWO)
def test_two_processes_give_the_bits_of_one(case, n_layers) -> None:
    estimators = learners() if n_layers == 1 else [learners(), [("top", ExtraTreeRegressor())]]
    groups = {"groups": GROUPS} if case == "groups" else {}
    one, two = (
        StackingRegressor(estimators, TOPS, n_jobs=n_jobs, random_state=1, **CASES[case]).fit(
            X, Y, **groups
        )
        for n_jobs in (1, 2)
    )
    assert bits(one) == bits(two)


def test_two_processes_give_the_bits_of_one_for_classes() -> None:
    classes = np.digitize(Y, [-0.5, 0.5])
    one, two = (
        StackingClassifier(
            [("forest", RandomForestClassifier(5)), ("logistic", LogisticRegression())],
            cv=4,
            n_jobs=n_jobs,
            random_state=1,
        ).fit(X, classes)
        for n_jobs in (1, 2)
    )
    assert bits(one) == bits(two)
    assert one.predict_proba(X_NEW).tobytes() == two.predict_proba(X_NEW).tobytes()


def test_a_seed_fixes_everything_and_another_seed_changes_it() -> None:
    stacks = [
        StackingRegressor(learners(), TOPS, cv=4, random_state=s).fit(X, Y) for s in (3, 3, 4)
    ]
    assert bits(stacks[0]) == bits(stacks[1])
    assert bits(stacks[0]) != bits(stacks[2])


def test_fitting_again_gives_the_same_bits() -> None:
    stack = StackingRegressor(learners(), TOPS, cv=4, random_state=3).fit(X, Y)
    first = bits(stack)
    assert bits(stack.fit(X, Y)) == first


def test_a_learner_does_not_feel_the_others() -> None:
    both = StackingRegressor(learners(), TOPS, cv=4, random_state=3).fit(X, Y)
    alone = StackingRegressor(learners()[1:2], TOPS, cv=4, random_state=3).fit(X, Y)
    turned = StackingRegressor(learners()[::-1], TOPS, cv=4, random_state=3).fit(X, Y)
    assert np.array_equal(both.oof_["tree"], alone.oof_["tree"])
    assert np.array_equal(both.oof_["forest"], turned.oof_["forest"])


SEEDS: list = []


class Seeded(RegressorMixin, BaseEstimator):
    """Writes down its seed and how many rows it was given."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        SEEDS.append(self.random_state)
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


def test_every_learner_gets_a_seed_of_its_own_at_every_node() -> None:
    SEEDS.clear()
    pair = [("a", Seeded()), ("b", Seeded())]
    StackingRegressor(pair, "mean", cv=4, predict_with="refit", random_state=0).fit(X, Y)
    assert len(SEEDS) == 2 * 11
    assert len(set(SEEDS)) == len(SEEDS)


def test_a_seed_of_the_user_stays() -> None:
    SEEDS.clear()
    StackingRegressor([("a", Seeded(7))], "mean", cv=4, random_state=0).fit(X, Y)
    assert set(SEEDS) == {7}


def test_a_nested_seed_is_filled_too() -> None:
    SEEDS.clear()
    nested = make_pipeline(StandardScaler(), Seeded())
    StackingRegressor([("a", nested)], "mean", cv=3, random_state=0).fit(X, Y)
    assert None not in SEEDS
    assert nested[-1].random_state is None


class Noting(LinearRegression):
    """Notes the threads in which it predicts."""

    threads: ClassVar[set[int]] = set()

    def predict(self, X):
        self.threads.add(threading.get_ident())
        time.sleep(0.01)
        return super().predict(X)


def test_many_new_rows_are_answered_in_several_threads_with_the_same_bits() -> None:
    new = np.random.default_rng(0).normal(size=(MANY_ROWS, 4))
    stack = StackingRegressor([("a", Noting()), ("b", Ridge())], random_state=0).fit(X, Y)
    Noting.threads.clear()
    alone = stack.predict(new)
    assert len(Noting.threads) == 1
    together = stack.set_params(n_jobs=2).predict(new)
    assert len(Noting.threads) > 1
    np.testing.assert_array_equal(together, alone)


def test_very_many_new_rows_are_answered_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame(
        np.random.default_rng(0).normal(size=(MANY_ROWS + 7, 4)), columns=[*"abcd"]
    )
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    learners = [("tree", tree), ("noting", Noting())]
    stack = StackingRegressor(learners, "mean", cv=ShuffleSplit(1, random_state=0), random_state=0)
    stack.fit(frame.iloc[:80], np.asarray(frame["a"][:80]))
    whole = stack.predict(frame)
    monkeypatch.setattr(read, "BLOCK_ROWS", 100)
    in_parts = stack.predict(frame)
    np.testing.assert_allclose(in_parts, whole, rtol=1e-12)
    Noting.threads.clear()
    together = stack.set_params(n_jobs=2).predict(frame)
    # A single split has one node, but several blocks.
    assert len(Noting.threads) > 1
    np.testing.assert_array_equal(together, in_parts)
