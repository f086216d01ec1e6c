from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise.auto import bounded as module
from foldwise.auto.bounded import (
    USUAL_ROUNDS,
    Speed,
    bounded,
    in_time,
    plan_in_time,
    speed_of,
    speeds_of,
)
from foldwise.auto.plan import FitPlan, Trials
from foldwise.boost import NewtonBoostingClassifier
from foldwise.learners import TrainingData

LEARNERS = {
    "linear": make_pipeline(DummyClassifier()),
    "boosted": make_pipeline(NewtonBoostingClassifier(n_estimators=3000, learning_rate=0.05)),
    "other": make_pipeline(NewtonBoostingClassifier(n_estimators=3000)),
}


DATA = TrainingData(np.zeros((10_000, 1)), np.arange(10_000) % 2, n_classes=2)
PLAN = FitPlan(("linear", "other"), 5, {"boosted": "time budget"})


def put_first(
    seconds, a_round, *, learners=LEARNERS, folds=5, workers=2, probed=("boosted", "other")
):
    """``seconds``, ``a_round``: of all rows."""
    n_rows = len(DATA.y)
    boosters = [name for name in learners if name in probed]
    return in_time(
        PLAN if folds == 5 else replace(PLAN, folds=folds),
        learners,
        {name: Trials(((n_rows, took),)) for name, took in seconds.items()},
        dict.fromkeys(boosters, Speed(0.0, a_round / n_rows)),
        n_rows,
        budget=30.0,
        workers=workers,
        folds=(8, 5, 3),
    )


def test_a_booster_whose_usual_rounds_fit_keeps_them():
    # 300 rounds, ten fits' work by two workers, nine tenths of 30 s, less half a second.
    plan, seconds = put_first({"linear": 0.1}, 0.0176)
    assert replace(plan, bounds={}) == PLAN
    assert seconds == {"linear": 0.1} | dict.fromkeys(["boosted", "other"], pytest.approx(5.28))
    assert put_first({"linear": 0.1}, 0.0178)[0].names != PLAN.names


def test_a_booster_that_takes_longer_than_expected_ends_with_what_rounds_it_has():
    # Its fits may take half of 30 s, ten fits' work and 1.4 times that by two workers; or 1.3 times
    # as long as they are expected to.
    for a_round, most in [(0.001, 15 / 7), (0.0176, 1.3 * 5.28)]:
        plan, _ = put_first({"linear": 0.1}, a_round)
        assert plan.bounds == dict.fromkeys(["boosted", "other"], (None, pytest.approx(most)))
        assert plan.counted == []
    ended = bounded(LEARNERS["boosted"], None, 3.0)[-1]
    assert (ended.n_estimators, ended.learning_rate, ended.max_seconds) == (3000, 0.05, 3.0)


@pytest.mark.parametrize(("first", "probed"), [(0.21, False), (0.19, True)])
def test_where_few_rows_of_the_cheapest_are_slow_no_booster_is_probed(first, probed, monkeypatch):
    # Of 2.5 s for trials, one is for boosters: a fifth of that for the cheapest.
    asked = []
    monkeypatch.setattr(module, "tried", lambda *_, **__: {"linear": Trials(((60, first),))})
    monkeypatch.setattr(module, "speeds_of", lambda own, *_: asked.extend(own) or {})
    plan_in_time(
        LEARNERS, {}, DATA,
        trying=2.5, left=lambda: 30.0, workers=2, folds=(8, 5, 3), repeats=1, seed=0, small=False,
    )  # fmt: skip
    assert asked == (["boosted", "other"] if probed else [])


class ToldOfCategories(DummyClassifier):
    """Stands for CatBoost."""

    __module__ = "catboost.told"

    def __init__(self, iterations=1000, cat_features=("a",), verbose=None):
        super().__init__()
        self.iterations = iterations
        self.cat_features = cat_features
        self.verbose = verbose


