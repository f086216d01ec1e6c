"""Real processes that are killed, hang, fork and are left behind."""

import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from foldwise.engine.executor import Finished, TaskEndedError, TaskLostError, worn
from foldwise.engine.processes import pool as processes
from foldwise.engine.processes.pool import Processes
from tests.forked import Forked

LONG = 120.0


def work(shared: Any, job: Any) -> Any:
    match job:
        case "pid":
            return os.getpid()
        case "child":
            child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(0,))
            child.start()
            child.join()
            return child.exitcode
        case "threads":
            np.ones((2, 2)) @ np.ones((2, 2))
            return {pool["num_threads"] for pool in threadpool_info()}
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exit":
            os._exit(3)
        case "fork and die":
            if os.fork() == 0:
                time.sleep(400)
                os._exit(0)
            os.kill(os.getpid(), signal.SIGKILL)
        case "wear":
            worn.set()
            return os.getpid()
        case float():
            time.sleep(job)
    return float(np.sum(shared))


@pytest.fixture
def executor() -> Any:
    made = Processes(2)
    made.place(work, np.ones(300_000))
    yield made
    made.close()


def first(executor: Processes) -> Finished:
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        for finished in executor.wait(1.0):
            return finished
    raise TimeoutError


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a new process takes seconds")
def test_a_process_that_keeps_its_memory_is_replaced(executor: Processes) -> None:
    pids = []
    for ticket, job in enumerate(["pid", "wear", "pid", "pid"]):
        executor.submit(ticket, job)
        pids.append(first(executor).result)
    assert pids[0] == pids[1] != pids[2] == pids[3]
    assert not Path(f"/proc/{pids[0]}").exists()


def there(worker: Any) -> Any:
    """Return a worker once it has its process."""
    while worker.process is None:
        time.sleep(0.01)
    return worker


