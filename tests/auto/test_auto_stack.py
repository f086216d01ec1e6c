"""Both unattended stacks, from tables to predictions."""

import pickle
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.svm import SVR

from foldwise import AutoStackClassifier, AutoStackRegressor, StackingRegressor
from foldwise.auto import base, bounded
from foldwise.auto.base import fit_problem
from foldwise.auto.plan import FitPlan, Trials
from foldwise.auto.portfolio import Contender
from foldwise.auto.portfolio.smooth import ridge
from foldwise.auto.presets import PRESETS
from foldwise.auto.tables import read_table
from foldwise.auto.tables.problem import table_problem
from foldwise.errors import (
    AllLearnersFailedError,
    FoldwiseWarning,
    InvalidDataError,
    InvalidParameterError,
    NoScoreWarning,
)
from foldwise.files import load, save


class Slow(RegressorMixin, BaseEstimator):
    """Takes a minute."""

    def fit(self, X, y, sample_weight=None):
        time.sleep(60)
        return self

    def predict(self, X):
        return np.zeros(len(X))


def taking(seconds: float) -> Trials:
    """Return the trials of a member that takes as long for any rows."""
    return Trials(((1, seconds),), power=0.0)


def houses(n_rows: int = 260, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table of every kind of column, and prices that need most of them."""
    rng = np.random.default_rng(seed)
    size = rng.normal(100, 30, n_rows).clip(20)
    town = rng.choice(["Bonn", "Rome", "Oslo"], n_rows)
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n_rows), unit="D")
    worth = pd.Series(town).map({"Bonn": 0.0, "Rome": 0.4, "Oslo": 0.8}).to_numpy()
    price = np.exp(0.01 * size + worth + rng.normal(0, 0.15, n_rows))
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(n_rows) < 0.1, np.nan, size),
            "town": pd.Series(town).where(rng.random(n_rows) > 0.05),
            "garden": rng.random(n_rows) < 0.5,
            "sold": day,
            "always": 1,
        }
    )
    return frame, price


@pytest.fixture(scope="module", autouse=True)
def small() -> Iterator[None]:
    """Make the fast preset faster: all its members, with few trees in fewer folds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PRESETS, "fast", replace(PRESETS["fast"], folds=3, size=0.05))
        patch.setattr("foldwise.stack.parameters.MOST_REPEATS", 1)
        yield


