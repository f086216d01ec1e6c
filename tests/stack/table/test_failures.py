from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import make_regression
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

from foldwise import StackingRegressor
from foldwise.errors import AllLearnersFailedError, LearnerFailedWarning
from foldwise.stack.table.jobs import FitSettings
from foldwise.stack.table.layers import stacked_rows

X, Y = make_regression(60, 4, noise=10, random_state=0)


class Picky(Ridge):
    """Fails where it is told to."""

    def __init__(self, alpha: float = 1.0, fewest: int = 0) -> None:
        super().__init__(alpha)
        self.fewest = fewest

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Picky":
        if len(y) < self.fewest:
            raise ValueError(f"only {len(y)} rows")
        return super().fit(X, y, sample_weight)


class Shift(TransformerMixin, BaseEstimator):
    """A slow transformer, which counts how often it is fitted."""

    fits: ClassVar[int] = 0

    def fit(self, X: Any, y: Any = None) -> "Shift":
        Shift.fits += 1
        self.mean_ = np.mean(X, axis=0)
        return self

    def transform(self, X: Any) -> Any:
        return X - self.mean_


def test_a_failing_learner_is_dropped_with_learner_node_and_cause() -> None:
    learners = [("picky", Picky(fewest=30)), ("ridge", Ridge())]
    stack = StackingRegressor(learners, "mean", cv=3, random_state=0)
    with pytest.warns(LearnerFailedWarning) as caught:
        stack.fit(X, Y)
    assert [str(w.message) for w in caught] == [
        "StackingRegressor: learner 'picky' was dropped, it failed without folds 0, 1: ValueError: "
        "only 20 rows. Set on_error='raise' to stop instead."
    ]
    assert caught[0].filename == __file__
    assert stack.failures_ == {"picky": "without folds 0, 1: ValueError: only 20 rows"}
    assert list(stack.oof_.columns) == ["ridge"]


def test_the_rest_is_the_stack_without_it() -> None:
    learners = [("picky", Picky(fewest=30)), ("ridge", Ridge()), ("lasso", Lasso())]
    with pytest.warns(LearnerFailedWarning):
        stack = StackingRegressor(learners, "nnls", cv=3, random_state=0).fit(X, Y)
    alone = StackingRegressor(learners[1:], "nnls", cv=3, random_state=0).fit(X, Y)
    assert stack.score_ == alone.score_
    np.testing.assert_array_equal(stack.predict(X), alone.predict(X))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_error_can_be_raised_and_says_where(n_jobs: int | None) -> None:
    learners = [("picky", Picky(fewest=50)), ("ridge", Ridge())]
    stack = StackingRegressor(learners, "mean", cv=3, on_error="raise", n_jobs=n_jobs)
    with pytest.raises(ValueError, match=r"only [24]0 rows") as caught:
        stack.fit(X, Y)
    assert any("learner 'picky' failed without fold" in note for note in caught.value.__notes__)


def test_if_none_is_left_all_causes_are_listed() -> None:
    learners = [("a", Picky(fewest=99)), ("b", Picky(fewest=98))]
    with pytest.raises(AllLearnersFailedError) as caught:
        StackingRegressor(learners, "mean", cv=3).fit(X, Y)
    assert "'a' without fold" in str(caught.value)
    assert "'b' without fold" in str(caught.value)


def test_a_learner_that_fails_in_an_upper_layer_is_dropped() -> None:
    layers = [[("low", Ridge())], [("picky", Picky(fewest=40)), ("high", Ridge())]]
    with pytest.warns(LearnerFailedWarning, match="'picky' was dropped"):
        stack = StackingRegressor(layers, "mean", cv=4, random_state=0).fit(X, Y)
    assert list(stack.oof_.columns) == ["high"]


def test_a_tuned_learner_that_fails_is_dropped() -> None:
    learners = [("picky", Picky(fewest=30)), ("ridge", Ridge())]
    options = {"cv": 3, "tune": {"picky": {"alpha": [1.0, 2.0]}}, "random_state": 0}
    with pytest.warns(LearnerFailedWarning, match="'picky' was dropped"):
        stack = StackingRegressor(learners, "mean", **options).fit(X, Y)
    assert np.isfinite(stack.score_)


def test_predictions_that_are_not_finite_are_a_failure() -> None:
    class Infinite(Ridge):
        def predict(self, X: Any) -> Any:
            return np.full(len(X), np.inf)

    learners = [("inf", Infinite()), ("ridge", Ridge())]
    with pytest.warns(LearnerFailedWarning, match="predict returned values that are not finite"):
        StackingRegressor(learners, "mean", cv=3).fit(X, Y)


def test_a_shared_transformer_is_fitted_once_a_node() -> None:
    Shift.fits = 0
    learners = [
        ("lasso", make_pipeline(Shift(), Lasso())),
        ("tree", make_pipeline(Shift(), DecisionTreeRegressor())),
    ]
    StackingRegressor(learners, "mean", cv=4, random_state=0).fit(X, Y)
    assert Shift.fits == 4 + 6


def test_a_learners_seed_depends_on_name_and_node_only() -> None:
    settings = FitSettings("S", 7)
    assert settings.seed_of("a", frozenset({1, 2})) == settings.seed_of("a", frozenset({2, 1}))
    nodes = [frozenset(s) for s in ([], [0], [1], [0, 1], [0, 1, 2])]
    seeds = [settings.seed_of(name, node) for name in ("a", "b") for node in nodes]
    assert len(set(seeds)) == len(seeds)
    later = FitSettings("S", 7, repeat=1)
    assert later.seed_of("a", frozenset()) == settings.seed_of("a", frozenset())
    assert later.seed_of("a", frozenset({0})) != settings.seed_of("a", frozenset({0}))


def test_other_learners_do_not_change_a_learners_predictions() -> None:
    forest = ("forest", RandomForestRegressor(3, max_features=1))
    alone = StackingRegressor([forest], "mean", cv=3, random_state=0).fit(X, Y)
    beside = StackingRegressor([("ridge", Ridge()), forest], "mean", cv=3, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(alone.oof_["forest"], beside.oof_["forest"])


def test_a_seed_of_the_users_stays() -> None:
    learners = [("forest", RandomForestRegressor(3, random_state=5))]
    stack = StackingRegressor(learners, "mean", cv=3, random_state=0).fit(X, Y)
    assert {m.random_state for m in stack.named_estimators_["forest"].models} == {5}


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_rows_are_put_one_below_the_other(make: Any) -> None:
    parts = [make(np.ones((2, 3))), make(np.zeros((1, 3)))]
    found = stacked_rows(parts)
    assert found.shape == (3, 3)
    assert type(found) is type(parts[0])
