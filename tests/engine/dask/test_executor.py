"""The Dask executor on real processes; every wait has a deadline."""

import asyncio
import itertools
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from foldwise.engine.dask import cluster as cluster_module
from foldwise.engine.dask import executor as dask_module
from foldwise.engine.dask.executor import DaskExecutor, WorkerKillerError
from foldwise.engine.executor import Finished, TaskEndedError, TaskLostError
from foldwise.errors import FoldwiseWarning, InvalidParameterError
from tests.engine.cluster import LocalProcesses, wait_until

DEADLINE = 300.0


def by_value(function):
    """Let a function travel by value: workers cannot import this file."""
    function.__module__ = "__main__"
    return function


def collect(executor: DaskExecutor, n: int, seconds: float = DEADLINE) -> dict[int, Finished]:
    found: dict[int, Finished] = {}
    until = time.monotonic() + seconds
    while len(found) < n:
        assert time.monotonic() < until, f"{len(found)} of {n} after {seconds} s"
        found.update({f.ticket: f for f in executor.wait(until - time.monotonic())})
    return found


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_module, "SILENT_SECONDS", 2.0)
    monkeypatch.setattr(dask_module, "TICK_SECONDS", 0.2)
    # A busy machine starts workers late.
    monkeypatch.setattr(cluster_module, "WARN_SECONDS", 300.0)
    monkeypatch.setattr(cluster_module, "NO_WORKER_SECONDS", 300.0)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalProcesses]:
    with LocalProcesses(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture
def executor(cluster: LocalProcesses) -> Iterator[DaskExecutor]:
    made = DaskExecutor(cluster.address, "Stack")
    wait_until(lambda: made.cluster.look() or len(made.cluster.threads) == 2)
    yield made
    made.close()


@by_value
def nap(shared, job):
    import os
    import time

    time.sleep(job)
    return os.getpid(), float(shared.sum())


@by_value
def facts(shared, _):
    from threadpoolctl import threadpool_info

    threads = {pool["num_threads"] for pool in threadpool_info()}
    return id(shared), shared.ctypes.data % 64, shared.flags.writeable, threads


@by_value
def fitted(shared, job):
    X, y = shared
    return LogisticRegression(C=job).fit(X, y).coef_


@by_value
def until_there(_, job):
    import time
    from pathlib import Path

    while not Path(job).exists():
        time.sleep(0.02)
    return "there"


@by_value
def fails(_, job):
    raise KeyError(job)


def test_results_have_the_bits_of_this_process(executor: DaskExecutor) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 7))
    y = (X[:, 0] + rng.normal(size=500) > 0).astype(int)
    executor.place(fitted, (X, y))
    jobs = [0.01, 0.1, 1.0]
    for ticket, job in enumerate(jobs):
        executor.submit(ticket, job)
    found = collect(executor, 3)
    with threadpool_limits(1):
        for ticket, job in enumerate(jobs):
            np.testing.assert_array_equal(found[ticket].result, fitted((X, y), job))


def test_data_lies_on_each_worker_once_aligned_and_tasks_have_one_thread(
    executor: DaskExecutor,
) -> None:
    executor.place(facts, np.ones(10001)[1:])
    for ticket in range(8):
        executor.submit(ticket, None)
    found = [f.result for f in collect(executor, 8).values()]
    assert len({result[0] for result in found}) <= 2
    assert {result[1:3] for result in found} == {(0, False)}
    assert set().union(*(result[3] for result in found)) == {1}
    held = executor.cluster.client.who_has(list(executor._kept.values()))
    assert len(set(held.values())) == 2


def test_an_error_of_the_work_comes_back_and_the_rest_goes_on(executor: DaskExecutor) -> None:
    executor.place(fails, None)
    executor.submit(0, "a")
    (finished,) = collect(executor, 1).values()
    assert isinstance(finished.error, KeyError)
    assert finished.error.args == ("a",)
    executor.place(nap, np.ones(3))
    executor.submit(1, 0)
    assert collect(executor, 1)[1].result[1] == 3


def test_a_cancelled_task_ends_at_once_with_its_reason(executor: DaskExecutor) -> None:
    executor.place(nap, np.ones(3))
    executor.submit(0, 1.0)
    assert set(executor.running()) == {0}
    executor.cancel(0, "time budget")
    (finished,) = executor.wait(0)
    assert isinstance(finished.error, TaskEndedError)
    assert str(finished.error) == "time budget"
    assert executor.running() == {}


