"""Rounds of boosters found inside the lattice, against models boosted one by one."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_friedman1
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise import (
    NewtonBoostingClassifier,
    NewtonBoostingRegressor,
    StackingClassifier,
    StackingRegressor,
)
from foldwise.errors import InvalidParameterError
from foldwise.learners.watched import Patience

X, Y = make_friedman1(120, noise=2.0, random_state=0)
PATIENCE = 8
BOOSTER = NewtonBoostingRegressor(
    n_estimators=60, min_samples_leaf=4, early_stopping=True, n_iter_no_change=PATIENCE
)


def fitted(y=Y, **how):
    learners = [("boosted", make_pipeline(StandardScaler(), BOOSTER)), ("ridge", Ridge())]
    settings = {"cv": 4, "tune": {"boosted": "rounds"}, "random_state": 0, **how}
    return StackingRegressor(learners, final_estimator="nnls", **settings).fit(X, y)


def rounds_on(model, X, y):
    patience = Patience(PATIENCE)
    for loss in model.staged_loss(X, y):
        if patience.exhausted(loss):
            break
    return patience.best_round


def test_the_table_is_that_of_models_boosted_one_by_one():
    deal = fitted().deals_[0]
    tests, table = deal.lattice.tests, deal.top.table
    whole = clone(BOOSTER).set_params(early_stopping=False)
    found = {}
    for i, j in [(i, j) for i in range(4) for j in range(4) if i != j]:
        train, both = deal.lattice.rows(frozenset({i, j})), np.sort(np.r_[tests[i], tests[j]])
        scaler = StandardScaler().fit(X[train])
        model = clone(whole).fit(scaler.transform(X[train]), Y[train])
        found[i, j] = rounds_on(model, scaler.transform(X[tests[j]]), Y[tests[j]])
        expected = list(model.staged_predict(scaler.transform(X[both])))[found[i, j] - 1]
        rows, values = table.predictions["boosted", frozenset({i, j}), i]
        assert np.array_equal(rows, both)
        assert np.allclose(values[:, 0], expected, atol=1e-10)
    assert len(set(found.values())) > 1
    for i in range(4):
        mean = np.mean([found[i, j] for j in range(4) if j != i]) * 90 / 60
        model = table.models["boosted", frozenset({i}), i][-1]
        assert model.n_estimators_ == min(int(mean + 0.5), 60)
    assert table.n_fits["boosted"] == 10


def test_nothing_a_fold_is_judged_by_saw_it():
    deal = fitted().deals_[0]
    rng = np.random.default_rng(0)
    for judged in deal.reading.judgements:
        other = Y.copy()
        other[judged.test.rows] = rng.normal(size=len(judged.test.rows), scale=50.0)
        table = fitted(other).deals_[0].top.table
        for block in (*judged.train, judged.test, *judged.by_pairs):
            before = deal.top.table.read("boosted", block)
            assert np.array_equal(before, table.read("boosted", block))


def other_booster(package, kind):
    library = pytest.importorskip(package)
    name = {"xgboost": "XGB", "catboost": "CatBoost"}[package]
    rounds = {"xgboost": "n_estimators", "catboost": "iterations"}[package]
    quiet = {"n_jobs": 1} if package == "xgboost" else {"verbose": False, "thread_count": 1}
    quiet |= {"allow_writing_files": False} if package == "catboost" else {}
    settings = {rounds: 60, "learning_rate": 0.2, "early_stopping_rounds": PATIENCE, **quiet}
    return getattr(library, f"{name}{kind}")(**settings)


@pytest.mark.parametrize("weight", [None, np.r_[np.ones(60), np.full(60, 2.0)]])
@pytest.mark.parametrize("package", ["xgboost", "catboost"])
def test_boosters_of_other_libraries_do_the_same(package, weight):
    learners = [("boosted", other_booster(package, "Regressor")), ("ridge", Ridge())]
    stack = StackingRegressor(learners, cv=4, tune={"boosted": "rounds"}, random_state=0)
    deal = clone(stack).fit(X, Y, weight).deals_[0]
    judged = deal.reading.judgements[1]
    other = Y.copy()
    # The loss on what is changed rises from the first round on.
    other[judged.test.rows] *= -50.0
    again = clone(stack).fit(X, other, weight).deals_[0]
    for block in (*judged.train, judged.test):
        before, after = (each.top.table.read("boosted", block) for each in (deal, again))
        assert np.array_equal(before, after)
    for judged in again.reading.judgements:
        if judged.fold != 1:
            assert any(
                not np.array_equal(*(each.top.table.read("boosted", b) for each in (deal, again)))
                for b in judged.train
            )


@pytest.mark.parametrize("package", ["xgboost", "catboost"])
def test_a_class_that_others_never_met_is_not_watched(package):
    X, y = make_classification(90, n_informative=5, random_state=0)
    rare = np.r_[[2, 2], y[2:]]
    learners = [("boosted", other_booster(package, "Classifier")), ("l", LogisticRegression())]
    stack = StackingClassifier(learners, cv=4, tune={"boosted": "rounds"}, random_state=0)
    with pytest.warns(UserWarning, match="class"):
        stack.fit(X, rare)
    assert np.allclose(stack.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("predict_with", ["refit", "pairs"])
def test_every_way_to_predict(predict_with):
    stack = fitted(predict_with=predict_with)
    cells = [cell for cell in stack.deals_[0].top.table.models if cell[0] == "boosted"]
    assert len(cells) == {"refit": 5, "pairs": 12}[predict_with]
    assert np.isfinite(stack.predict(X)).all()


def test_processes_repeats_and_a_run_that_is_continued_change_nothing(tmp_path):
    how = {"n_repeats": 2}
    stack, elsewhere = fitted(**how), fitted(**how, n_jobs=2)
    begun, done = fitted(run_dir=tmp_path), fitted(**how, run_dir=tmp_path)
    assert np.array_equal(stack.predict(X), elsewhere.predict(X))
    assert np.array_equal(stack.predict(X), done.predict(X))
    assert stack.score_ == elsewhere.score_ == done.score_
    assert begun.run_.fits == 20
    assert (done.run_.reused, done.run_.fits) == (20, 20)


@pytest.mark.parametrize("number", [5, 11])
def test_a_run_that_was_interrupted_is_continued(tmp_path, number):
    done = []

    def stop(event):
        done.append(event)
        if len(done) == number:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fitted(run_dir=tmp_path, callback=stop)
    stack = fitted(run_dir=tmp_path)
    # The linear learner's ten fits are one job, and two events are no fits.
    assert stack.run_.reused >= 10 + number - 3
    whole = fitted()
    assert np.array_equal(stack.predict(X), whole.predict(X))
    assert stack.score_ == whole.score_


def test_learners_can_be_added():
    stack = fitted()
    more = stack.add("other", Ridge(10.0))
    assert more.run_.fits == 10
    assert np.array_equal(more.oof_["boosted"], stack.oof_["boosted"])


class Fails(NewtonBoostingRegressor):
    def _fit_watching(self, X, y, watched, sample_weight=None):
        raise ValueError("no")


@pytest.mark.filterwarnings("ignore::foldwise.errors.LearnerFailedWarning")
def test_a_booster_that_failed_is_left_out_when_others_are_added():
    learners = [("boosted", Fails(early_stopping=True)), ("ridge", Ridge())]
    stack = StackingRegressor(learners, cv=4, tune={"boosted": "rounds"}, random_state=0).fit(X, Y)
    assert list(stack.failures_) == ["boosted"]
    assert stack.deals_[0].top.table.choices == {}
    assert list(stack.add("other", Ridge(10.0)).failures_) == ["boosted"]


def test_a_class_that_a_node_never_met_is_not_watched():
    X, y = make_classification(90, n_informative=5, n_classes=3, random_state=0)
    y[y == 2] = 0
    y[:2] = 2
    booster = NewtonBoostingClassifier(n_estimators=20, early_stopping=True)
    learners = [("boosted", booster), ("logistic", LogisticRegression())]
    stack = StackingClassifier(learners, cv=4, tune={"boosted": "rounds"}, random_state=0)
    with pytest.warns(UserWarning, match="class"):
        stack.fit(X, y)
    assert "boosted" not in stack.failures_
    assert np.allclose(stack.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize(
    "how", [{"cv": TimeSeriesSplit(4)}, {"cv": 5, "score_se": "nested"}, {"final_estimator": None}]
)
def test_where_there_are_no_pairs_a_booster_stops_by_itself(how):
    if how.pop("final_estimator", 0) is None:
        layers = [[("boosted", BOOSTER), ("a", Ridge())], [("b", Ridge())]]
        tuned, plain = (
            StackingRegressor(layers, cv=4, tune=tune, random_state=0).fit(X, Y)
            for tune in ({"boosted": "rounds"}, None)
        )
    else:
        tuned, plain = fitted(**how), fitted(tune=None, **how)
    assert np.array_equal(tuned.predict(X), plain.predict(X))


@pytest.mark.parametrize("tune", [{"ridge": "rounds"}, {"boosted": "round"}])
def test_what_has_no_rounds_is_refused(tune):
    with pytest.raises(InvalidParameterError, match="'rounds' is for boosters"):
        fitted(tune=tune)


def test_all_learners_refer_to_the_same_row_numbers():
    learners = [(name, BOOSTER) for name in ("one", "other")]
    tune = {"one": "rounds", "other": "rounds"}
    stack = StackingRegressor(learners, cv=4, tune=tune, random_state=0).fit(X, Y)
    predictions = stack.deals_[0].top.table.predictions
    for (name, node, point), (rows, _) in predictions.items():
        if name == "one":
            assert rows is predictions["other", node, point][0]
