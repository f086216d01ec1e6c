from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from foldwise.engine import run as run_module
from foldwise.engine.budget import Clock, Costs, Task
from foldwise.engine.events import Event, Stream
from foldwise.engine.executor import TaskLostError
from foldwise.engine.run import Batch, Run
from tests.engine.fake import Fake


def same(_shared: Any, job: Any) -> Any:
    return job


TASKS = [Task("a0", ("a",)), Task("b1", ("b",)), Task("a2", ("a",))]


def blas_threads(_shared: Any, _job: Any) -> set[int]:
    np.ones((2, 2)) @ np.ones((2, 2))
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def collected(run: Run, work: Any, tasks: list[Task]) -> dict[int, Any]:
    found: dict[int, Any] = {}

    def absorb(index: int, result: Any) -> tuple[str, ...]:
        found[index] = result
        return ()

    run.do(work, 10, tasks, absorb)
    return found


def test_a_plain_run_works_in_this_process_with_one_blas_thread() -> None:
    with Run() as run:
        assert collected(run, blas_threads, TASKS[:1]) == {0: {1}}


def test_no_tasks_touch_no_executor() -> None:
    executor = Fake()
    with Run(executor) as run:
        assert collected(run, None, []) == {}
    assert not hasattr(executor, "work")


def test_ctrl_c_is_raised_unless_it_is_to_be_kept() -> None:
    executor = Fake(1)
    executor.endings = {"b1": [KeyboardInterrupt]}
    with pytest.raises(KeyboardInterrupt), Run(executor) as run:
        collected(run, same, TASKS)
    assert executor.closed


def test_ctrl_c_leaves_what_is_finished_and_begins_nothing_more() -> None:
    executor = Fake(1)
    executor.endings = {"b1": [KeyboardInterrupt]}
    with Run(executor, keep=True) as run:
        tasks = [Task("a0", ("a",)), Task("b1", ("b",)), Task("c2", ("c",))]
        assert collected(run, same, tasks) == {0: "a0"}
        assert run.dropped == {"b": "interrupted", "c": "interrupted"}
        assert collected(run, same, [Task("d0", ("d",))]) == {}
    assert executor.begun == ["a0", "b1"]
    assert run.dropped["d"] == "interrupted"


def test_what_absorbing_raises_ends_the_run() -> None:
    executor = Fake(1)

    def absorb(_index: int, _result: Any) -> Any:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"), Run(executor) as run:
        run.do(same, None, TASKS, absorb)
    assert executor.begun == ["a0"]
    assert executor.closed


def test_the_summary_counts_fits_not_tasks() -> None:
    with Run(Fake(1)) as run:
        collected(run, same, [Task("a0", ("a",), fits=15), Task("b1", ("b",), fits=2)])
    summary = run.summary(["c"])
    assert (summary.fits, summary.reused, summary.failed) == (17, 0, ("c",))
    assert not summary.partial
    assert summary.seconds > 0


def run_plan(
    executor: Fake, owners: str, *, fails: Iterable[str] = (), sizes: Any = None, **how: Any
) -> tuple[Run, dict[str, Any]]:
    """Run one task a letter; its owner is the letter, its job the letter with a number."""
    jobs = [f"{owner}{i}" for i, owner in enumerate(owners)]
    sizes = sizes or [1.0] * len(jobs)
    tasks = [Task(job, (job[0],), size=size) for job, size in zip(jobs, sizes, strict=True)]
    results: dict[str, Any] = {}

    def absorb(index: int, result: Any) -> set[str]:
        results[jobs[index]] = result
        bad = isinstance(result, Exception) or jobs[index] in fails
        return {jobs[index][0]} if bad else set()

    with Run(executor, **how) as run:
        run.do(lambda shared, job: (shared, job), "data", tasks, absorb)
    return run, results


def test_every_task_is_done_once_whatever_order_they_end_in() -> None:
    executor = Fake(3)
    run, results = run_plan(executor, "aabbc")
    assert results == {job: ("data", job) for job in ("a0", "a1", "b2", "b3", "c4")}
    assert sorted(executor.begun) == sorted(results)
    assert run.fits == 5
    assert executor.closed