def test_waiting_ends_in_time(executor: DaskExecutor, tmp_path: Path) -> None:
    executor.place(until_there, None)
    executor.submit(0, str(tmp_path / "there"))
    start = time.monotonic()
    assert executor.wait(0.2) == []
    assert time.monotonic() - start < 60
    (tmp_path / "there").touch()
    assert collect(executor, 1)[0].result == "there"


def test_tiny_tasks_are_said_to_be_tiny(executor: DaskExecutor) -> None:
    executor.place(nap, np.ones(3))
    for ticket in range(10):
        executor.submit(ticket, 0)
    with pytest.warns(FoldwiseWarning, match=r"^Stack: the first 10 fits took 0\.0\d\d s each"):
        collect(executor, 10)


def test_a_client_of_the_users_stays_open(cluster: LocalProcesses) -> None:
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as client:
        executor = DaskExecutor(client)
        executor.place(nap, np.ones(2))
        executor.submit(0, 0)
        assert collect(executor, 1)[0].result[1] == 2
        executor.close()
        assert client.status == "running"


def test_workers_with_other_versions_are_refused(
    executor: DaskExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = cluster_module.library_versions()
    changed = {**ours, "numpy": "1.0"}
    monkeypatch.setattr(cluster_module, "library_versions", lambda: changed)
    with pytest.raises(InvalidParameterError) as caught:
        executor.place(nap, np.ones(2))
    words = str(caught.value)
    assert words.startswith(
        "Stack: executor must be a cluster with the same versions as this process; "
    )
    assert words.endswith(
        f"got a worker: numpy 1.0 here, there {ours['numpy']}. Install the same packages on every "
        "worker."
    )


def test_a_worker_that_came_later_with_other_versions_is_refused(executor: DaskExecutor) -> None:
    executor.place(nap, np.ones(2))
    executor._versions = {**executor._versions, "numpy": "1.0"}
    executor.submit(0, 0)
    with pytest.raises(InvalidParameterError, match=r"got a worker: numpy 1\.0 here, there"):
        collect(executor, 1)


def test_an_address_where_nobody_is_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 0.5)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(InvalidParameterError) as caught:
        DaskExecutor(address, "Stack")
    assert str(caught.value) == (
        f"Stack: executor must be the address of a running Dask scheduler; got {address!r}. Start "
        "one, or give a Client that is connected."
    )


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="this system does not tell")
def test_all_listen_on_loopback_only(cluster: LocalProcesses) -> None:
    pids = {p.pid for p in [cluster.scheduler, *cluster.workers]}
    inodes = set()
    for pid in pids:
        for handle in Path(f"/proc/{pid}/fd").iterdir():
            target = str(handle.readlink())
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    lines += Path("/proc/net/tcp6").read_text().splitlines()[1:]
    listening = [f for f in map(str.split, lines) if f[3] == "0A" and f[9] in inodes]
    assert len(listening) >= 3
    assert {f[1].split(":")[0] for f in listening} == {"0100007F"}


def test_a_worker_killed_at_work_has_its_task_done_elsewhere(
    cluster: LocalProcesses, executor: DaskExecutor
) -> None:
    executor.place(nap, np.ones(5))
    for ticket in range(4):
        executor.submit(ticket, 0.5)
    time.sleep(0.3)
    cluster.workers[-1].send_signal(signal.SIGKILL)
    cluster.add_worker()
    found = collect(executor, 4)
    assert [found[t].result[1] for t in range(4)] == [5.0] * 4


def test_new_workers_get_the_data_when_all_were_killed_and_replaced(
    cluster: LocalProcesses, executor: DaskExecutor
) -> None:
    executor.place(nap, np.ones(6))
    for ticket in range(4):
        executor.submit(ticket, 0.5)
    time.sleep(0.3)
    for worker in cluster.workers:
        worker.kill()
    for _ in range(2):
        cluster.add_worker()
    found = collect(executor, 4)
    assert [found[t].result[1] for t in range(4)] == [6.0] * 4