def test_catboost_that_is_told_of_categories_is_tried_with_a_part_of_its_rounds(monkeypatch):
    rounds = []

    def tried(learners, *_, **__):
        rounds.extend(own[-1].iterations for own in learners.values())
        return {name: Trials(((1000, 0.01),)) for name in learners}

    monkeypatch.setattr(module, "tried", tried)
    plan = plan_in_time(
        {"levels": make_pipeline(ToldOfCategories())}, {}, DATA,
        trying=2.5, left=lambda: 30.0, workers=2, folds=(5,), repeats=1, seed=0, small=False,
    )  # fmt: skip
    assert rounds == [100]
    assert plan.expected["levels"] * len(DATA.y) == pytest.approx(0.1 * len(DATA.y) / 1000)


def test_in_a_single_split_rounds_are_counted():
    plan, _ = put_first({"linear": 0.1}, 0.1, folds=1)
    assert plan.names[0] == "boosted"
    assert plan.bounds["boosted"][0] == 187


@pytest.mark.parametrize(
    ("a_round", "folds", "n_rows", "rounds"),
    # Half of 30 s; ten fits' work by two workers at five folds, three at three, 1.4 times as much
    # where rounds are found on other rows, 0.8 by one; then fewer rows, at least 4,000; then fewer
    # rounds; then fewer rows once more.
    [
        (0.0178, 5, None, 120),
        (0.04, 3, None, 178),
        (0.15, 1, None, 125),
        (0.3, 1, 5208, 120),
        (1.0, 1, 4000, 46),
        (10.0, 1, 937, 20),
    ],
)
def test_where_none_would_end_folds_are_given_up_then_rows_then_rounds(
    a_round, folds, n_rows, rounds
):
    plan, seconds = put_first({"linear": 0.1}, a_round)
    assert plan.names == ("boosted", "linear", "other")
    assert (plan.folds, plan.n_rows, plan.skipped) == (folds, n_rows, {})
    took = rounds * a_round * (n_rows or 10_000) / 10_000
    assert plan.bounds == {n: (rounds, pytest.approx(1.3 * took)) for n in ("boosted", "other")}
    assert seconds["boosted"] == pytest.approx(took)


def test_without_workers_no_fit_that_cannot_be_ended_is_sure_to_be_made():
    # A fit of a second is quick.
    def first(a_round):
        return put_first({"linear": 0.1}, a_round, workers=0)[0]

    assert first(0.9 / 300).counted == []
    assert first(1.1 / 300).counted == ["boosted", "other"]


def test_a_booster_that_was_not_probed_is_passed_over_for_one_that_was():
    plan, _ = put_first({"linear": 0.1}, 0.04, probed=("other",))
    assert plan.names == ("other", "linear", "boosted")


def test_a_handful_of_rounds_or_rows_is_worth_no_time():
    assert put_first({"linear": 0.1}, 20.0)[0] is PLAN


def test_where_there_is_no_booster_the_cheapest_has_the_rows_it_has_time_for():
    rules = {"rules": make_pipeline(DummyClassifier()), "short": make_pipeline(DummyClassifier())}
    plan, seconds = put_first({"rules": 90.0, "short": 50.0}, 1.0, learners=rules)
    assert (plan.names, plan.folds, plan.n_rows) == (("short", "rules"), 1, 2500)
    assert seconds == {"rules": 22.5, "short": 12.5}
    # What has time for all rows is left alone, with workers and without.
    for workers in (0, 2):
        plan = FitPlan(("rules",), 5, {})
        told = {"rules": Trials(((len(DATA.y), 2.0),))}
        how = {"budget": 30.0, "workers": workers, "folds": (5,)}
        assert in_time(plan, rules, told, {}, len(DATA.y), **how)[0] == plan


def test_a_booster_that_fails_is_passed_over():
    rng = np.random.default_rng(0)
    data = TrainingData(rng.normal(size=(600, 1)), rng.integers(0, 2, 600), n_classes=2)
    works = make_pipeline(StandardScaler(), NewtonBoostingClassifier())
    fails = make_pipeline(StandardScaler(), NewtonBoostingClassifier(max_bins=1))
    assert list(speeds_of({"fails": fails, "works": works}, data, 0, 1e4)) == ["works"]


