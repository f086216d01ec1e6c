"""Workers that are forked from a server of their own."""

import contextlib
import ctypes
import os
import signal
import subprocess
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
                "foldwise_late" in sys.modules, str(Path("/proc/self/fd/2").readlink()),
            ]  # fmt: skip
        case "draw":
            return np.random.random()
        case "utf8":
            return sys.flags.utf8_mode
        case "say":
            print("said")  # noqa: T201
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


def begin_oddly(executor: Processes, folder: Path) -> None:
    """Let a server start where much is not as it usually is."""
    folder.mkdir()
    (folder / "ctypes.py").write_text("raise SystemExit")
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        stack.callback(signal.signal, signal.SIGCHLD, signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        patch.chdir(folder)
        # No system takes that much in one word of a command.
        patch.setattr(sys, "path", [*sys.path, "/" + 200_000 * "x"])
        # As of python -X utf8.
        patch.setitem(sys._xoptions, "utf8", True)
        executor.submit(0, "utf8")
        time.sleep(0.05)
        # While it imports, orphans of others are not ours.
        assert not adopts()
        assert first(executor).result == 1
    assert not adopts()
    assert isinstance(executor._workers[0].process, server.Forked)


def test_a_worker_is_a_child_in_the_surroundings_of_now_and_draws_its_own(
    executor: Processes, monkeypatch: Any, tmp_path: Path, capfd: Any
) -> None:
    with capfd.disabled():
        begin_oddly(executor, tmp_path / "odd")  # the server was there before all this
    monkeypatch.setenv("FOLDWISE_TEST", "now")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    # Its number may be any other file's then.
    monkeypatch.setattr(sys, "__stderr__", None)
    (tmp_path / "foldwise_late.py").touch()
    monkeypatch.setattr(server, "SHARED", {*server.SHARED, "foldwise_late"})
    # A module that cannot be imported again is nobody's trouble.
    for name in ("foldwise_late", "foldwise.no_such_module"):
        monkeypatch.setitem(sys.modules, name, sys)
    executor._workers.clear()
    one, other = answers(executor, "around", "around")
    key, here = bytes(current_process().authkey), str(tmp_path)
    expected = [os.getpid(), "now", "1", here, here, sys.argv, key, True, os.devnull]
    assert one == other == expected
    assert len(set(answers(executor, "draw", "draw"))) == 2
    assert all(isinstance(worker.process, server.Forked) for worker in executor._workers)
    answers(executor, "say")
    assert capfd.readouterr().out == "said\n"


def test_a_worker_nobody_knows_of_does_nothing_and_one_is_started_instead(
    executor: Processes, monkeypatch: Any
) -> None:
    def killed(_pid: int) -> None:
        raise OSError

    gone = pool._server()
    monkeypatch.setattr(server, "Forked", killed)
    (pid,) = answers(executor, "pid")
    (worker,) = executor._workers
    assert worker.process.pid == pid
    monkeypatch.undo()
    assert not isinstance(worker.process, server.Forked)
    assert not gone.is_alive()
    worker.end()
    answers(executor, "pid")
    assert isinstance(executor._workers[0].process, server.Forked)


def test_a_server_leaves_when_it_is_idle_and_when_it_is_nobodys(monkeypatch: Any) -> None:
    monkeypatch.setattr(server, "settle", lambda: None)
    for seconds, parent in ((0.0, os.getppid()), (100.0, 0)):
        monkeypatch.setattr(server, "IDLE_SECONDS", seconds)
        ours, theirs = Pipe()
        with ours, theirs:
            server.offer(theirs, parent)


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


def test_one_that_comes_up_while_this_process_ends_is_not_started_otherwise(
    executor: Processes,
) -> None:
    executor.submit(0, "pid")
    (worker,) = executor._workers
    pool._end_idle()
    # No server, and none instead.
    while worker in pool._coming:
        time.sleep(0.01)
    assert worker.process is None


def test_what_was_made_under_other_limits_is_not_used_again(monkeypatch: Any) -> None:
    monkeypatch.setattr(pool, "_servers", {})
    server, worker = pool._server(), pool._Worker()
    monkeypatch.setattr(pool, "_idle", [worker])
    assert pool._server() is server
    before = os.umask(0o077)
    try:
        assert pool._kept() is None
        again = pool._server()
    finally:
        os.umask(before)
    again.end()
    assert again is not server
    assert not server.is_alive()
    assert worker._unwanted


def test_nothing_is_forked_beside_another_thread() -> None:
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    assert not server._is_alone()
    over.set()
    thread.join()


@pytest.mark.parametrize("module", ["polars", "catboost", "xgboost", "lightgbm"])
def test_what_is_forked_from_may_have_imported(module: str) -> None:
    pytest.importorskip(module)
    said = f"import {module}; from {server.__name__} import _is_alone; print(_is_alone())"
    environment = {**os.environ, **pool.ONE_THREAD}
    told = subprocess.run([sys.executable, "-c", said], env=environment, capture_output=True)
    assert told.stdout.split() == [b"True"]
