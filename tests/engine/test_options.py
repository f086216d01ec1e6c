import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from foldwise.engine.events import Event, Stream
from foldwise.engine.executor import InProcess
from foldwise.engine.options import RunOptions, executor_for, fit_many, open_run
from foldwise.engine.processes.futures import Futures, Threads
from foldwise.engine.processes.pool import Processes
from foldwise.engine.processes.worker import UnsendableError
from foldwise.errors import InvalidParameterError


@pytest.mark.parametrize(
    ("wanted", "n_jobs", "kind", "capacity"),
    [
        (None, None, InProcess, 1),
        (None, 1, InProcess, 1),
        (None, 2, Processes, 2),
        ("processes", 3, Processes, 3),
        ("processes", 1, Processes, 1),
        ("threads", 2, Threads, 2),
        ("threads", None, Threads, joblib.cpu_count()),
    ],
)
def test_the_executor_is_what_the_user_asked_for(
    wanted: Any, n_jobs: int | None, kind: type, capacity: int
) -> None:
    executor = executor_for("Stack", wanted, n_jobs)
    assert type(executor) is kind
    assert executor.capacity == capacity
    executor.close()


def test_a_pool_of_the_users_is_used_and_left_open() -> None:
    with ThreadPoolExecutor(3) as pool:
        executor = executor_for("Stack", pool, None)
        assert type(executor) is Futures
        assert executor.capacity == 3
        executor.close()
        assert pool.submit(int, "7").result() == 7


def test_inside_a_worker_one_task_runs_at_a_time() -> None:
    with joblib.parallel_config(backend="sequential"):
        assert type(executor_for("Stack", None, 4)) is InProcess


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"time_budget": 0},
            "Stack: time_budget must be a number of seconds above 0, or None; got 0. Try 600.",
        ),
        (
            {"time_budget": "1h"},
            "Stack: time_budget must be a number of seconds above 0, or None; got '1h'. Try 600.",
        ),
        (
            {"on_interrupt": "keeps"},
            "Stack: on_interrupt must be one of 'raise', 'keep'; got 'keeps'. Did you mean 'keep'?",
        ),
        (
            {"callback": 3},
            "Stack: callback must be callable with one event, or None; got 3. Try callback=print.",
        ),
        ({"run_dir": 3}, "Stack: run_dir must be a path or None; got 3. Try 'my_run'."),
        (
            {"executor": "process"},
            "Stack: executor must be None, 'processes', 'threads', a Dask client or address, or "
            "an Executor of concurrent.futures; got 'process'. Did you mean 'processes'?",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        open_run("Stack", RunOptions(**options), total=1)
    assert str(caught.value) == message


def test_a_run_directory_opens_a_store(tmp_path: Path) -> None:
    with open_run("Stack", RunOptions(run_dir=tmp_path / "run"), total=1) as run:
        assert run.store is not None
        run.store.put("key", [1], {"learner": "a", "node": [0]})
        assert run.store.get("key") == [1]


def powered(shared: np.ndarray, item: int) -> tuple[float, int]:
    if item < 0:
        raise KeyError(item)
    return float(shared.sum()) ** item, os.getpid()


@pytest.mark.parametrize(("n_jobs", "threads"), [(None, False), (2, False), (2, True)])
def test_many_fits_come_back_in_order_and_are_told(n_jobs: int | None, threads: bool) -> None:
    events: list[Event] = []
    stream = Stream("Bag", 9, [events.append])
    found = fit_many(
        powered, np.full(2, 1.5), range(9), n_jobs=n_jobs, told=stream, threads=threads
    )
    assert [value for value, _ in found] == [3.0**item for item in range(9)]
    elsewhere = n_jobs == 2 and not threads
    assert all((process != os.getpid()) == elsewhere for _, process in found)
    assert (stream.done, events[-1].done) == (9, 9)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_what_one_of_many_fits_raises_is_raised(n_jobs: int | None) -> None:
    with pytest.raises(KeyError):
        fit_many(powered, np.ones(2), [1, -1, 2], n_jobs=n_jobs)


def test_no_fits_are_no_results() -> None:
    assert fit_many(powered, np.ones(2), [], n_jobs=2) == []


def test_what_cannot_be_sent_back_is_an_error() -> None:
    with pytest.raises(UnsendableError, match="cannot be sent between processes"):
        fit_many(lambda _, __: threading.Lock(), None, [1, 2, 3], n_jobs=2)