def test_speed_is_measured_on_more_rows_while_there_is_time(monkeypatch):
    rng = np.random.default_rng(0)
    data = TrainingData(rng.normal(size=(60_000, 1)), rng.integers(0, 3, 60_000), n_classes=3)
    booster = make_pipeline(
        StandardScaler(), NewtonBoostingClassifier(early_stopping=True, refit=None)
    )
    # A fit takes a second, another for 1,000 rows, and in each round 0.1 for them and 0.2.
    now, sizes = [0.0], []

    def seconds(n_rows, rounds):
        return 1.0 + n_rows / 1000 + rounds * (0.1 * n_rows / 1000 + 0.2)

    def stops_after(rounds):
        def fit(learner, _data, rows, _seed):
            booster = learner[-1]
            sizes.append(len(rows))
            stops = rounds if booster.early_stopping else booster.n_estimators
            now[0] += min(seconds(len(rows), stops), (booster.max_seconds or np.inf) + 0.1)
            return True

        return fit

    monkeypatch.setattr(module, "trial", stops_after(None))
    monkeypatch.setattr(module.time, "perf_counter", lambda: now[0])
    order = np.arange(8000)
    speed = speed_of(booster, data, order, 0, limit=1000.0)
    assert set(sizes) == {500, 2000, 8000}
    assert speed.seconds(60_000, 30) == pytest.approx(seconds(60_000, 30))
    assert speed.rounds(60_000, seconds(60_000, 30) + 1e-3) == 30
    assert speed.rows(30, seconds(60_000, 30) + 1e-3) == 60_000
    again = make_pipeline(StandardScaler(), NewtonBoostingClassifier(refit="scaled"))
    assert speed_of(again, data, order, 0, 1000.0).a_cell == pytest.approx(2 * speed.a_cell)
    # Where all rows are few, all of a round's time is theirs.
    alone = speed_of(booster, data, order[:400], 0, 3.0)
    assert alone.seconds(400, 30) == pytest.approx(seconds(400, 30))
    assert alone.a_round == pytest.approx(0.0)
    # A probe, and then two of each: the first booster has the time, the second has none.
    twice = {"first": booster, "second": booster}
    enough = 2 * seconds(500, 2) + seconds(500, 32) + seconds(2000, 2) + seconds(2000, 16)
    assert list(speeds_of(twice, data, 0, enough - 0.1)) == ["first"]
    # With less than a third of it no second number of rows is tried, and no second booster.
    sizes.clear()
    less = (enough - seconds(500, 2)) / 3.1
    assert list(speeds_of(twice, data, 0, less)) == ["first"]
    assert set(sizes) == {500}
    assert sizes.count(500) == 3
    monkeypatch.setattr(module, "trial", stops_after(200))
    usual = [speed.usual for speed in speeds_of(twice, data, 0, 1e4).values()]
    assert usual == pytest.approx([300.0] * 2, rel=0.01)
    # One that the clock ended would have gone on.
    probes = [(500, 2), (500, 2), (500, 32), (2000, 2), (2000, 16)]
    limit = sum(seconds(*probe) for probe in probes) + seconds(2000, 50)
    (cut,) = speeds_of({"first": booster}, data, 0, limit).values()
    assert cut.usual == USUAL_ROUNDS
    monkeypatch.setattr(module, "trial", lambda *_: False)
    assert speed_of(booster, data, order, 0, 9.0) is None


def test_few_rounds_still_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2300, 2))
    y = (np.arctan2(*X.T) // (np.pi / 3)).astype(int)
    booster = make_pipeline(
        NewtonBoostingClassifier(n_estimators=3000, learning_rate=0.05, n_jobs=1)
    )
    slow = booster.set_params(newtonboostingclassifier__n_estimators=30).fit(X[:300], y[:300])
    quick = bounded(booster, 30, 60.0).fit(X[:300], y[:300])
    assert quick.score(X[300:], y[300:]) >= slow.score(X[300:], y[300:])
    truth = np.arange(300, 2300)
    loss = [-np.log(m.predict_proba(X[truth])[np.arange(2000), y[truth] - y.min()]).mean()
            for m in (slow, quick)]  # fmt: skip
    assert loss[1] < 0.8 * loss[0]
