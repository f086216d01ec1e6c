import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise.auto import bounded as module
from foldwise.auto.bounded import bounded, seconds_a_round, with_booster
from foldwise.auto.plan import FitPlan, planned
from foldwise.boost import NewtonBoostingClassifier
from foldwise.learners import TrainingData

DATA = TrainingData(np.zeros((10, 1)), np.arange(10) % 2, n_classes=2)
LEARNERS = {
    "linear": make_pipeline(DummyClassifier()),
    "boosted": make_pipeline(NewtonBoostingClassifier(n_estimators=3000, learning_rate=0.05)),
    "other": make_pipeline(NewtonBoostingClassifier(n_estimators=3000)),
}


def put_first(seconds, plan, a_round, monkeypatch, *, budget=30.0, workers=2):
    monkeypatch.setattr(module, "seconds_a_round", lambda *_: a_round)
    return with_booster(
        plan, LEARNERS, seconds, DATA, budget=budget, workers=workers, folds=(8, 5, 3), seed=0
    )


PLAN = FitPlan(("linear", "other"), 5, {"boosted": "time budget"})


def test_a_booster_that_fits_is_left_alone(monkeypatch):
    plan, seconds = put_first({"linear": 0.1, "other": 1.0}, PLAN, 0.1, monkeypatch)
    assert plan is PLAN
    assert seconds == {"linear": 0.1, "other": 1.0}


@pytest.mark.parametrize(
    ("a_round", "folds", "rounds"),
    # Half of 30 s; ten fits' work by two workers at five folds, three at three, 0.8 by one.
    [(0.01, 5, 300), (0.04, 3, 250), (0.15, 1, 125), (0.5, 1, 37), (1e-6, 5, 3000)],
)
def test_where_none_would_be_finished_the_first_gets_the_rounds_there_is_time_for(
    a_round, folds, rounds, monkeypatch
):
    plan, seconds = put_first({"linear": 0.1, "boosted": 99.0}, PLAN, a_round, monkeypatch)
    assert plan.names == ("linear", "boosted", "other")
    assert (plan.folds, plan.rounds) == (folds, {"boosted": rounds})
    assert plan.skipped == {}
    assert seconds["boosted"] == pytest.approx(rounds * a_round)


def test_a_handful_of_rounds_is_worth_no_time(monkeypatch):
    assert put_first({"linear": 0.1}, PLAN, 1.0, monkeypatch)[0] is PLAN
    assert put_first({"linear": 0.1}, PLAN, float("inf"), monkeypatch)[0] is PLAN


def test_a_plan_with_rounds_is_remembered(tmp_path):
    plan = FitPlan(("boosted",), 3, {}, (), {"boosted": 77})
    assert planned(tmp_path, "key", lambda: plan) == plan
    assert planned(tmp_path, "key", lambda: PLAN) == plan


def test_the_time_of_a_round_is_that_of_all_rows(monkeypatch):
    rng = np.random.default_rng(0)
    data = TrainingData(rng.normal(size=(600, 3)), rng.integers(0, 3, 600), n_classes=3)
    booster = make_pipeline(StandardScaler(), NewtonBoostingClassifier(refit=None))
    monkeypatch.setattr(module, "PROBED_ROWS", 300)
    # What a fit takes: a second, and 0.1 for each round of the rows that are tried.
    now = [0.0]

    def fit(learner, _data, rows, _seed):
        assert not learner[-1].early_stopping
        now[0] += 1.0 + 0.1 * learner[-1].n_estimators * len(rows) / 300
        return True

    monkeypatch.setattr(module, "trial", fit)
    monkeypatch.setattr(module.time, "perf_counter", lambda: now[0])
    assert seconds_a_round(booster, data, 0) == pytest.approx(0.1 * 600 / 300)
    again = make_pipeline(StandardScaler(), NewtonBoostingClassifier(refit="scaled"))
    assert seconds_a_round(again, data, 0) == pytest.approx(2 * 0.1 * 600 / 300)
    monkeypatch.setattr(module, "trial", lambda *_: False)
    assert seconds_a_round(booster, data, 0) == float("inf")


def test_few_rounds_still_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (np.arctan2(*X.T) // (np.pi / 3)).astype(int)
    booster = make_pipeline(
        NewtonBoostingClassifier(n_estimators=3000, learning_rate=0.05, n_jobs=1)
    )
    slow = booster.set_params(newtonboostingclassifier__n_estimators=30).fit(X[:300], y[:300])
    quick = bounded(booster, 30).fit(X[:300], y[:300])
    assert quick.score(X[300:], y[300:]) >= slow.score(X[300:], y[300:])
    truth = np.arange(300, 400)
    loss = [-np.log(m.predict_proba(X[truth])[np.arange(100), y[truth] - y.min()]).mean()
            for m in (slow, quick)]  # fmt: skip
    assert loss[1] < 0.8 * loss[0]
