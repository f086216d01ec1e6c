"""What every executor must do, tried on each of them."""

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from foldwise.engine.executor import Executor, Finished, InProcess, TaskEndedError, give_back
from foldwise.engine.processes.futures import Futures, Threads
from foldwise.engine.processes.pool import Processes
from foldwise.engine.processes.worker import UnsendableError
from tests.forked import server

LONG = 120.0


def work(shared: Any, job: Any) -> Any:
    match job:
        case "raise":
            raise KeyError("told to")
        case "process":
            return os.getpid()
        case "threads":
            np.ones((2, 2)) @ np.ones((2, 2))
            return {pool["num_threads"] for pool in threadpool_info()}
        case "aligned":
            return shared.ctypes.data % 64, shared.flags.writeable
        case Path():
            until = time.monotonic() + LONG
            while not job.exists() and time.monotonic() < until:
                time.sleep(0.02)
            return "there"
    return float(shared.sum()) + job


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    """Give one pool to all tests: its processes take seconds to come up."""
    with ProcessPoolExecutor(2, mp_context=server()) as made:
        yield made


@pytest.fixture(params=["in process", "threads", "processes", "thread pool", "process pool"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with ExitStack() as stack:
        match request.param:
            case "in process":
                made: Executor = InProcess()
            case "threads":
                made = Threads(2)
            case "processes":
                made = Processes(2)
            case "thread pool":
                made = Futures(stack.enter_context(ThreadPoolExecutor(2)))
            case _:
                made = Futures(request.getfixturevalue("pool"))
        stack.enter_context(threadpool_limits(1, user_api="blas"))
        stack.callback(made.close)
        yield made


def all_of(executor: Executor, n: int) -> dict[int, Finished]:
    found: dict[int, Finished] = {}
    end = time.monotonic() + LONG
    while len(found) < n and time.monotonic() < end:
        found.update({f.ticket: f for f in executor.wait(1.0)})
    return found


def is_elsewhere(executor: Executor) -> bool:
    return bool(getattr(executor, "remote", isinstance(executor, Processes)))


def test_every_task_comes_back_once_under_its_ticket(executor: Executor) -> None:
    executor.place(work, np.ones(4))
    for ticket in range(5):
        executor.submit(ticket, ticket)
    found = all_of(executor, 5)
    assert {t: f.result for t, f in found.items()} == {t: 4.0 + t for t in range(5)}
    assert executor.wait(0.0) == []


def test_errors_come_back_as_they_were_raised(executor: Executor) -> None:
    executor.place(work, np.ones(4))
    executor.submit(3, "raise")
    assert isinstance(all_of(executor, 1)[3].error, KeyError)


def test_a_job_that_cannot_be_sent_is_an_error_of_its_own(executor: Executor) -> None:
    executor.place(lambda _shared, job: len(job), None)
    executor.submit(0, [threading.Lock()])
    executor.submit(1, [7])
    found = all_of(executor, 2)
    assert found[1].result == 1
    if is_elsewhere(executor):
        assert isinstance(found[0].error, UnsendableError)
    else:
        assert found[0].result == 1


def test_what_is_placed_later_takes_the_place_of_what_was(executor: Executor) -> None:
    for size in (1, 2, 3):
        executor.place(work, np.ones(size))
        executor.submit(size, 0)
        assert all_of(executor, 1)[size].result == size


def test_a_task_elsewhere_has_one_thread_of_every_kind(executor: Executor) -> None:
    executor.place(work, np.ones(4))
    executor.submit(0, "threads")
    threads = all_of(executor, 1)[0].result
    if is_elsewhere(executor):
        assert threads == {1}
    else:
        assert 1 in threads


def test_a_task_elsewhere_is_in_another_process(executor: Executor) -> None:
    executor.place(work, np.ones(4))
    executor.submit(0, "process")
    assert (all_of(executor, 1)[0].result != os.getpid()) == is_elsewhere(executor)


def test_data_elsewhere_is_aligned_and_cannot_be_changed(executor: Executor) -> None:
    if not is_elsewhere(executor):
        pytest.skip("the data is the user's own here")
    executor.place(work, np.ones(300_000))
    executor.submit(0, "aligned")
    assert all_of(executor, 1)[0].result == (0, False)


def test_a_cancelled_task_comes_back_with_the_reason(executor: Executor, tmp_path: Path) -> None:
    executor.place(work, np.ones(4))
    executor.submit(0, tmp_path / "there")
    if is_elsewhere(executor):
        time.sleep(0.1)
    executor.cancel(0, "enough")
    (tmp_path / "there").touch()
    finished = all_of(executor, 1)[0]
    assert isinstance(finished.error, TaskEndedError)
    assert str(finished.error) == "enough"
    executor.submit(1, 1)
    assert all_of(executor, 1)[1].result == 5.0


def test_waiting_ends_in_time(executor: Executor, tmp_path: Path) -> None:
    if executor.capacity == 1:
        pytest.skip("here waiting is working")
    executor.place(work, np.ones(4))
    executor.submit(0, 0)
    all_of(executor, 1)
    executor.submit(1, tmp_path / "there")
    start = time.monotonic()
    assert executor.wait(0.1) == []
    assert time.monotonic() - start < LONG
    (tmp_path / "there").touch()
    assert all_of(executor, 1)[1].result == "there"


def test_nothing_is_done_before_it_is_waited_for() -> None:
    seen: list[int] = []
    executor = InProcess()
    executor.place(lambda _shared, job: seen.append(job), None)
    executor.submit(0, 1)
    executor.submit(1, 2)
    assert seen == []
    executor.wait(0.0)
    assert seen == [1]
    assert executor.running() == {}


def test_ctrl_c_goes_through() -> None:
    def work(_shared: object, _job: object) -> None:
        raise KeyboardInterrupt

    executor = InProcess()
    executor.place(work, None)
    executor.submit(0, 1)
    with pytest.raises(KeyboardInterrupt):
        executor.wait(None)


def test_memory_is_given_back_only_where_there_is_a_way(monkeypatch: Any) -> None:
    def no_library_without_a_name(name: str) -> Any:
        return "/" in name  # as on Windows

    monkeypatch.setattr("ctypes.CDLL", no_library_without_a_name)
    give_back()
