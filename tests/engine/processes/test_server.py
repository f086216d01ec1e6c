"""Workers that are forked from a server of their own."""

import ctypes
import os
import sys
import threading
import time
from multiprocessing import Pipe, current_process
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foldwise.engine.executor import TaskEndedError
from foldwise.engine.processes import pool, server
from foldwise.engine.processes.pool import Processes
from tests.engine.processes.test_pool import first, there

if sys.platform != "linux":
    pytest.skip("workers are forked on Linux only", allow_module_level=True)


def work(_shared: Any, job: Any) -> Any:
    match job:
        case "around":
            return [
                os.getppid(), os.environ.get("FOLDWISE_TEST"), os.environ["OMP_NUM_THREADS"],
                str(Path.cwd()), sys.path[-1], sys.argv, bytes(current_process().authkey),
            ]  # fmt: skip
        case "draw":
            return np.random.random()
        case "say":
            os.write(1, b"said")
    return os.getpid()


@pytest.fixture
def executor(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(pool, "_idle", [])
    made = Processes(2)
    made.place(work, None)
    yield made
    made.close()
    pool._end_idle()


def answers(executor: Processes, *jobs: Any) -> list[Any]:
    for ticket, job in enumerate(jobs):
        executor.submit(ticket, job)
    found: dict[int, Any] = {}
    while len(found) < len(jobs):
        found |= {finished.ticket: finished.result for finished in executor.wait(60)}
    return [found[ticket] for ticket in range(len(jobs))]


def adopts() -> int:
    """Return whether this process takes in the orphans of its children."""
    found = ctypes.c_int(-1)
    ctypes.CDLL(None).prctl(server.PR_GET_CHILD_SUBREAPER, ctypes.byref(found))
    return found.value


def test_a_worker_is_a_child_in_the_surroundings_of_now_and_draws_its_own(
    executor: Processes, monkeypatch: Any, tmp_path: Path, capfd: Any
) -> None:
    with capfd.disabled():
        answers(executor, "pid")  # the server was there before all this
    monkeypatch.setenv("FOLDWISE_TEST", "now")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, "/nowhere"])
    # A module that cannot be imported again is nobody's trouble.
    monkeypatch.setitem(sys.modules, "foldwise.no_such_module", sys)
    executor._workers.clear()
    one, other = answers(executor, "around", "around")
    key = bytes(current_process().authkey)
    assert one == other == [os.getpid(), "now", "1", str(tmp_path), "/nowhere", sys.argv, key]
    assert len(set(answers(executor, "draw", "draw"))) == 2
    assert all(isinstance(worker.process, server.Forked) for worker in executor._workers)
    answers(executor, "say")
    assert capfd.readouterr().out == "said"
    assert not adopts()


def test_without_a_server_workers_are_started_and_the_next_is_forked_again(
    executor: Processes, monkeypatch: Any
) -> None:
    gone = pool._server()
    monkeypatch.setattr(gone, "is_alive", lambda: True)
    gone._process.kill()
    (pid,) = answers(executor, "pid")
    (worker,) = executor._workers
    assert worker.process.pid == pid
    assert not isinstance(worker.process, server.Forked)
    monkeypatch.undo()
    assert not gone.is_alive()
    worker.end()
    answers(executor, "pid")
    assert isinstance(executor._workers[0].process, server.Forked)


def test_a_server_leaves_when_it_is_idle_and_when_it_is_nobodys(monkeypatch: Any) -> None:
    monkeypatch.setattr(server, "settle", lambda: None)
    for seconds, parent in ((0.0, os.getppid()), (100.0, 0)):
        monkeypatch.setattr(server, "IDLE_SECONDS", seconds)
        ours, theirs = Pipe()
        server.offer(os.dup(theirs.fileno()), parent)
        ours.close()
        theirs.close()


def test_one_that_is_ended_before_it_is_there_leaves_nothing(executor: Processes) -> None:
    executor.submit(0, "pid")
    (worker,) = executor._workers
    executor.cancel(0, "late")
    assert isinstance(first(executor).error, TaskEndedError)
    there(worker)
    until = time.monotonic() + 60
    while worker.state() != "gone" and time.monotonic() < until:
        time.sleep(0.01)
    assert worker.state() == "gone"


def test_nothing_is_forked_beside_another_thread() -> None:
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    assert not server._is_alone()
    over.set()
    thread.join()
