"""Changing a fitted stack: the same bits as a fresh fit, and no fit too many."""

import pickle
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor
from foldwise.errors import InvalidDataError, InvalidParameterError, LearnerFailedWarning

X, Y = make_regression(60, 4, noise=10, random_state=0)
XC, YC = make_classification(90, 6, n_informative=4, n_classes=3, random_state=0)


class Counting(Ridge):
    """A ridge that counts its fits."""

    fits: ClassVar[int] = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Counting":
        Counting.fits += 1
        return super().fit(X, y, sample_weight)


class Failing(Ridge):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Failing":
        raise RuntimeError("broken")


@pytest.fixture(autouse=True)
def _from_zero() -> None:
    Counting.fits = 0


TREE = ("tree", DecisionTreeRegressor(max_features=2))
MODES: dict[str, dict[str, Any]] = {
    "folds": {},
    "refit": {"predict_with": "refit"},
    "pairs": {"predict_with": "pairs"},
    "repeats": {"n_repeats": 2},
    "repeats refit": {"n_repeats": 3, "predict_with": "refit"},
    "time": {"cv": TimeSeriesSplit(4)},
    "tuned": {"tune": {"count": {"alpha": [1.0, 50.0]}}},
    "passed": {"passthrough": True},
    "layers": {"cv": 4, "layers": True},
}


def stack_of(mode: str, *more: tuple[str, Any], final: Any = "nnls") -> StackingRegressor:
    options = {"cv": 3, "random_state": 0, **MODES[mode]}
    learners: list[Any] = [("count", Counting(1.0)), TREE]
    if options.pop("layers", False):
        learners = [learners, [("upper", Ridge()), *more]]
    else:
        learners += more
    return StackingRegressor(learners, final, **options)


def assert_same(ours: Any, fresh: Any) -> None:
    assert ours.score_ == fresh.score_
    assert ours.score_se_ == fresh.score_se_
    assert ours.n_fits_ == fresh.n_fits_
    assert (ours.predict(X) == fresh.predict(X)).all()
    pd.testing.assert_frame_equal(ours.oof_, fresh.oof_)
    timeless = [c for c in fresh.leaderboard_.columns if not c.endswith("seconds")]
    pd.testing.assert_frame_equal(ours.leaderboard_[timeless], fresh.leaderboard_[timeless])


@pytest.mark.parametrize("mode", MODES)
def test_another_top_has_the_bits_of_a_fresh_fit_and_costs_no_fit(mode: str) -> None:
    first = stack_of(mode).fit(X, Y)
    Counting.fits = 0
    ours = first.restack(Ridge(3.0))
    assert Counting.fits == 0
    assert_same(ours, stack_of(mode, final=Ridge(3.0)).fit(X, Y))


@pytest.mark.parametrize("mode", MODES)
def test_one_learner_more_has_the_bits_of_a_fresh_fit(mode: str) -> None:
    more = ("more", DecisionTreeRegressor(max_depth=2, max_features=2))
    ours = stack_of(mode).fit(X, Y)
    Counting.fits = 0
    ours = ours.add(*more)
    assert Counting.fits == 0
    assert_same(ours, stack_of(mode, more).fit(X, Y))


@pytest.mark.parametrize("mode", [m for m in MODES if m not in ("layers", "tuned")])
def test_only_the_new_learner_is_fitted(mode: str) -> None:
    options = {"cv": 3, "random_state": 0, **MODES[mode]}
    first = StackingRegressor([TREE], "mean", **options).fit(X, Y)
    first.add("count", Counting())
    added, Counting.fits = Counting.fits, 0
    StackingRegressor([TREE, ("count", Counting())], "mean", **options).fit(X, Y)
    assert added == Counting.fits


@pytest.mark.parametrize("scoring", ["accuracy", "f1_macro"])
def test_another_scoring_is_that_of_a_fresh_fit(scoring: str) -> None:
    learners = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3))]
    first = StackingClassifier(learners, "nnls", cv=3, random_state=0).fit(XC, YC)
    ours = first.restack(scoring=scoring)
    fresh = StackingClassifier(learners, "nnls", cv=3, scoring=scoring, random_state=0).fit(XC, YC)
    assert ours.score_ == fresh.score_
    assert scoring in ours.leaderboard_.columns


def test_the_parameters_say_what_it_is() -> None:
    first = stack_of("folds").fit(X, Y)
    top = Ridge(3.0)
    again = first.restack(top, scoring="r2")
    assert (again.final_estimator.alpha, again.scoring) == (3.0, "r2")
    assert [name for name, _ in first.add("x", Ridge()).estimators] == ["count", "tree", "x"]
    assert_same(clone(again).fit(X, Y), again)


@pytest.mark.parametrize("mode", MODES)
def test_what_was_set_since_the_fit_is_not_said_of_its_learners(mode: str) -> None:
    first = stack_of(mode).fit(X, Y)
    want, longer = first.restack("mean"), first.add("x", Ridge())
    made = first.estimators
    first.set_params(count__alpha=99.0, cv=7, n_repeats=5, random_state=3, tree="drop", verbose=0)
    for new, old in [(first.restack("mean"), want), (first.add("x", Ridge()), longer)]:
        assert_same(new, old)
        assert str(new.get_params()) == str(old.get_params())
    assert first.estimators != made
    # What the top is made of counts.
    assert first.set_params(final_estimator="median").restack().final_estimator == "median"


