from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from foldwise.engine.costs import Task
from foldwise.engine.run import Run
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
