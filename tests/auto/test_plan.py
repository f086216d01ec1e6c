import gc
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_info, threadpool_limits

from foldwise.auto.plan import (
    FILE,
    TRIAL_ROWS,
    FitPlan,
    combining_time,
    fits_of,
    plan_for,
    planned,
    trial,
    tried,
    with_quick,
)
from foldwise.folds import deal, needs_of, read_lattice
from foldwise.learners import TrainingData


class Clock:
    """Each look at it costs a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.mark.parametrize("ring", [False, True])
@pytest.mark.parametrize("folds", [3, 5, 8])
def test_the_work_of_a_member_is_that_of_its_nodes(folds: int, ring: bool) -> None:
    n_rows = folds * 20
    lattice, plan = deal(folds, n_rows, seed=0), FitPlan((), folds, {}, ring=ring)
    nodes = needs_of(read_lattice(lattice, partners=plan.partners), lattice, 1)[0].rows
    rows = sum(len(lattice.rows(node)) for node in nodes)
    assert rows / n_rows == pytest.approx(fits_of(folds, ring))


def test_trials_end_at_their_limit_but_one_is_always_made() -> None:
    data = TrainingData(np.zeros((20, 1)), np.arange(20.0))
    learners = {name: DummyRegressor() for name in "abcd"}
    powers = dict.fromkeys("abcd", 1.0)
    one = tried(learners, powers, data, limit=0.0, seed=0, clock=Clock())
    assert list(one) == ["a"]
    all_four = tried(learners, powers, data, limit=99.0, seed=0, clock=Clock())
    assert list(all_four) == list("abcd")


def test_times_grow_with_their_power_of_the_rows() -> None:
    n_rows = 3 * TRIAL_ROWS
    data = TrainingData(np.zeros((n_rows, 1)), np.arange(float(n_rows)))
    learners = {"linear": DummyRegressor(), "cubic": DummyRegressor()}
    powers = {"linear": 1.0, "cubic": 3.0}
    trials = tried(learners, powers, data, limit=99.0, seed=0, clock=Clock())
    linear, cubic = trials["linear"].seconds(n_rows), trials["cubic"].seconds(n_rows)
    assert cubic == pytest.approx(9 * linear)


def test_most_of_a_lone_small_trial_is_likely_not_due_to_its_rows() -> None:
    n_rows = 3 * TRIAL_ROWS
    data = TrainingData(np.zeros((n_rows, 1)), np.arange(float(n_rows)))
    learners, powers = {"first": DummyRegressor()}, {"first": 1.0}
    trials = tried(learners, powers, data, limit=0.0, seed=0, small=False, clock=Clock())["first"]
    assert trials.likely(n_rows) == pytest.approx(1 + 0.25 * (trials.seconds(n_rows) - 1))


def test_a_trial_meets_every_class_however_rare() -> None:
    y = np.zeros(5 * TRIAL_ROWS, dtype=int)
    y[-1], y[7] = 1, 2
    data = TrainingData(np.zeros((len(y), 1)), y, n_classes=3)
    seen = []

    class Watching(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            seen.append(set(y))
            return super().fit(X, y, sample_weight)

    tried({"a": Watching()}, {"a": 1.0}, data, limit=9.0, seed=0)
    assert seen == [{0, 1, 2}]


def test_a_member_that_fails_has_no_time() -> None:
    data = TrainingData(np.full((20, 1), np.nan), np.arange(20.0))
    learners = {"bad": Ridge(), "good": DummyRegressor()}
    seconds = tried(learners, {"bad": 1.0, "good": 1.0}, data, limit=9.0, seed=0)
    assert list(seconds) == ["good"]


def test_everything_is_kept_with_all_folds_when_there_is_time() -> None:
    plan = plan_for("abc", dict.fromkeys("abc", 0.01), budget=60, workers=1, folds=(8, 5))
    assert plan.names == ("a", "b", "c")
    assert plan.folds == 8
    assert plan.skipped == {}


def test_folds_are_given_up_before_most_of_the_members() -> None:
    seconds = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 50.0}
    plan = plan_for("abcd", seconds, budget=20, workers=1, folds=(8, 5, 3))
    assert plan.folds == 3
    assert plan.names == ("a", "b", "c")
    assert plan.skipped == {"d": "time budget: too slow for 3 folds"}


def test_a_single_split_is_the_last_resort_and_one_member_always_stays() -> None:
    seconds = {"slow": 100.0, "slower": 200.0}
    plan = plan_for(["slower", "slow"], seconds, budget=1, workers=1, folds=(5, 3))
    assert plan.folds == 1
    assert plan.names == ("slow",)
    assert plan.skipped == {"slower": "time budget"}


def test_workers_multiply_the_time() -> None:
    seconds = {"a": 1.0, "b": 1.0}
    one = plan_for("ab", seconds, budget=13, workers=1, folds=(8,))
    eight = plan_for("ab", seconds, budget=13, workers=8, folds=(8,))
    assert (one.folds, eight.folds) == (1, 8)


def test_what_perhaps_fits_comes_after_what_fits() -> None:
    seconds = {"a": 0.9, "b": 0.8, "c": 0.1, "d": 9.0}
    plan = plan_for("abcd", seconds, budget=12, workers=1, folds=(5,))
    assert plan.names == ("a", "c", "b")
    assert list(plan.skipped) == ["d"]


def test_members_that_were_not_tried_are_kept_but_buy_no_folds() -> None:
    plan = plan_for("abcd", {"a": 0.01, "b": 0.01}, budget=60, workers=1, folds=(8, 5))
    assert plan.names == ("a", "b", "c", "d")
    assert plan.folds == 5


def test_a_trial_that_was_not_made_does_not_cost_all_folds() -> None:
    plan = plan_for("abcdefgh", {"a": 0.1, "b": 0.2}, budget=60, workers=1, folds=(8, 5))
    assert plan.names == tuple("abcdefgh")
    assert plan.folds == 5
    slow = plan_for("abcdefgh", {"a": 0.1, "b": 20.0}, budget=60, workers=1, folds=(8, 5))
    assert slow.folds == 1


FIRST = FitPlan(("a", "b"), 5, {"c": "time budget"})
OTHER = FitPlan(("a",), 3, {})


def test_a_plan_is_made_once_for_the_same_problem(tmp_path) -> None:
    assert planned(tmp_path / "run", "key", lambda: FIRST) == FIRST
    assert planned(tmp_path / "run", "key", lambda: OTHER) == FIRST


def test_another_problem_has_another_plan(tmp_path) -> None:
    planned(tmp_path, "key", lambda: FIRST)
    assert planned(tmp_path, "other", lambda: OTHER) == OTHER


def test_a_damaged_note_is_made_again(tmp_path) -> None:
    (tmp_path / FILE).write_text('{"key": "key"')
    assert planned(tmp_path, "key", lambda: OTHER) == OTHER
    (tmp_path / FILE).write_text('{"key": "key", "names": 3}')
    assert planned(tmp_path, "key", lambda: FIRST) == FIRST


def test_a_folder_that_cannot_be_written_to_is_left_to_those_who_store_fits(tmp_path) -> None:
    (tmp_path / "file").touch()
    plan = FitPlan(("ridge",), 5, {})
    assert planned(tmp_path / "file" / "run", "key", lambda: plan) == plan


QUICK = FitPlan(("a", "b", "c"), 5, {})


def test_without_workers_only_what_is_quick_is_done() -> None:
    plan = with_quick(QUICK, {"a": 0.05, "b": 2.0}, budget=5, workers=0, small=False)
    assert plan.names == plan.here == ("a",)
    assert set(plan.skipped) == {"b", "c"}


def test_what_was_not_tried_is_quick_only_in_a_small_table() -> None:
    quick = [
        with_quick(QUICK, {"a": 0.05}, budget=5, workers=0, small=small).here
        for small in (True, False)
    ]
    assert quick == [("a", "b", "c"), ("a",)]


def test_one_worker_is_not_started_if_all_is_quick() -> None:
    seconds = dict.fromkeys("abc", 0.5)
    assert with_quick(QUICK, seconds, budget=60, workers=1, small=False).here == QUICK.names
    assert with_quick(QUICK, seconds, budget=60, workers=2, small=False).here == ()


def test_a_first_model_takes_little_of_a_long_time() -> None:
    # One second, while the other processor waits: ten fits of each.
    seconds = {"a": 0.03, "b": 0.06, "c": 50.0}
    plan = with_quick(QUICK, seconds, budget=600, workers=2, small=False)
    assert plan.here == ("a", "b")
    assert plan.names == QUICK.names
    plan = with_quick(QUICK, seconds | {"b": 0.08}, budget=600, workers=2, small=False)
    assert plan.here == ("a",)


def test_where_workers_come_what_was_not_tried_waits_for_them() -> None:
    plan = with_quick(QUICK, {"a": 0.05}, budget=20, workers=2, small=True)
    assert plan.here == ("a",)


def test_a_trial_that_a_smaller_one_forbids_is_not_made() -> None:
    data = TrainingData(np.zeros((3000, 1)), np.arange(3000.0))
    sizes = []

    class Counting(DummyRegressor):
        def fit(self, X, y, sample_weight=None):
            sizes.append(len(X))
            return super().fit(X, y, sample_weight)

    arguments = ({"a": Counting()}, {"a": 1.0}, data)
    tried(*arguments, limit=2.0, seed=0, small=False, clock=Clock())
    assert set(sizes) == {60}
    tried(*arguments, limit=99.0, seed=0, small=False, clock=Clock())
    assert set(sizes) == {60, 240, 1000}


def test_a_trial_is_made_in_one_thread_and_no_garbage_is_collected() -> None:
    """Threads of BLAS and a collection took forty times the time of a small fit."""
    seen = []

    class Looking(DummyRegressor):
        def fit(self, X, y, sample_weight=None):
            X @ X.T
            seen.append((gc.isenabled(), {lib["num_threads"] for lib in threadpool_info()}))
            return super().fit(X, y, sample_weight)

    data = TrainingData(np.zeros((300, 1)), np.arange(300.0))
    with threadpool_limits(2):
        assert trial(Looking(), data, np.arange(300), 0)
    assert seen == [(False, {1})]
    assert gc.isenabled()
    gc.disable()
    try:
        trial(Looking(), data, np.arange(300), 0)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_trials_in_several_threads_leave_warnings_and_garbage_collection_as_they_were() -> None:
    both = threading.Barrier(2)
    # The first to begin is the first to end.
    turns = [threading.Event(), threading.Event()]

    class Waiting(DummyRegressor):
        def __init__(self, turn=0):
            super().__init__()
            self.turn = turn

        def fit(self, X, y, sample_weight=None):
            both.wait(60)
            turns[self.turn].wait(60)
            return super().fit(X, y, sample_weight)

    before = list(warnings.filters)
    data, rows = TrainingData(np.zeros((300, 1)), np.arange(300.0)), np.arange(300)
    with ThreadPoolExecutor(2) as pool:
        tries = [pool.submit(trial, Waiting(turn), data, rows, 0) for turn in (0, 1)]
        for turn, done in zip(turns, tries, strict=True):
            turn.set()
            assert done.result()
    assert warnings.filters == before
    assert gc.isenabled()


def test_classes_rows_and_folds_make_combining_long() -> None:
    assert combining_time(1000, None, 5, 10) == pytest.approx(0.08)
    assert combining_time(1000, None, 10, 10) == pytest.approx(0.32)
    assert combining_time(20_000, 20, 5, 10) == pytest.approx(30.4)
    assert combining_time(20_000, 20, 1, 10) == pytest.approx(6.08)


def test_a_modest_table_is_worth_folds_if_one_learner_is_sure() -> None:
    def folds(seconds: float, *, modest: bool) -> int:
        names = [str(i) for i in range(9)]
        how = {"budget": 15.0, "workers": 2, "folds": (8, 5, 4), "modest": modest}
        return plan_for(names, {"0": seconds}, **how).folds

    assert folds(1.2, modest=False) == 1
    assert folds(1.2, modest=True) == 4
    assert folds(9.0, modest=True) == 1


def test_all_of_a_plan_is_remembered(tmp_path) -> None:
    plan = FitPlan(("a",), 8, {}, ("a",), {"a": (77, 1.5), "b": (None, 2.5)}, 400)
    planned(tmp_path, "key", lambda: plan)
    assert planned(tmp_path, "key", lambda: FitPlan(("b",), 3, {})) == plan


def test_a_learner_alone_may_take_half_the_time_and_as_many_folds_as_there_is_time_for() -> None:
    plan = FitPlan(("a", "b"), 1, {})
    seconds = {"a": 1.0, "b": 9.0}
    known = {"workers": 0, "small": False, "folds": (8, 5, 3)}
    assert with_quick(plan, seconds, budget=1.5, **known).here == ()
    assert with_quick(plan, seconds, budget=1.7, **known) == FitPlan(
        ("a",), 1, {"b": "time budget: too slow without workers"}, ("a",)
    )
    assert with_quick(plan, seconds, budget=12.5, **known).folds == 3
    dear = with_quick(plan, seconds, budget=12.5, combining=lambda n: n, **known)
    assert dear.folds == 1
    assert with_quick(plan, seconds, budget=31, **known).folds == 5


def test_a_booster_whose_rounds_were_counted_for_one_split_is_fitted_here_first() -> None:
    seconds = {"a": 0.1, "b": 10.0, "c": 10.0}
    plan = replace(QUICK, folds=1, bounds={"b": (120, 15.0), "c": (120, 15.0)})
    assert with_quick(plan, seconds, budget=25, workers=2, small=False).here == ("b",)
    assert with_quick(plan, seconds, budget=60, workers=1, small=False).here == ("b",)
    # Only a bound on its seconds says nothing of how long it takes.
    ended = replace(plan, bounds={"b": (None, 15.0)})
    assert with_quick(ended, seconds, budget=25, workers=2, small=False).here == ("a",)
    # Two workers would be idle for half of a minute.
    assert with_quick(plan, seconds, budget=60, workers=2, small=False).here == ("a",)
    alone = with_quick(plan, seconds, budget=25, workers=0, small=False, folds=(5, 3))
    assert (alone.here, alone.folds) == (("a", "b", "c"), 1)
    several = with_quick(replace(plan, folds=3), seconds, budget=25, workers=2, small=False)
    assert several.here == ("a",)
    # Without any it is done here, however many folds there are: it ends by the clock.
    known = {"workers": 0, "small": False}
    assert with_quick(replace(plan, folds=3), seconds, budget=40, **known).here == ("a", "b")


def test_no_number_of_workers_makes_a_single_fit_shorter():
    seconds = {"a": 0.1, "b": 0.1} | dict.fromkeys("cdefgh", 100.0)
    plan = plan_for("abcdefgh", seconds, budget=30, workers=16, folds=(5, 4))
    assert (plan.names, plan.folds) == (("a", "b"), 5)
    # Where a single split has time for more, it is made.
    seconds |= dict.fromkeys("cdefgh", 25.0)
    plan = plan_for("abcdefgh", seconds, budget=30, workers=2, folds=(5, 4))
    assert plan.folds == 1