def test_never_more_at_once_than_the_executor_takes() -> None:
    executor = Fake(2)
    run_plan(executor, "abcdefgh")
    assert max(executor.at_once) == 2


def test_each_learner_is_tried_first_and_then_the_longest_are_begun() -> None:
    executor = Fake(2)
    executor.seconds = {"a0": 1.0, "b2": 5.0}
    run_plan(executor, "aabb", sizes=[1, 1, 1, 3])
    assert executor.begun[:2] == ["a0", "b2"]
    assert executor.begun[2:] == ["b3", "a1"]


def test_one_at_a_time_keeps_the_plans_order() -> None:
    executor = Fake(1)
    run_plan(executor, "abab")
    assert executor.begun == ["a0", "b1", "a2", "b3"]


@pytest.mark.parametrize("budget", [None, 60.0])
def test_what_comes_after_others_waits_for_them_and_is_asked_for_then(budget) -> None:
    executor, results = Fake(2), list[str]()
    tasks = [
        Task(lambda: f"a0 after {sorted(results)}", ("a",), after=(1, 2), size=9.0),
        Task("a1", ("a",)),
        Task("a2", ("a",)),
        Task("b3", ("b",)),
    ]

    def absorb(_: int, result: Any) -> set[str]:
        results.append(result)
        return set()

    with Run(executor, Clock(budget)) as run:
        run.do(lambda _, job: job, None, tasks, absorb)
    told = next(job for job in executor.begun if job.startswith("a0"))
    assert "'a1'" in told
    assert "'a2'" in told
    assert len(results) == 4


def test_what_a_failed_learner_had_to_do_is_skipped() -> None:
    executor = Fake(1)
    run_plan(executor, "abab", fails=["a0"])
    assert executor.begun == ["a0", "b1", "b3"]


def test_an_error_of_a_task_is_handed_over() -> None:
    executor = Fake(1)
    executor.endings = {"a0": [ValueError("no")]}
    _, results = run_plan(executor, "ab")
    assert isinstance(results["a0"], ValueError)
    assert results["b1"] == ("data", "b1")


def test_a_lost_task_is_begun_again_alone() -> None:
    executor = Fake(2)
    executor.endings = {"b1": [TaskLostError("worker died")]}
    _, results = run_plan(executor, "ab")
    assert results["b1"] == ("data", "b1")
    assert executor.begun.count("b1") == 2
    assert executor.at_once == [1, 2, 1]
    assert executor.begun.count("a0") == 1


def test_owners_wait_for_what_has_not_begun_and_again_for_what_was_lost() -> None:
    executor = Fake(1)
    executor.endings = {"a0": [TaskLostError("worker died")]}
    with Run(executor) as run:
        executor.place(same, 10, None)
        tasks = [Task("a0", ("a",), size=2.0), Task("b1", ("a", "b"))]
        batch = Batch(run, tasks, lambda *_: ())
        assert batch.waiting == {"a": 3.0, "b": 1.0}
        batch.fill()
        assert batch.waiting == {"a": 1.0, "b": 1.0}
        for finished in executor.wait(None):
            batch.take(finished)
        assert batch.waiting == {"a": 3.0, "b": 1.0}


def test_a_task_that_is_lost_three_times_is_its_learners_failure() -> None:
    executor = Fake(2)
    executor.endings = {"b1": [TaskLostError("worker died")] * 3}
    _, results = run_plan(executor, "abc")
    assert executor.begun.count("b1") == 3
    assert str(results["b1"]) == "worker died; 3 times, at last alone"
    assert results["c2"] == ("data", "c2")


def test_fewer_at_once_when_memory_is_short() -> None:
    executor = Fake(2)
    executor.memory = 100
    run_plan(executor, "aaaaa", free_memory=lambda: 110)
    assert executor.at_once == [1, 2, 1, 1, 1]
    executor = Fake(2)
    executor.memory = 100
    run_plan(executor, "aaaaa", free_memory=lambda: 1000)
    assert executor.at_once == [1, 2, 2, 2, 2]