@pytest.fixture(scope="module")
def regressor() -> AutoStackRegressor:
    X, y = houses()
    return AutoStackRegressor("fast", random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def classifier() -> AutoStackClassifier:
    X, y = houses()
    names = np.array(["cheap", "dear", "middle"])
    return AutoStackClassifier("fast", random_state=0).fit(X, names[np.digitize(y, [2.5, 5])])


def test_a_mixed_table_is_predicted_much_better_than_by_the_mean(regressor) -> None:
    X, y = houses(400, seed=1)
    error = root_mean_squared_error(y, regressor.predict(X))
    assert error < 0.5 * y.std()


def test_the_honest_score_is_near_the_loss_on_new_rows(regressor) -> None:
    X, y = houses(4000, seed=1)
    error = root_mean_squared_error(y, regressor.predict(X))
    assert abs(-regressor.score_ - error) < 4 * regressor.score_se_


def test_classes_keep_their_names_and_probabilities_sum_to_one(classifier) -> None:
    X, y = houses(400, seed=1)
    truth = np.array(["cheap", "dear", "middle"])[np.digitize(y, [2.5, 5])]
    given = classifier.predict_proba(X)
    assert list(classifier.classes_) == ["cheap", "dear", "middle"]
    np.testing.assert_allclose(given.sum(axis=1), 1.0)
    assert log_loss(truth, given) < 0.75
    assert (classifier.predict(X) == classifier.classes_[given.argmax(axis=1)]).all()
    assert classifier.predict_set(X, 0.9).shape == (400, 3)


def test_unseen_levels_and_missing_cells_of_new_rows_are_predicted(regressor) -> None:
    X, _ = houses(6, seed=2)
    X["town"] = ["Lima", None, "Bonn", "Rome", "Oslo", "Lima"]
    X.loc[0, "size"] = np.nan
    assert np.isfinite(regressor.predict(X)).all()


def test_what_is_read_from_the_stack_is_the_stacks(regressor) -> None:
    stack = regressor.stack_
    assert regressor.score_ == stack.score_
    assert regressor.leaderboard_ is stack.leaderboard_
    assert regressor.oof_ is stack.oof_
    assert set(regressor.members_) == set(stack.oof_.columns)
    new = houses(5, seed=3)[0]
    lower, upper = regressor.predict_interval(new, 0.8)
    assert (lower < upper).all()


def test_intervals_and_sets_hold_each_level_of_a_column(regressor, classifier) -> None:
    new, own = houses(40, seed=3)[0], houses()[0]
    found = regressor.predict_interval(new, 0.8, by="town")
    labels = (own["town"], new["town"])
    np.testing.assert_array_equal(found, regressor.predict_interval(new, 0.8, by=labels))
    assert not np.array_equal(found, regressor.predict_interval(new, 0.8))
    assert regressor.predict_interval(new, 0.8, adaptive=False)[0].shape == (40,)
    assert classifier.predict_set(new, 0.8, by="garden").shape == (40, 3)


def test_kinds_of_columns_are_found_and_told(regressor) -> None:
    kinds = {column.name: column.kind for column in regressor.kinds_}
    assert kinds == {
        "size": "number",
        "town": "category",
        "garden": "boolean",
        "sold": "date",
        "always": "constant",
    }


def test_polars_and_pandas_give_the_same_predictions(regressor) -> None:
    X, y = houses()
    other = AutoStackRegressor("fast", random_state=0).fit(pl.from_pandas(X), y)
    np.testing.assert_allclose(
        other.predict(pl.from_pandas(X[:20])), regressor.predict(X[:20]), rtol=1e-9
    )


def test_one_seed_gives_one_model_and_pickling_keeps_it(regressor) -> None:
    X, y = houses()
    again = clone(regressor).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), regressor.predict(X))
    thawed = pickle.loads(pickle.dumps(regressor))
    np.testing.assert_array_equal(thawed.predict(X), regressor.predict(X))


def test_a_skewed_positive_target_is_also_learnt_in_logarithms() -> None:
    X, y = houses(120)
    model = AutoStackRegressor("balanced", random_state=0)
    names = [name for name, _ in _planned(model, X, y**2)]
    assert "ridge_spline_log" in names
    assert "ridge_spline_log" not in [name for name, _ in _planned(model, X, np.log(y))]


def test_learners_that_take_no_weights_are_left_out_when_rows_have_weights() -> None:
    X, y = houses(3000)
    model = AutoStackRegressor("balanced", random_state=0)
    assert "neighbours" in dict(_planned(model, X, y))
    assert "neighbours" not in dict(_planned(model, X, y, np.ones(3000)))


def _planned(model, X, y, weight=None):
    """Return the learners a fit would try, without fitting them."""

    class StopError(Exception):
        pass

    def stop(**parameters):
        model.tried = parameters["estimators"]
        raise StopError

    model._stack_class = stop
    tried = []
    try:
        model._fit(X, y, weight, None, None, 0.0)
    except StopError:
        tried = model.tried
    return tried


def test_what_rows_of_weight_zero_hold_is_not_looked_at() -> None:
    X, y = houses(80)
    places = np.sort(np.random.default_rng(0).permutation(100)[:80])
    more = X.reindex(range(100)).astype(object)
    more[:] = "rubbish"
    more.iloc[places] = X
    target, weight = np.full(100, np.nan), np.zeros(100)
    target[places], weight[places] = y, 2.0
    one, two = (
        AutoStackRegressor("fast", time_column="sold", random_state=0).fit(*rows)
        for rows in ((X, y, np.full(80, 2.0)), (more, target, weight))
    )
    assert [column.kind for column in one.kinds_] == [column.kind for column in two.kinds_]
    assert one.score_ == two.score_
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    np.testing.assert_array_equal(two.oof_.iloc[places], one.oof_)
    assert two.oof_.drop(places).isna().all(axis=None)
    assert two.frontier(more)["names"].tolist() == one.frontier(X)["names"].tolist()


