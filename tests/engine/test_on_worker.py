import pickle
import threading
from typing import Any

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info

from foldwise.engine.on_worker import (
    OtherVersionsError,
    Placed,
    check_versions,
    do_task,
    keep,
    one_thread,
)
from foldwise.engine.task import Surroundings, received
from foldwise.engine.versions import library_versions


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


def test_a_task_finds_what_is_kept_for_as_long_as_somebody_holds_it() -> None:
    placed = keep(Placed((lambda shared, job: shared + job, 10, Surroundings())), "name")
    answer = do_task("name", pickle.dumps(5), library_versions())
    assert received(0, answer).result == 15
    del placed
    with pytest.raises(ValueError, match="worker"):
        # It would return its address; there is none outside a worker.
        do_task("name", pickle.dumps(5), library_versions())


def test_other_versions_are_named_with_the_side_they_are_on() -> None:
    check_versions(library_versions())
    ours = library_versions()
    with pytest.raises(OtherVersionsError) as caught:
        check_versions({**ours, "scipy": "1.0"})
    assert str(caught.value) == f"scipy 1.0 here, there {ours['scipy']}"


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_blas_has_one_thread_until_the_last_of_several_tasks_is_over() -> None:
    before = blas_threads()
    first_may_end, first_is_over = threading.Event(), threading.Event()

    def first() -> None:
        with one_thread():
            first_may_end.wait(20)
        first_is_over.set()

    thread = threading.Thread(target=first)
    thread.start()
    with one_thread():
        first_may_end.set()
        assert first_is_over.wait(20)
        assert blas_threads() == {1}
    thread.join(20)
    assert blas_threads() == before
