import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from foldwise.engine.dask import worker as on_worker
from foldwise.engine.dask.worker import (
    OtherVersionsError,
    Placed,
    check_versions,
    do_task,
)
from foldwise.engine.processes.worker import Surroundings, received
from foldwise.engine.versions import library_versions

ROOT = Path(__file__).parents[3]


def sent(value: Any) -> tuple[Any, int]:
    """Return what arrives when every buffer lies at an odd address, as in Dask's messages."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(Placed(value), protocol=5, buffer_callback=buffers.append)
    moved = []
    for buffer in buffers:
        room = bytearray(buffer.raw().nbytes + 3)
        room[3:] = buffer.raw()
        moved.append(memoryview(room)[3:])
    arrived = pickle.loads(head, buffers=moved)
    return arrived.value, arrived.__sizeof__()


def test_arrays_arrive_aligned_and_read_only_and_are_counted() -> None:
    array = np.arange(1000.0)
    arrived, size = sent(array)
    np.testing.assert_array_equal(arrived, array)
    assert arrived.ctypes.data % 64 == 0
    assert not arrived.flags.writeable
    assert size >= array.nbytes


def test_frames_and_functions_arrive() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["x", "y"])})
    (arrived, double), _ = sent((frame, lambda x: 2 * x))
    pd.testing.assert_frame_equal(arrived, frame)
    assert double(2) == 4


def test_what_arrived_can_be_sent_on() -> None:
    once = pickle.loads(pickle.dumps(Placed(np.arange(5))))
    twice = pickle.loads(pickle.dumps(once))
    np.testing.assert_array_equal(twice.value, np.arange(5))


def test_a_task_finds_what_is_kept_under_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    placed = Placed((lambda shared, job: shared + job, 10, Surroundings()))
    monkeypatch.setitem(on_worker._kept, "name-1", ("key", placed))
    answer = do_task("name-1", pickle.dumps(5), library_versions())
    assert received(0, answer).result == 15


def test_other_versions_are_named_with_the_side_they_are_on() -> None:
    check_versions(library_versions())
    ours = library_versions()
    with pytest.raises(OtherVersionsError) as caught:
        check_versions({**ours, "scipy": "1.0"})
    assert str(caught.value) == f"scipy 1.0 here, there {ours['scipy']}"


THREADS = """
import os
os.environ.update(OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2")
import threading
import sklearn
from concurrent.futures import ThreadPoolExecutor
from threadpoolctl import threadpool_info
from foldwise.engine.dask.worker import keep_to_one_thread

both = threading.Barrier(2, timeout=30)
def counts(_):
    before = {pool["num_threads"] for pool in threadpool_info()}
    both.wait()
    keep_to_one_thread()
    both.wait()
    return before, {pool["num_threads"] for pool in threadpool_info()}

with ThreadPoolExecutor(2) as pool:
    print([*pool.map(counts, range(2))])
    print([after for _, after in pool.map(counts, range(2))])
"""


def test_every_thread_of_a_worker_keeps_to_one_thread() -> None:
    run = subprocess.run(
        [sys.executable, "-c", THREADS],
        env={"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert run.stdout.splitlines() == ["[({2}, {1}), ({2}, {1})]", "[{1}, {1}]"]