def test_rows_of_next_to_no_weight_count_for_nothing() -> None:
    X, y = houses(240)
    wrong = np.arange(240) % 2 == 0
    spoilt = np.where(wrong, 30.0 * y, y)
    fit = AutoStackRegressor("fast", random_state=0).fit
    weighted = fit(X, spoilt, sample_weight=np.where(wrong, 1e-6, 1.0))
    X_new, y_new = houses(1000, seed=5)
    error = root_mean_squared_error(y_new, weighted.predict(X_new))
    assert error < 0.6 * y_new.std()
    # The score is weighted too: it does not see the wrong rows.
    assert -weighted.score_ < y_new.std()


@pytest.mark.parametrize("ordered", [False, True])
def test_of_many_rows_a_fold_is_judged_by_its_neighbours_but_not_in_time(
    ordered, monkeypatch
) -> None:
    monkeypatch.setattr(base, "RING_ROWS", 60)
    monkeypatch.setitem(PRESETS, "fast", replace(PRESETS["fast"], folds=4))
    X = pd.DataFrame({"t": np.arange(80.0), "a": np.sin(np.arange(80))})
    model = AutoStackRegressor("fast", time_column="t" if ordered else None, random_state=0)
    (dealt,) = model.fit(X, X["a"] + X["t"]).stack_.deals_
    assert dealt.reading.partners == (None if ordered else 2)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_of_many_rows_only_two_classes_are_judged_so(n_classes, monkeypatch) -> None:
    monkeypatch.setattr(base, "RING_ROWS", 60)
    monkeypatch.setitem(PRESETS, "fast", replace(PRESETS["fast"], folds=4))
    X = pd.DataFrame({"a": np.sin(np.arange(80)), "b": np.cos(np.arange(80))})
    model = AutoStackClassifier("fast", random_state=0).fit(X, np.arange(80) % n_classes)
    (dealt,) = model.stack_.deals_
    assert dealt.reading.partners == (2 if n_classes == 2 else None)


def test_groups_stay_in_one_fold() -> None:
    X, y = houses(90)
    groups = np.repeat(np.arange(15), 6)
    model = AutoStackRegressor("fast", random_state=0).fit(X, y, groups=groups)
    fold = model.stack_.deals_[0].lattice.fold_of
    assert all(len(set(fold[groups == group])) == 1 for group in range(15))


def test_with_a_time_column_every_row_is_judged_by_earlier_rows() -> None:
    X, y = houses(120)
    model = AutoStackRegressor("fast", time_column="sold", random_state=0).fit(X, y)
    assert model.stack_.deals_[0].lattice.kind == "forward"
    order = np.argsort(X["sold"].to_numpy(), kind="stable")
    lattice = model.stack_.deals_[0].lattice
    times = X["sold"].to_numpy()[order]
    for train, test in zip(lattice.trains, lattice.tests, strict=True):
        assert times[train].max() < times[test].min()
    # Rows before the first split are never predicted, and the others stand where they stood.
    first = order[: lattice.tests[0][0]]
    assert model.oof_.iloc[first].isna().all(axis=None)
    assert model.oof_.notna().all(axis=1).sum() == 120 - len(first)
    assert list(model.oof_.index) == list(X.index)
    with pytest.warns(FoldwiseWarning, match="no guarantee forward in time"):
        found = model.predict_interval(X, 0.5, by="garden")
    assert np.isfinite(found).all()
    with pytest.warns(FoldwiseWarning, match="no guarantee forward in time"):
        same = model.predict_interval(X, 0.5, by=(X["garden"], X["garden"]))
    np.testing.assert_array_equal(found, same)