def test_a_task_on_a_worker_that_stalls_is_done_elsewhere(
    cluster: LocalProcesses, executor: DaskExecutor
) -> None:
    executor.place(nap, np.ones(7))
    executor.submit(0, 0.1)
    assert collect(executor, 1)[0].result[1] == 7.0
    for ticket in range(1, 3):
        executor.submit(ticket, 1.0)
    time.sleep(0.4)
    stopped = cluster.workers[-1]
    stopped.send_signal(signal.SIGSTOP)
    found = collect(executor, 2)
    assert [found[t].result[1] for t in (1, 2)] == [7.0, 7.0]
    assert stopped.pid not in {found[t].result[0] for t in (1, 2)}
    stopped.send_signal(signal.SIGCONT)


def test_without_any_worker_there_is_an_error_and_no_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "NO_WORKER_SECONDS", 1.0)
    monkeypatch.setattr(cluster_module, "WARN_SECONDS", 0.5)
    with LocalProcesses(tmp_path, 0) as empty:
        executor = DaskExecutor(empty.address, "Stack")
        said = (
            rf"^Stack: the cluster {empty.address} has no worker; waiting for one, at most 1 s\. "
            r"Start some\.$"
        )
        with (
            pytest.raises(InvalidParameterError) as caught,
            pytest.warns(FoldwiseWarning, match=said),
        ):
            executor.place(nap, np.ones(2))
        assert str(caught.value) == (
            f"Stack: executor must be a cluster that answers; got {empty.address} (no worker for "
            "1 s). Run the same call again; with run_dir finished fits are kept and not repeated."
        )
        empty.scheduler.kill()
        wait_until(lambda: executor.cluster.client.status != "running")
        with pytest.raises(InvalidParameterError, match="must be a cluster that answers"):
            executor.place(nap, np.ones(2))
        executor.close()


def test_deaths_count_over_all_sends_of_a_task() -> None:
    executor = DaskExecutor.__new__(DaskExecutor)
    executor.cluster, executor._over = SimpleNamespace(deaths=lambda _: 2), []
    executor._given, sent = {}, []
    executor._give = lambda _: None
    executor._send_again = lambda flight, _: sent.append(flight)
    future = SimpleNamespace(key="a")
    flight = dask_module.Flight(7, b"", time.monotonic(), [future, future])
    executor._flights = {7: flight}
    # A worker that was started anew after a death has no data, and Dask counts anew.
    executor._welcome(flight, future, "tcp://new")
    assert sent == [flight]
    executor._welcome(flight, future, "tcp://newer")
    assert sent == [flight]
    assert isinstance(executor._over[0].error, WorkerKillerError)
    assert str(executor._over[0].error) == "4 workers died at it"


def test_a_task_that_workers_die_of_is_ended_before_there_is_a_new_one() -> None:
    executor = DaskExecutor.__new__(DaskExecutor)
    deaths = {"a": 1, "b": 0, "again": 2}
    executor.cluster = SimpleNamespace(
        deaths=deaths.get, look=lambda: None, threads={}, complain_without_workers=lambda: None
    )
    executor._over, executor._seen = [], {"tcp://gone"}
    futures = [SimpleNamespace(key=key) for key in deaths]
    executor._flights = {
        ticket: dask_module.Flight(ticket, b"", time.monotonic(), [future], deaths=1)
        for ticket, future in enumerate(futures)
    }
    executor._look_after()
    assert [finished.ticket for finished in executor._over] == [2]
    assert str(executor._over[0].error) == "3 workers died at it"


def test_data_that_no_longer_arrive_are_sent_to_another_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster_module, "STILL_SECONDS", 3.0)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    cluster = cluster_module.Cluster.__new__(cluster_module.Cluster)
    looks: list[float] = []

    async def scatter(*_: object, **__: object) -> None:
        await asyncio.sleep(100)

    def look() -> None:
        # It grows for as long as it is looked at five times, then only breathes.
        looks.append(time.monotonic())
        cluster.memory = {"slow": 50_000_000 + 2_000_000 * min(len(looks), 5) + len(looks) % 2}

    cluster.client = SimpleNamespace(
        status="running", scatter=scatter, loop=SimpleNamespace(asyncio_loop=loop)
    )
    cluster.look, cluster.threads, cluster.beats, cluster.memory = look, {"slow": 1}, {}, {}
    try:
        assert cluster._sent(None, "slow") is None
        assert looks[-1] - looks[4] > 3.0
        assert len(looks) < 12
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def test_workers_are_waited_for_no_longer_than_the_time_budget() -> None:
    cluster = cluster_module.Cluster.__new__(cluster_module.Cluster)
    cluster.owner, cluster.address, cluster.threads = "Stack", "tcp://here", {}
    cluster.seen, cluster.warned, cluster.look = time.monotonic(), False, lambda: None
    with pytest.raises(InvalidParameterError, match="no worker within the time budget"):
        cluster.wait_for_workers(0.3)
    assert time.monotonic() - cluster.seen < 60