def test_the_first_stack_does_not_change() -> None:
    first = stack_of("folds").fit(X, Y)
    before = (first.score_, first.predict(X), first.get_params()["final_estimator"])
    first.restack("mean")
    first.add("x", LinearRegression())
    assert first.score_ == before[0]
    assert (first.predict(X) == before[1]).all()
    assert first.get_params()["final_estimator"] == before[2]
    assert len(first.estimators) == 2


def test_both_can_follow_each_other() -> None:
    ours = stack_of("folds").fit(X, Y).restack("mean").add("x", Ridge(9.0)).restack("nnls")
    assert_same(ours, stack_of("folds", ("x", Ridge(9.0))).fit(X, Y))


def test_groups_and_weights_are_remembered() -> None:
    groups, weight = np.arange(60) // 4, np.random.default_rng(0).uniform(1, 2, 60)
    ours = stack_of("folds").fit(X, Y, weight, groups).add("x", Ridge(9.0))
    fresh = stack_of("folds", ("x", Ridge(9.0))).fit(X, Y, weight, groups)
    assert_same(ours, fresh)


def test_a_dropped_learner_stays_dropped() -> None:
    learners = [("bad", Failing()), ("ridge", Ridge())]
    with pytest.warns(LearnerFailedWarning, match="'bad' was dropped"):
        first = StackingRegressor(learners, "mean", cv=3, random_state=0).fit(X, Y)
    for again in (first.restack("nnls"), first.add("x", LinearRegression())):
        assert list(again.failures_) == ["bad"]
        assert "bad" not in set(again.leaderboard_["model"])


def test_a_new_learner_that_fails_is_dropped_with_a_warning() -> None:
    first = stack_of("folds").fit(X, Y)
    with pytest.warns(LearnerFailedWarning, match="'bad' was dropped"):
        again = first.add("bad", Failing())
    assert again.score_ == first.score_


def test_training_rows_are_not_pickled_and_are_asked_for() -> None:
    wide = np.random.default_rng(0).normal(size=(60, 5000))
    stack = StackingRegressor([("tree", DecisionTreeRegressor(max_depth=1))], "mean", cv=3)
    stack.fit(wide, Y)
    stored = pickle.dumps(stack)
    assert len(stored) < wide.nbytes / 4
    loaded = pickle.loads(stored)
    assert (loaded.predict(wide) == stack.predict(wide)).all()
    with pytest.raises(InvalidParameterError) as caught:
        loaded.add("ridge", Ridge())
    assert str(caught.value) == (
        "StackingRegressor: X must be given after unpickling, since training rows are not pickled; "
        "got None. Give the rows the stack was fitted on."
    )
    again = loaded.add("ridge", Ridge(), X=wide)
    assert again.score_ == stack.add("ridge", Ridge()).score_


def test_an_unpickled_stack_gets_another_top_without_its_rows() -> None:
    frame = pd.DataFrame(X, index=np.arange(100, 160)).rename(columns=str)
    stack = stack_of("folds").fit(frame, Y)
    again = pickle.loads(pickle.dumps(stack)).restack("mean")
    assert again.score_ == stack.restack("mean").score_
    pd.testing.assert_frame_equal(again.oof_, stack.oof_)


def test_an_unpickled_stack_that_passes_columns_on_asks_for_them() -> None:
    loaded = pickle.loads(pickle.dumps(stack_of("passed").fit(X, Y)))
    with pytest.raises(InvalidParameterError, match="X must be given after unpickling"):
        loaded.restack(Ridge())
    assert np.isfinite(loaded.restack(Ridge(), X=X).score_)


def test_other_rows_are_refused() -> None:
    loaded = pickle.loads(pickle.dumps(stack_of("folds").fit(X, Y)))
    with pytest.raises(InvalidDataError, match="must have one entry for each of the 60 rows"):
        loaded.add("x", Ridge(), X=X[:50])


def test_other_columns_are_refused() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    loaded = pickle.loads(pickle.dumps(stack_of("folds").fit(frame, Y)))
    with pytest.raises(ValueError, match="feature names"):
        loaded.add("x", Ridge(), X=frame[list("dcba")])


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="unique names; got 'tree' twice"):
        stack_of("folds").fit(X, Y).add("tree", Ridge())


def test_nothing_fitted_cannot_be_changed() -> None:
    with pytest.raises(NotFittedError):
        stack_of("folds").restack("mean")
    with pytest.raises(NotFittedError):
        stack_of("folds").add("x", Ridge())


def test_a_top_of_the_wrong_kind_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="final_estimator must be a regressor"):
        stack_of("folds").fit(X, Y).restack(LogisticRegression())


class CopiesItsList(Ridge):
    """As CatBoost does, which scikit-learn's clone refuses."""

    __module__ = "catboost.core"

    def __init__(self, alpha: float = 1.0, cat_features: Any = None, verbose: Any = None) -> None:
        super().__init__(alpha)
        self.verbose = verbose
        self.cat_features = None if cat_features is None else list(cat_features)


def test_learners_that_scikit_learn_cannot_clone_are_restacked_and_tuned() -> None:
    learner = CopiesItsList(1.0, [0])
    with pytest.raises(RuntimeError, match="Cannot clone"):
        clone(learner)
    options: dict[str, Any] = {"cv": 3, "tune": {"copies": {"alpha": [1.0, 9.0]}}}
    stack = StackingRegressor([("copies", learner), TREE], "nnls", random_state=0, **options)
    again = clone(stack.fit(X, Y)).fit(X, Y).restack("mean").add("line", LinearRegression())
    assert again.failures_ == {}
    assert [name for name, _ in again.estimators] == ["copies", "tree", "line"]
    assert again.estimators[0][1].cat_features == [0]
    assert again.estimators[0][1] is not learner