def test_the_score_of_a_panel_is_that_of_days_nobody_has_seen() -> None:
    random = np.random.default_rng(0)
    day = np.arange(40).repeat(30)
    weather = np.sin(1.7 * np.arange(40))
    noise = random.normal(size=40)[day]
    X = pd.DataFrame({"day": day, "weather": weather[day], "own": random.normal(size=len(day))})
    y = X["own"] + X["weather"] + 2.0 * noise + 0.1 * random.normal(size=len(day))
    early = day < 10
    model = AutoStackRegressor("fast", time_column="day", random_state=0).fit(X[early], y[early])
    later = root_mean_squared_error(y[~early], model.predict(X[~early]))
    assert -model.score_ > 0.8 * later


def test_an_interpretable_fit_is_one_readable_model_that_names_its_columns() -> None:
    X, y = houses(200)
    model = AutoStackRegressor("fast", interpretable=True, random_state=0).fit(X, y)
    assert set(model.members_) == {"linear", "rules"}
    np.testing.assert_allclose(model.predict(X), model.model_.predict(X))

    rules = model.stack_.named_estimators_["rules"].named_steps["learner"].rules_
    text = " ".join(rules["rule"])
    assert "size" in text
    assert "town" in text


def test_a_budget_leaves_out_what_is_too_slow_and_says_so(monkeypatch) -> None:
    X, y = houses(120)

    def slow(learners, *_, **__):
        return {name: taking(0.001 if name == "ridge" else 1e6) for name in learners}

    monkeypatch.setattr(bounded, "tried", slow)
    model = AutoStackRegressor("fast", time_budget=30, random_state=0).fit(X, y)
    assert model.members_ == ["ridge"]
    assert set(model.skipped_) == {"linear", "boosted_random", "ridge_spline"}


def test_a_package_that_cannot_be_imported_is_left_out_and_told(monkeypatch) -> None:
    def broken(_settings):
        raise ImportError("no libomp")

    members = (
        Contender("ridge", "onehot", ridge),
        Contender("x", "onehot", broken, package="numpy"),
    )
    monkeypatch.setattr(base, "portfolio", lambda *_, **__: members)
    X, y = houses(40)
    model = AutoStackRegressor("fast", random_state=0).fit(X, y)
    assert model.members_ == ["ridge"]
    assert model.skipped_ == {"x": "numpy cannot be imported: no libomp"}


class Warns(RegressorMixin, BaseEstimator):
    """Has something to say that nobody can do anything about."""

    def fit(self, X, y, sample_weight=None):
        warnings.warn("the loss has not converged", UserWarning, stacklevel=1)
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_what_members_warn_of_is_not_shown_and_what_is_said_of_the_fit_is(monkeypatch) -> None:
    members = (Contender("warns", "ordinal", lambda _: Warns()),)
    monkeypatch.setattr(base, "portfolio", lambda *_, **__: members)
    X, y = houses(40)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        AutoStackRegressor("fast", random_state=0).fit(X, y)
        assert shown == []
        AutoStackRegressor("fast", random_state=0).fit(X.iloc[:2], y[:2])
    assert {w.category for w in shown} == {NoScoreWarning}
    with pytest.warns(UserWarning, match="not converged"):
        StackingRegressor([("warns", Warns())], cv=3).fit(X[["size"]], y)


def test_what_is_a_sum_of_columns_is_found_to_be() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(np.exp(rng.normal(0, 2, (90, 4))), columns=["a", "b", "c", "d"])
    y = X["a"] + X["b"] - X["c"]
    model = AutoStackRegressor("fast", random_state=0).fit(X[:60], y[:60])
    assert root_mean_squared_error(y[60:], model.predict(X[60:])) < 1e-4 * y.std()


@pytest.mark.filterwarnings("ignore::foldwise.errors.FoldwiseWarning")
def test_what_takes_seconds_to_load_comes_first_or_last_and_is_not_tried(monkeypatch) -> None:
    def broken(_settings):
        raise ImportError("no libomp")

    members = (
        Contender("late", "onehot", ridge, least_seconds=1.0),
        Contender("early", "onehot", ridge, least_seconds=1.0, early=True),
        Contender("x", "onehot", broken, package="numpy", least_seconds=1.0),
        Contender("ridge", "onehot", ridge),
        Contender("long", "onehot", ridge, least_seconds=99.0),
    )
    seen = []
    monkeypatch.setattr(base, "portfolio", lambda *_, **__: members)
    monkeypatch.setattr(
        bounded,
        "tried",
        lambda learners, *_, **__: seen.extend(learners) or {"ridge": taking(0.01)},
    )
    model = AutoStackRegressor("fast", time_budget=40, random_state=0).fit(*houses(60))
    assert seen == ["ridge"]
    assert model.members_ == ["early", "ridge", "late"]
    assert list(model.skipped_) == ["x"]