@pytest.mark.parametrize("which", [0, -1])
def test_a_worker_stopped_while_data_are_placed_is_left_out(
    which: int,
    executor: DaskExecutor,
    cluster: LocalProcesses,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster_module, "STALLED_SECONDS", 3.0)
    stopped = [worker for worker in cluster.workers if worker.poll() is None][which]
    stopped.send_signal(signal.SIGSTOP)
    try:
        start = time.monotonic()
        executor._checked = True
        executor.place(nap, np.ones(2_000_000))
        assert time.monotonic() - start < 60
        executor.submit(0, 0.1)
        assert collect(executor, 1)[0].result[1] == 2_000_000
    finally:
        stopped.send_signal(signal.SIGCONT)


def test_few_deaths_may_be_an_accident_and_many_are_not() -> None:
    from distributed import KilledWorker
    from distributed.scheduler import WorkerState

    executor = DaskExecutor.__new__(DaskExecutor)
    executor._over, executor._flights = [], {}
    last = WorkerState(
        address="tcp://127.0.0.1:1", status="running", pid=1, name="w", nthreads=1,
        memory_limit=1, local_directory="", nanny="", server_id="",
    )  # fmt: skip
    for ticket, allowed in enumerate((1, 3)):
        flight = dask_module.Flight(ticket, b"", time.monotonic())
        executor._flights[ticket] = flight
        executor._fail(flight, KilledWorker("key", last, allowed))
    accident, killer = (finished.error for finished in executor._over)
    assert isinstance(accident, TaskLostError)
    assert isinstance(killer, WorkerKillerError)
    assert str(killer) == "4 workers died at it, the last at tcp://127.0.0.1:1"


def test_a_scheduler_that_stalls_is_an_error_and_no_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LocalProcesses(tmp_path, 1) as stalled:
        executor = DaskExecutor(stalled.address, "Stack")
        executor.place(nap, np.ones(2))
        executor.submit(0, 0.5)
        monkeypatch.setattr(cluster_module, "ANSWER_SECONDS", 2.0)
        stalled.scheduler.send_signal(signal.SIGSTOP)
        start = time.monotonic()
        with pytest.raises(
            InvalidParameterError, match=r"a cluster that answers; got .* \(Timeout"
        ):
            collect(executor, 1)
        executor.close()
        assert time.monotonic() - start < 60


@by_value
def n_kept(_shared, _job):
    from foldwise.engine.dask import worker as on_worker

    return len(on_worker._kept)


@pytest.mark.filterwarnings("ignore:Stack. the first 10 fits")
def test_data_goes_when_it_is_replaced_or_its_sender_is_gone(
    cluster: LocalProcesses, executor: DaskExecutor
) -> None:
    gone = DaskExecutor(cluster.address)
    gone.place(nap, np.ones(1000))
    gone.close()
    for _ in range(3):
        executor.place(n_kept, np.ones(1000))
    ticket = itertools.count()

    def most_kept() -> int:
        tickets = [next(ticket) for _ in range(4)]
        for number in tickets:
            executor.submit(number, None)
        return max(finished.result for finished in collect(executor, 4).values())

    wait_until(lambda: most_kept() == 1)


def test_an_asynchronous_client_is_refused() -> None:
    class Client:
        scheduler = None
        asynchronous = True

    with pytest.raises(InvalidParameterError) as caught:
        DaskExecutor(Client(), "Stack")
    assert str(caught.value) == (
        "Stack: executor must be a synchronous Dask client; got an asynchronous one. Use "
        "Client(address)."
    )
