import multiprocessing
import os
import pickle
import signal
import threading
from typing import Any

import pytest

from foldwise.engine import worker
from foldwise.engine.parcels import pack
from foldwise.engine.pickling import dumps
from foldwise.engine.task import Surroundings, received


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Any:
    # A worker's loop in a thread of this process: it must not touch the process itself.
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(os, "setsid", lambda: None)
    ours, theirs = multiprocessing.Pipe()
    thread = threading.Thread(target=worker.serve, args=(theirs, os.getppid()), daemon=True)
    thread.start()
    yield ours, thread
    ours.close()


def test_it_opens_what_was_placed_and_answers_each_task(home: Any) -> None:
    pipe, _ = home
    parcel = pack((lambda shared, job: shared * job, 6, Surroundings()))
    pipe.send_bytes(pickle.dumps(("place", parcel, "nowhere")))
    for job in (2, 7):
        pipe.send_bytes(pickle.dumps(("task", dumps(job))))
        assert received(0, pipe.recv_bytes()).result == 6 * job


def test_it_ends_when_the_pipe_closes(home: Any) -> None:
    pipe, thread = home
    pipe.close()
    thread.join(10)
    assert not thread.is_alive()


def test_an_idle_worker_leaves(monkeypatch: pytest.MonkeyPatch, home: Any) -> None:
    monkeypatch.setattr(worker, "IDLE_SECONDS", 0.1)
    ours, theirs = multiprocessing.Pipe()
    worker.serve(theirs, os.getppid())
    assert home
    ours.close()