@pytest.mark.filterwarnings("ignore::foldwise.errors.FoldwiseWarning")
def test_a_budget_is_kept() -> None:
    X, y = houses(200)
    start = time.perf_counter()
    # Without a budget minutes, on any machine.
    AutoStackRegressor("best", time_budget=3, random_state=0).fit(X, y)
    assert time.perf_counter() - start < 40


@pytest.mark.filterwarnings("ignore::foldwise.errors.FoldwiseWarning")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_short_budget_ends_in_a_model_whatever_the_jobs(n_jobs) -> None:
    X, y = houses(200)
    start = time.perf_counter()
    model = AutoStackRegressor("best", time_budget=3, n_jobs=n_jobs, random_state=0).fit(X, y)
    assert time.perf_counter() - start < 40
    assert "ridge" in model.members_
    assert np.isfinite(model.score_)


def test_where_no_learner_is_quick_enough_the_model_is_a_constant_and_says_so(
    monkeypatch, tmp_path
) -> None:
    monkeypatch.setattr(base, "is_small", lambda *_, **__: False)
    monkeypatch.setattr(
        bounded, "tried", lambda learners, *_, **__: dict.fromkeys(learners, taking(9.0))
    )
    monkeypatch.setattr(bounded, "speed_of", lambda *_: None)
    X, y = houses(120)
    with pytest.warns(FoldwiseWarning, match="the model is a constant, since no learner was"):
        model = AutoStackRegressor("fast", time_budget=2, random_state=0).fit(X, y)
    assert model.members_ == ["constant"]
    # There is nothing to choose for one learner, and no time for it.
    assert model.stack_.final_estimator == "mean"
    assert set(model.skipped_) == {"ridge", "linear", "boosted_random", "ridge_spline"}
    assert model.partial_
    np.testing.assert_allclose(model.predict(X), y.mean(), rtol=0.2)
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(X), model.predict(X))


@pytest.mark.filterwarnings("ignore::foldwise.errors.FoldwiseWarning")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_may_be_slow_runs_where_it_can_be_ended_and_the_first_model_stays(
    n_jobs, monkeypatch
) -> None:
    members = (Contender("ridge", "onehot", ridge), Contender("slow", "onehot", lambda _: Slow()))
    monkeypatch.setattr(base, "portfolio", lambda *_, **__: members)
    monkeypatch.setattr(base, "is_small", lambda *_, **__: False)
    monkeypatch.setattr(base, "SHORT_SECONDS", 1.0)
    monkeypatch.setattr(bounded, "tried", lambda *_, **__: {"ridge": taking(0.001)})
    monkeypatch.setitem(PRESETS, "fast", replace(PRESETS["fast"], folds_in_time=(3,)))
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = X[:, 0]
    start = time.perf_counter()
    model = AutoStackRegressor("fast", time_budget=4, n_jobs=n_jobs, random_state=0).fit(X, y)
    assert time.perf_counter() - start < 40
    assert model.members_ == ["ridge"]
    assert model.partial_
    assert {**model.skipped_, **model.failures_}["slow"].startswith("time budget")


def test_an_error_that_is_not_for_want_of_time_is_raised(monkeypatch) -> None:
    members = (Contender("bad", "onehot", lambda _: SVR(C=-1.0)),)
    monkeypatch.setattr(base, "portfolio", lambda *_, **__: members)
    X, y = houses(60)
    with pytest.raises(AllLearnersFailedError, match="all failed"):
        AutoStackRegressor(time_budget=20, random_state=0).fit(X, y)


