import time
from types import SimpleNamespace
from typing import Any

import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor
from foldwise.errors import AllLearnersFailedError, FoldwiseWarning
from foldwise.folds import Lattice, read_lattice
from foldwise.learners import TrainingData
from foldwise.scores.metric import as_metric
from foldwise.stack.fit import fit_layers
from foldwise.stack.judge.in_time import judged_in_time, reserved
from foldwise.stack.judge.judge import Contest, OutOfTimeError
from foldwise.stack.parameters import MOST_REPEATS
from foldwise.stack.problem import StackProblem
from foldwise.stack.stackers.candidates import candidates_from
from foldwise.stack.table.layers import Dealt
from tests.engine import odd
from tests.engine.odd import Odd

X, Y = make_regression(60, 4, noise=10, random_state=0)


@pytest.fixture(autouse=True)
def slow_learners_take_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let clocks go on by the time a learner says it takes: budgets are large, waits are none."""
    slept = [0.0]
    for name in ("monotonic", "perf_counter"):
        real = getattr(time, name)
        monkeypatch.setattr(time, name, lambda real=real: real() + sum(slept))
    monkeypatch.setattr(odd, "time", SimpleNamespace(sleep=slept.append))


def fit(learners: Any, **options: Any) -> StackingRegressor:
    options = {"cv": 3, "random_state": 0, "final_estimator": "mean", **options}
    return StackingRegressor(learners, **options).fit(X, Y)


def test_enough_time_gives_the_whole_stack_with_the_same_bits() -> None:
    learners = [("tree", DecisionTreeRegressor()), ("ridge", Ridge())]
    stack, plain = fit(learners, time_budget=100), fit(learners)
    assert not stack.partial_
    assert stack.score_ == plain.score_
    assert (stack.predict(X) == plain.predict(X)).all()


def test_what_time_does_not_suffice_for_is_left_out_and_said() -> None:
    learners = [("slow", Odd(seconds=60)), ("tree", DecisionTreeRegressor()), ("ridge", Ridge())]
    start = time.monotonic()
    with pytest.warns(FoldwiseWarning) as caught:
        stack = fit(learners, time_budget=200)
    assert time.monotonic() - start < 200
    assert [str(w.message) for w in caught] == [
        "StackingRegressor: the fit ended by time_budget=200 and the stack is partial, without "
        "'slow'. Fit again with more time; with run_dir= nothing finished is fitted twice."
    ]
    assert stack.partial_
    assert (stack.run_.reason, stack.run_.failed) == ("time budget", ("slow",))
    assert stack.failures_ == {"slow": "time budget: about 8 min more needed, 2 min left"}
    rest = fit(learners[1:])
    assert stack.score_ == rest.score_
    assert list(stack.oof_.columns) == ["tree", "ridge"]


def test_of_what_another_estimator_was_given_only_its_own_budget_is_told() -> None:
    learners = [("slow", Odd(seconds=60)), ("ridge", Ridge())]
    stack = StackingRegressor(learners, cv=3, random_state=0, time_budget=200)
    stack._called = "AutoStackRegressor"
    with pytest.warns(FoldwiseWarning, match=r"AutoStackRegressor: .* by time_budget and the"):
        stack.fit(X, Y)


def test_no_learner_in_time_is_an_error_that_says_so() -> None:
    with pytest.raises(AllLearnersFailedError) as caught:
        fit([("slow", Odd(seconds=30))], time_budget=50)
    assert str(caught.value) == (
        "StackingRegressor: time_budget must be enough for at least one learner; got 50 s: "
        "'slow' time budget: not finished in time. Give more time, or a cheap learner first."
    )


def test_repeats_that_do_not_fit_are_left_out() -> None:
    with pytest.warns(FoldwiseWarning, match=r"is partial, without 4\d of 50 repeats\. "):
        stack = fit([("slow", Odd(seconds=15))], time_budget=270, n_repeats=50)
    assert stack.partial_
    assert 1 <= len(stack.deals_) <= 2
    assert stack.failures_ == {}


@pytest.mark.parametrize(("budget", "repeats"), [(160, 1), (225, 2), (900, MOST_REPEATS)])
def test_as_many_repeats_as_there_is_time_for_lack_nothing(budget: float, repeats: int) -> None:
    learners = [("slow", Odd(seconds=15))]  # six fits a deal
    told: list[Any] = []
    stack = fit(learners, time_budget=budget, n_repeats="auto", callback=told.append)
    totals = [event.total for event in told if event.kind == "fitted"]
    assert totals == [6 * (deal + 1) for deal in range(repeats) for _ in range(6)]
    assert len(stack.deals_) == repeats
    assert not stack.partial_
    assert stack.score_ == fit(learners, n_repeats=repeats).score_


def test_without_a_budget_there_is_time_for_one_deal() -> None:
    assert len(fit([("ridge", Ridge())], n_repeats="auto").deals_) == 1


def test_a_repeat_that_was_begun_and_not_finished_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unfinished(layers: Any, problem: Any, dealt: Any, settings: Any, known: Any) -> Any:
        if settings.repeat:
            settings.run.dropped["ridge"] = "time budget: not finished in time"
        return fit_layers(layers, problem, dealt, settings, known)

    def nothing_left(layers: Any, problem: Any, dealt: Any, settings: Any, known: Any) -> Any:
        fitted = unfinished(layers, problem, dealt, settings, known)
        if settings.repeat:
            raise AllLearnersFailedError("all failed")
        return fitted

    learners = [("ridge", Ridge()), ("tree", DecisionTreeRegressor())]
    for how in (unfinished, nothing_left):
        monkeypatch.setattr("foldwise.stack.fit.fit_layers", how)
        with pytest.warns(FoldwiseWarning, match="without 1 of 2 repeats"):
            stack = fit(learners, n_repeats=2, time_budget=100)
        assert len(stack.deals_) == 1
        assert stack.failures_ == {}
        assert list(stack.oof_.columns) == ["ridge", "tree"]
        assert stack.run_.reason == "time budget"


def test_an_upper_layer_without_time_leaves_the_lower_one() -> None:
    layers = [
        [("ridge", Ridge()), ("tree", DecisionTreeRegressor())],
        [("slow", Odd(seconds=100))],
    ]
    with pytest.warns(FoldwiseWarning, match="is partial, without 'slow'"):
        stack = fit(layers, time_budget=400, cv=4)
    assert list(stack.oof_.columns) == ["ridge", "tree"]
    assert stack.predict(X).shape == (60,)
    assert stack.score_ < 0


def test_a_tuned_learner_without_time_is_left_out() -> None:
    learners = [("slow", Odd(seconds=60)), ("ridge", Ridge())]
    tune = {"slow": {"rows": [0, 7]}}
    with pytest.warns(FoldwiseWarning, match="is partial, without 'slow'"):
        stack = fit(learners, time_budget=300, tune=tune)
    assert list(stack.oof_.columns) == ["ridge"]


def test_time_for_combining_is_set_aside() -> None:
    X, y = make_classification(1000, random_state=0)
    problem = StackProblem(TrainingData(X, y, None, 2), labels=[0, 1])
    lattice = Lattice.from_splits(KFold(5).split(X), 1000)
    dealt = Dealt(lattice, read_lattice(lattice), [])
    metric = as_metric(None, owner="x", classify=True, has_probabilities=True)
    one = Contest(candidates_from("pool", problem, metric, "x"), metric)
    several = Contest(candidates_from(["pool", "logistic"], problem, metric, "x"), metric)

    def seconds(budget: float, contest: Contest = one) -> float:
        return reserved(problem, 10, dealt, contest, budget)

    assert seconds(0.3) == pytest.approx(0.1)
    assert seconds(10) == pytest.approx(0.28)
    assert seconds(10, several) == pytest.approx(0.48)
    assert seconds(1.0, several) == pytest.approx(0.28)
    assert seconds(1000) == pytest.approx(20.0)
    # Of a minute, an eighth at most: ten thousand learners would take longer.
    assert reserved(problem, 10_000, dealt, one, 60) == pytest.approx(7.5)


def test_a_stacker_without_time_is_a_mean_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    learners = [("tree", DecisionTreeRegressor()), ("ridge", Ridge())]
    for name in ("GRACE_SHARE", "GRACE_SECONDS"):
        monkeypatch.setattr(f"foldwise.stack.fit.{name}", -100.0)
    with pytest.warns(FoldwiseWarning, match="is partial, without all that was to stand on top"):
        stack = fit(learners, time_budget=50, final_estimator=["ridge", "nnls"])
    assert stack.partial_
    assert stack.run_.reason == "time budget"
    convex = fit(learners, final_estimator=("simplex", {"alpha": [0.0]}))
    assert stack.score_ == convex.score_
    assert (stack.predict(X) == convex.predict(X)).all()
    best = fit(learners, time_budget=50, final_estimator="best")
    assert not best.partial_
    assert best.score_ == fit(learners, final_estimator="best").score_


@pytest.mark.parametrize("stops", [0, 1, 2, 3, 4])
def test_as_much_is_judged_as_there_is_time_for(stops: int) -> None:
    problem = StackProblem(TrainingData(X, Y))
    metric = as_metric(None, owner="x", classify=False, has_probabilities=False)
    contest = Contest(candidates_from(["ridge", "lasso", "nnls"], problem, metric, "x"), metric)
    tried: list[list[str]] = []

    def judged(step: Contest, until: float) -> list[str]:
        tried.append([candidate.name for candidate in step.candidates])
        assert (until == float("inf")) == (len(tried) == 1)
        if len(tried) > max(stops, 1):
            raise OutOfTimeError
        return tried[-1]

    until = time.monotonic() + (100.0 if stops else -1.0)
    found, whole = judged_in_time(judged, contest, problem, until)
    steps = [["simplex"], ["ridge"], ["ridge", "lasso"], ["ridge", "lasso", "nnls"]]
    assert found == steps[max(stops, 1) - 1]
    assert whole == (stops == 4)
    assert tried == steps[: stops + 1]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_time_bad_learners_get_no_weight(n_classes: int, monkeypatch: Any) -> None:
    for name in ("GRACE_SHARE", "GRACE_SECONDS"):
        monkeypatch.setattr(f"foldwise.stack.fit.{name}", -100.0)
    rows, classes = make_classification(
        300, n_informative=4, n_classes=n_classes, class_sep=2.0, random_state=0
    )
    bad = [(f"bad{k}", DummyClassifier(strategy="uniform", random_state=k)) for k in range(4)]
    learners = [("good", LogisticRegression()), *bad]
    tops = [("log_score", {"alpha": [0.0, 0.1]}), "pool"]
    scoring = "roc_auc" if n_classes == 2 else "neg_log_loss"
    stack = StackingClassifier(
        learners, tops, cv=3, scoring=scoring, time_budget=50, random_state=0
    )
    with pytest.warns(FoldwiseWarning, match="is partial"):
        stack.fit(rows, classes)
    weights = dict(zip(dict(learners), stack.stacker_.weights_, strict=True))
    assert weights["good"] > 0.85