def test_ctrl_c_while_a_worker_starts_is_not_the_workers_business(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # New ones: those that are kept have long started.
    monkeypatch.setattr(processes, "_idle", [])
    monkeypatch.setattr(processes, "_servers", {})
    executor = Processes(1)
    executor.place(work, np.ones(3))
    executor.submit(0, 0.0)
    server = processes._server()
    over: list[Finished] = []
    while not over:
        for process in (server._process, executor._workers[0].process or server._process):
            os.kill(process.pid, signal.SIGINT)
        over = executor.wait(0.02)
    executor.close()
    assert server._process.poll() is None
    processes._end_idle()
    assert [finished.result for finished in over] == [3.0]
    assert "Traceback" not in capfd.readouterr().err


def test_a_worker_that_dies_loses_its_own_task_and_no_other(executor: Processes) -> None:
    executor.submit(0, 0.5)
    executor.submit(1, "die")
    found = {f.ticket: f for f in [first(executor), first(executor)]}
    assert isinstance(found[1].error, TaskLostError)
    assert str(found[1].error) == (
        "its process was killed by SIGKILL, as the system does when memory runs out"
    )
    assert found[0].result == 300_000


def test_a_worker_that_exits_is_lost_with_its_code(executor: Processes) -> None:
    executor.submit(0, "exit")
    assert str(first(executor).error) == "its process ended with code 3"


def test_a_signal_without_a_name_is_told_by_its_number() -> None:
    assert processes._cause(-signal.SIGTERM) == "its process was killed by SIGTERM"
    assert processes._cause(-99) == "its process was killed by signal 99"


def test_a_death_is_noticed_though_a_child_of_it_holds_the_pipe(executor: Processes) -> None:
    # The child outlives the patience of first.
    executor.submit(0, "fork and die")
    assert isinstance(first(executor).error, TaskLostError)


def test_a_task_that_hangs_is_ended_at_once_with_its_process(executor: Processes) -> None:
    executor.submit(0, "pid")
    executor.submit(1, 500.0)
    pid = first(executor).result
    assert list(executor.running()) == [1]
    start = time.monotonic()
    executor.cancel(1, "too slow")
    finished = first(executor)
    assert isinstance(finished.error, TaskEndedError)
    assert time.monotonic() - start < 60
    executor.submit(2, "pid")
    assert first(executor).result == pid


def test_idle_workers_are_used_again_by_the_next_executor(executor: Processes) -> None:
    executor.submit(0, "pid")
    pid = first(executor).result
    executor.close()
    again = Processes(1)
    again.place(work, np.ones(1))
    again.submit(0, "pid")
    assert first(again).result == pid
    again.close()


def test_a_worker_that_was_kept_knows_the_paths_and_variables_of_now(
    executor: Processes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    executor.submit(0, "pid")
    pid = first(executor).result
    executor.close()
    code = "import os\nclass Job:\n    HERE = os.environ['LATE']"
    (tmp_path / "written_late.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("LATE", "now")
    job = importlib.import_module("written_late").Job()
    executor.place(work, np.ones(1))
    executor.submit(1, job)
    assert first(executor).result == 1
    executor.submit(2, "pid")
    assert first(executor).result == pid


def test_a_worker_killed_while_idle_is_replaced(executor: Processes) -> None:
    executor.submit(0, "pid")
    pid = first(executor).result
    os.kill(pid, signal.SIGKILL)
    while _is_running(pid):
        time.sleep(0.01)
    executor.submit(1, "pid")
    assert first(executor).result != pid
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_process_forked_while_a_server_is_made_can_make_its_own() -> None:
    with processes._making:
        thread = threading.Thread(target=_fork_and_take, args=(ended := [],))
        thread.start()
        time.sleep(0.05)
    thread.join()
    assert ended == [0]


def _fork_and_take(ended: list[int]) -> None:
    child = os.fork()
    if child == 0:
        os._exit(not processes._making.acquire(timeout=0.5))
    ended.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


class Taken(list[Any]):
    """Workers that were kept, the last of which another thread takes just now."""

    def __bool__(self) -> bool:
        return True


def test_kept_workers_that_have_left_are_waited_for_and_another_may_take_the_last(
    executor: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_idle", Taken())
    executor.submit(0, "pid")
    pid = first(executor).result
    executor.close()
    os.kill(pid, signal.SIGKILL)
    while _is_running(pid):
        time.sleep(0.01)
    executor.place(work, np.ones(1))
    executor.submit(1, "pid")
    assert first(executor).result != pid
    assert not Path(f"/proc/{pid}").exists()


def test_a_learner_may_have_processes_of_its_own(executor: Processes) -> None:
    executor.submit(0, "child")
    assert first(executor).result == 0


def test_an_idle_worker_holds_no_data(executor: Processes) -> None:
    executor.submit(0, "pid")
    maps = Path(f"/proc/{first(executor).result}/maps")
    if not maps.exists():
        pytest.skip("this system does not tell")
    assert _maps_data(maps)
    executor.close()
    end = time.monotonic() + LONG
    while _maps_data(maps) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _maps_data(maps)


def _maps_data(maps: Path) -> bool:
    return any(
        line.endswith("(deleted)") and tempfile.gettempdir() in line
        for line in maps.read_text().splitlines()
    )


def test_workers_end_with_a_process_that_ends() -> None:
    script = """
from foldwise.engine.processes.pool import Processes
executor = Processes(1)
executor.place(lambda shared, job: job, None)
executor.submit(0, 5)
assert executor.wait(60)[0].result == 5
executor.close()
"""
    source = str(Path(__file__).parents[3] / "src")
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": source},
        capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_new_worker_has_one_thread_whatever_the_user_set(monkeypatch: Any) -> None:
    monkeypatch.setattr(processes, "_idle", [])
    for name in processes.ONE_THREAD:
        monkeypatch.setenv(name, "2")
    executor = Processes(1)
    executor.place(work, np.ones(1))
    executor.submit(0, "threads")
    assert first(executor).result == {1}
    executor.close()


def test_tasks_run_and_end_on_a_system_without_posix_signals_and_groups(monkeypatch: Any) -> None:
    monkeypatch.setattr(processes, "_idle", [])
    for tracker in (processes.resource_tracker, processes.loky_tracker):
        tracker.ensure_running()
    for home, name in ((os, "killpg"), (os, "waitid"), (os, "getuid"), (signal, "pthread_sigmask")):
        monkeypatch.delattr(home, name)
    monkeypatch.setattr(processes, "KILL", signal.SIGTERM)
    monkeypatch.setattr(processes.sys, "platform", "not linux")
    executor = Processes(1)
    executor.place(work, np.ones(300_000))
    executor.submit(0, LONG)
    executor.cancel(0, "late")
    assert isinstance(first(executor).error, TaskEndedError)
    executor.submit(1, 0.0)
    assert first(executor).result == 300_000
    executor.close()


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_the_data_file_is_gone_afterwards(tmp_path: Path, monkeypatch: Any, system: str) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(processes.sys, "platform", system)
    executor = Processes(1)
    for size in (300_000, 300_001):
        executor.place(work, np.ones(size))
        # Without a name there is nothing to be left behind.
        assert len(list(tmp_path.rglob("*.parcel"))) == (0 if system == "linux" else 1)
        executor.submit(size, 0.0)
        assert first(executor).result == size
    executor.close()
    assert list(tmp_path.iterdir()) == []


PARENT = """
import ctypes, numpy as np, os, sys, time
from foldwise.engine.processes import pool
def work(shared, job):
    if job == "pid":
        return os.getpid()
    if job == "lock":
        ctypes.PyDLL(None).sleep(500)
    time.sleep(500)
pool.sys.platform = "{system}"
executor = pool.Processes(1)
executor.place(work, np.ones(300_000))
executor.submit(0, "pid")
server = pool._server()._process.pid if pool.sys.platform == "linux" else 0
worker = server if "{job}" == "starting" else executor.wait(60)[0].result
if "{job}" not in ("starting", "idle"):
    executor.submit(1, "{job}")
    time.sleep(0.5)
print(worker, server, flush=True)
time.sleep(500)
"""


@pytest.mark.parametrize(
    ("system", "job", "number"),
    [
        ("linux", "starting", signal.SIGKILL),
        ("linux", "lock", signal.SIGTERM),
        ("darwin", "idle", signal.SIGKILL),
        ("darwin", "sleep", signal.SIGTERM),
    ],
)
def test_workers_and_data_go_when_the_parent_is_killed(
    tmp_path: Path, system: str, job: str, number: int
) -> None:
    script = PARENT.format(system=system, job=job)
    with Forked(script, env={"TMPDIR": str(tmp_path)}) as parent:
        pids = [int(number) for number in parent.stdout.readline().split()]
        parent.send_signal(number)
        parent.wait()
    end = time.monotonic() + LONG
    while time.monotonic() < end and (any_is_running(pids) or any(tmp_path.glob("foldwise-*"))):
        time.sleep(0.1)
    assert not any_is_running(pids)
    assert not any(tmp_path.glob("foldwise-*"))


def test_no_signal_goes_to_a_number_that_may_be_anothers(monkeypatch: Any) -> None:
    worker = there(processes._Worker())
    os.kill(worker.process.pid, signal.SIGKILL)
    worker.process.join(20)
    assert worker.state() == "gone"
    sent: list[Any] = []
    monkeypatch.setattr(processes.os, "kill", lambda *signalled: sent.append(signalled))
    monkeypatch.setattr(processes.os, "killpg", lambda *signalled: sent.append(signalled))
    worker.end()
    assert sent == []


def any_is_running(pids: list[int]) -> bool:
    return any(_is_running(pid) for pid in pids if pid)


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_large_task_does_not_wait_for_a_worker_that_is_coming_up(executor, monkeypatch) -> None:
    monkeypatch.setattr(processes, "_idle", [])
    executor.submit(0, b"x" * 5_000_000)
    executor.submit(1, b"x" * 5_000_000)
    # Nobody has read them yet.
    assert all(worker.sender.is_alive() for worker in executor._workers)
    executor.cancel(1, "late")
    assert isinstance(first(executor).error, TaskEndedError)
    assert first(executor).result == 300_000


def test_workers_warmed_before_are_used(monkeypatch) -> None:
    idle: list[Any] = []
    monkeypatch.setattr(processes, "_idle", idle)
    processes.warm(1, work)
    pid = there(idle[0]).process.pid
    executor = Processes(1)
    executor.place(work, np.ones(3))
    executor.submit(0, "pid")
    assert first(executor).result == pid
    executor.close()
    processes._end_idle()