def test_a_larger_budget_in_the_same_run_folder_is_a_new_plan(monkeypatch, tmp_path) -> None:
    def costs(learners, *_, **__):
        return {name: taking(0.001 if name == "ridge" else 2.0) for name in learners}

    monkeypatch.setattr(bounded, "tried", costs)
    X, y = houses(60)
    small = AutoStackRegressor("fast", time_budget=5, run_dir=tmp_path).fit(X, y)
    assert small.members_ == ["ridge"]
    assert "ridge" not in small.skipped_
    larger = AutoStackRegressor("fast", time_budget=500, run_dir=tmp_path).fit(X, y)
    assert set(larger.members_) > {"ridge"}


def test_a_run_folder_lets_a_second_fit_begin_where_the_first_ended(tmp_path) -> None:
    X, y = houses(120)
    first = AutoStackRegressor("fast", run_dir=tmp_path / "run").fit(X, y)
    second = AutoStackRegressor("fast", run_dir=tmp_path / "run").fit(X, y)
    assert second.run_.reused == first.n_fits_
    np.testing.assert_array_equal(first.predict(X), second.predict(X))


def test_changing_y_of_a_fold_changes_nothing_that_predicts_the_fold() -> None:
    X, y = houses(150)
    model = AutoStackRegressor("fast", random_state=0).fit(X, y)
    fold = model.stack_.deals_[0].lattice.fold_of
    other = y.copy()
    other[fold == 2] = other[fold == 2][::-1] * 1.3
    moved = clone(model).fit(X, other)
    assert (moved.stack_.deals_[0].lattice.fold_of == fold).all()
    judged = [deal.verdict for deal in (model.stack_.deals_[0], moved.stack_.deals_[0])]
    rows = np.isin(judged[0].rows, np.flatnonzero(fold == 2))
    np.testing.assert_array_equal(judged[0].response.values[rows], judged[1].response.values[rows])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (
            {"preset": "balance"},
            "AutoStackRegressor: preset must be one of 'fast', 'balanced', 'best'; got 'balance'. "
            "Did you mean 'balanced'?",
        ),
        (
            {"time_budget": -1},
            "AutoStackRegressor: time_budget must be a number of seconds above 0, or None; "
            "got -1. Try 600.",
        ),
        (
            {"metric": "acuracy"},
            "AutoStackRegressor: metric must be None, the name of a metric or a scorer; got "
            "'acuracy'. Use one of 'mae', 'mape', 'medae', 'mse', 'r2', 'rmse'.",
        ),
    ],
)
def test_bad_parameters_are_refused_before_anything_is_fitted(parameters, words) -> None:
    X, y = houses(30)
    model = AutoStackRegressor(**parameters)
    with pytest.raises(InvalidParameterError) as error:
        model.fit(X, y)
    assert str(error.value) == words
    assert not hasattr(model, "stack_")


def test_several_targets_are_refused() -> None:
    X, y = houses(30)
    with pytest.raises(InvalidDataError) as error:
        AutoStackRegressor().fit(X, np.column_stack([y, y]))
    assert str(error.value) == (
        "AutoStackRegressor: y must hold one target; got shape (30, 2). Fit one stack a target."
    )


def test_a_table_of_constants_and_identifiers_is_refused() -> None:
    frame = pd.DataFrame({"same": np.ones(60)})
    with pytest.raises(InvalidDataError) as error:
        AutoStackRegressor().fit(frame, np.arange(60.0))
    assert str(error.value) == (
        "AutoStackRegressor: X must hold a column that is neither constant nor an identifier; "
        "got 'same'. Give columns that say something about the target."
    )


