import multiprocessing
import os
import pickle
import signal
import sys
import threading
import types
import warnings
from typing import Any

import joblib
import numpy as np
import pytest
import sklearn
from cloudpickle import dumps

from foldwise.engine.processes import worker
from foldwise.engine.processes.packing import pack
from foldwise.engine.processes.worker import (
    Surroundings,
    UnsendableError,
    highest,
    perform,
    received,
    resident,
    without_frames,
)

NOTHING = dumps(None)


def _refuse() -> None:
    raise TypeError("no way back")


class StubbornError(Exception):
    """Can be pickled, but not read back, not even where Dask has taught errors to be."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} {two}")

    def __reduce__(self) -> Any:
        return _refuse, ()


def done(work: Any, job: Any = None) -> Any:
    return received(7, perform(work, 10, dumps(job), Surroundings()))


def test_a_result_comes_back_with_its_ticket_and_time() -> None:
    finished = done(lambda shared, job: shared + job, 5)
    assert (finished.ticket, finished.result, finished.error) == (7, 15, None)
    assert finished.seconds >= 0


def test_an_error_comes_back_as_it_was_raised_with_its_traceback_as_text() -> None:
    def work(_shared: Any, _job: Any) -> None:
        raise KeyError("gone")

    finished = done(work)
    assert isinstance(finished.error, KeyError)
    assert finished.result is None
    assert "in work" in finished.error.__notes__[0]


def test_an_error_that_cannot_be_read_back_is_replaced_by_its_words() -> None:
    def work(_shared: Any, _job: Any) -> None:
        raise StubbornError("a", "b")

    finished = done(work)
    assert type(finished.error) is RuntimeError
    assert str(finished.error) == "StubbornError: a b"


def test_one_part_that_cannot_be_sent_does_not_take_the_others_with_it() -> None:
    finished = done(lambda _shared, _job: [1, threading.Lock(), 3])
    assert finished.error is None
    assert finished.result[0] == 1
    assert finished.result[2] == 3
    assert str(finished.result[1]) == (
        "its model cannot be sent between processes (TypeError: cannot pickle '_thread.lock' "
        "object)"
    )


def test_a_whole_result_that_cannot_be_sent_is_an_error() -> None:
    assert isinstance(done(lambda _shared, _job: threading.Lock()).error, UnsendableError)


def test_warnings_are_issued_at_home() -> None:
    def work(_shared: Any, _job: Any) -> int:
        warnings.warn("careful", UserWarning, stacklevel=1)
        return 1

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        answer = perform(work, None, NOTHING, Surroundings())
    with pytest.warns(UserWarning, match="careful"):
        assert received(0, answer).result == 1


def test_one_warning_of_many_tasks_is_issued_once() -> None:
    def work(_shared: Any, _job: Any) -> None:
        warnings.warn("again and again", UserWarning, stacklevel=1)

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        answers = [perform(work, None, NOTHING, Surroundings()) for _ in range(3)]
        for ticket, answer in enumerate(answers):
            received(ticket, answer)
    assert len(said) == 1


def test_a_filter_that_makes_errors_of_warnings_holds_elsewhere_too() -> None:
    def work(_shared: Any, _job: Any) -> int:
        warnings.warn("careful", UserWarning, stacklevel=1)
        return 1

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        around = Surroundings()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert isinstance(received(0, perform(work, None, NOTHING, around)).error, UserWarning)


def test_scikit_learns_settings_travel() -> None:
    def work(_shared: Any, _job: Any) -> Any:
        return sklearn.get_config()["transform_output"]

    with sklearn.config_context(transform_output="pandas"):
        around = Surroundings()
    assert received(0, perform(work, None, NOTHING, around)).result == "pandas"


def test_a_task_starts_no_processes_of_its_own() -> None:
    assert done(lambda _shared, _job: joblib.effective_n_jobs(4)).result == 1


def test_memory_is_what_the_task_needed_at_its_highest() -> None:
    if not highest():
        pytest.skip("this system does not tell")

    def work(_shared: Any, _job: Any) -> float:
        return float(np.ones(20_000_000).sum())

    assert 120e6 < done(work).memory < 500e6
    assert done(lambda _shared, _job: 1).memory < 50e6
    assert resident() > 0


def test_frames_are_let_go() -> None:
    try:
        raise ValueError("no")
    except ValueError as error:
        bare = without_frames(error)
    assert bare.__traceback__ is None


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


def test_what_it_cannot_open_is_the_error_of_the_task_that_needs_it(
    home: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = types.ModuleType("known_at_home")
    known.Learner = type("Learner", (), {"__module__": known.__name__})
    monkeypatch.setitem(sys.modules, known.__name__, known)
    jobs = [dumps(known.Learner()), NOTHING]
    parcels = [pack((lambda *_: 5, data, Surroundings())) for data in (None, known.Learner())]
    monkeypatch.delitem(sys.modules, known.__name__)
    pipe, _ = home
    found = []
    for parcel in parcels:
        pipe.send_bytes(pickle.dumps(("place", parcel, None)))
        for job in jobs:
            pipe.send_bytes(pickle.dumps(("task", job)))
            finished = received(0, pipe.recv_bytes())
            found.append(finished.result or str(finished.error))
    unknown = "No module named 'known_at_home'"
    assert found == [unknown, 5, unknown, unknown]


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