def test_when_time_is_up_what_is_at_work_is_ended_with_the_reason() -> None:
    executor = Fake(2)
    executor.endings = {"b1": ["hangs"]}
    run, results = run_plan(executor, "abc", clock=Clock(0.3))
    assert set(results) == {"a0", "c2"}
    assert run.dropped == {"b": "time budget: not finished in time"}
    assert executor.ended == {"b1": "time budget: not finished in time"}


def test_a_learner_that_cannot_be_finished_is_left_before_its_time_is_spent() -> None:
    executor = Fake(1)
    executor.seconds = {"a0": 1000.0}
    run, results = run_plan(executor, "aaab", clock=Clock(60.0))
    assert set(results) == {"a0", "b3"}
    assert run.dropped == {"a": "time budget: about 33 min more needed, 60 s left"}


def test_a_learner_is_not_begun_where_half_of_what_it_is_expected_to_take_is_too_long() -> None:
    # Of three tasks of one unit each: 150 s at the least, of 60; and 45 s.
    for expected, left in ((100.0, {"b3"}), (30.0, {"a0", "a1", "a2", "b3"})):
        executor = Fake(1)
        costs = Costs({"a": expected})
        run, results = run_plan(executor, "aaab", clock=Clock(60.0), costs=costs)
        assert set(results) == left
        assert set(run.dropped) == ({"a"} if expected == 100.0 else set())


def test_the_last_learner_is_not_given_up_by_an_estimate() -> None:
    executor = Fake(1)
    executor.seconds = {"a0": 1000.0}
    run, results = run_plan(executor, "aaa", clock=Clock(60.0))
    assert len(results) == 3
    assert run.dropped == {}


def test_a_fit_that_hangs_is_ended_when_others_of_its_kind_were_quick(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_module, "HUNG_SECONDS", 0.1)
    executor = Fake(2)
    executor.seconds = {"a0": 0.001}
    executor.endings = {"a2": ["hangs"]}
    run, results = run_plan(executor, "aba", clock=Clock(60.0))
    assert set(results) == {"a0", "b1"}
    assert run.dropped == {"a": "time budget: hung: 0 s where 0 s was expected"}


def test_learners_are_finished_one_after_the_other_on_a_budget() -> None:
    executor = Fake(2)
    run_plan(executor, "aaabbb", clock=Clock(600.0))
    assert executor.begun == ["a0", "a1", "a2", "b3", "b4", "b5"]


def test_the_last_fit_leaves_no_time_to_go() -> None:
    events: list[Event] = []
    with Run(stream=Stream("Stack", 3, [events.append])) as run:
        collected(run, same, TASKS)
    assert [event.left for event in events if event.done == 3] == [0.0]


def test_events_tell_what_happens_with_counts_and_time_left() -> None:
    events: list[Event] = []
    executor = Fake(1)
    executor.endings = {"b2": [ValueError("no")]}
    run_plan(executor, "aab", stream=Stream("Stack", 3, [events.append]))
    assert [(e.kind, e.what, e.done, e.total) for e in events] == [
        ("fitted", "a", 1, 3),
        ("fitted", "a", 2, 3),
        ("failed", "b", 3, 3),
    ]
    assert events[-1].reason == "no"
    assert events[0].left is not None


def test_the_cost_of_long_work_is_told_once_every_learner_was_tried() -> None:
    events: list[Event] = []
    executor = Fake(1)
    executor.seconds = dict.fromkeys(["a0", "b1", "a2", "b3"], 120.0)
    executor.memory = 600_000_000
    run_plan(executor, "abab", stream=Stream("Stack", 4, [events.append]))
    assert [e.line for e in events if e.kind == "planned"] == ["Stack: 4 fits, about 4 min, 600 MB"]


def test_short_work_has_no_preview() -> None:
    events: list[Event] = []
    run_plan(Fake(1), "abab", stream=Stream("Stack", 4, [events.append]))
    assert "planned" not in {e.kind for e in events}