@pytest.mark.parametrize("groups", [None, np.arange(150) // 5])
def test_with_little_time_one_split_is_judged_by_folds_inside_it(groups, monkeypatch) -> None:
    monkeypatch.setattr(
        bounded, "tried", lambda learners, *_, **__: dict.fromkeys(learners, taking(9.0))
    )
    X, y = houses(150)
    model = AutoStackRegressor("fast", time_budget=20, random_state=0).fit(X, y, groups=groups)
    assert model.stack_.cv.get_n_splits(X, y, groups) == 1
    assert np.isfinite(model.score_)
    assert model.oof_.notna().all(axis=1).sum() == 30


def test_new_rows_are_read_as_the_training_file_was(tmp_path) -> None:
    path = tmp_path / "train.csv"
    values = np.arange(40.0) + 0.5
    lines = [f"{value:.1f};{2 * value:.1f}".replace(".", ",") for value in values]
    path.write_text("\n".join(["a;y", *lines]))
    problem = table_problem(read_table(path), "y")
    model = fit_problem(AutoStackRegressor("fast", random_state=0), problem)
    assert model.read_as_["decimal"] == ","
    save(model, tmp_path / "model")
    model = load(tmp_path / "model")
    new = tmp_path / "new.csv"
    new.write_text("a;y\n5.000;3\n")
    with pytest.raises(InvalidDataError) as error:
        model.predict(read_table(new)[["a"]])
    assert str(error.value) == (
        "AutoStackRegressor: X must be read with decimal mark ',', as the training table was; got "
        "'.'. Use read_table(path, like=model.read_as_)."
    )
    assert model.predict(read_table(new, like=model.read_as_)[["a"]]).shape == (1,)


def test_what_cannot_be_fitted_cannot_be_predicted_either(regressor) -> None:
    X, _ = houses(4)
    with pytest.raises(InvalidDataError, match="complex numbers in column 'size'"):
        regressor.predict(X.assign(size=1j))
    with pytest.raises(TypeError, match="a list in column 'town'"):
        regressor.predict(X.assign(town=[[1], [2], [3], [4]]))


def test_where_time_is_short_the_stacker_is_the_cheapest_of_those_that_compete() -> None:
    for model in (AutoStackClassifier(), AutoStackRegressor()):
        several = model._on_top(PRESETS["balanced"])["final_estimator"]
        assert several[0] == "log_score"
        short = replace(PRESETS["balanced"], thorough=False)
        assert model._on_top(short)["final_estimator"] == several[0]


def test_where_time_is_short_rows_are_drawn_and_nothing_is_fitted_twice(monkeypatch) -> None:
    X, y = houses()
    plan = FitPlan(("ridge", "boosted_random"), 1, {}, ("ridge",), n_rows=200)
    monkeypatch.setattr(base.BaseAutoStack, "_plan", lambda *_: plan)
    told = "time_budget=30 suffices for 200 of 260 rows, drawn at random. Fit again with more"
    with pytest.warns(FoldwiseWarning, match=told):
        model = AutoStackRegressor("fast", time_budget=30, random_state=0).fit(X, y)
    assert model.members_ == ["ridge", "boosted_random"]
    assert model.n_fits_ == 2
    assert len(model.drawn_) == len(model.oof_) == 200
    assert set(model.oof_.index) <= set(X.index[model.drawn_])
    labels = (X["town"], X["town"][:9])
    found = model.predict_interval(X[:9], 0.8, by=labels)
    np.testing.assert_array_equal(found, model.predict_interval(X[:9], 0.8, by="town"))
    assert len(model.frontier(X)) >= 1


@pytest.mark.filterwarnings("ignore:X (has|does not have)")
def test_columns_without_names_are_known_by_their_place() -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    y, values = X["a"] - X["b"], X.to_numpy()
    named, plain = (AutoStackRegressor("fast", random_state=0).fit(rows, y) for rows in (X, values))
    np.testing.assert_array_equal(named.predict(values), named.predict(X))
    np.testing.assert_array_equal(plain.predict(X), plain.predict(values))
    with pytest.raises(ValueError, match="names should match"):
        named.predict(X[["b", "a"]])


def test_progress_names_the_estimator_that_was_called(caplog) -> None:
    caplog.set_level("INFO", logger="foldwise")
    X = np.random.default_rng(0).normal(size=(40, 2))
    AutoStackRegressor("fast", random_state=0, verbose=2).fit(X, X[:, 0])
    assert "AutoStackRegressor: " in caplog.text
    assert "StackingRegressor" not in caplog.text
